// Figures of a node besides the runtime's own counters, for /metrics and for the cluster's view of its nodes.
// The part that knows a figure registers its source once it exists.

import type { Clock } from "../base/clock.ts";

const NAMES = [
  /** Totals since the start, zero in normal operation. */
  "lateCharges",
  "claimsSwept",
  /** Current values. */
  "lateChargesWaiting",
  "holdsOpen",
  "keysInFlight",
  /** Totals since the start: requests that the lists of last requests do not show. */
  "requestReportsSkipped",
  "requestReportsLost",
  "watermarkAgeMs",
  "tableVersion",
  "clockSkewMs",
] as const;

type Name = (typeof NAMES)[number];

/** The figures of a node, by name. */
export interface Gauges {
  /** Registers the source of a figure; it replaces an earlier one. */
  register(name: Name, of: () => number): void;
  /** Reads all figures; a figure without a source is 0. */
  all(): Readonly<Record<Name, number>>;
}

/** Creates the gauges of a node, without sources. */
export function createGauges(): Gauges {
  const sources = new Map<Name, () => number>();
  return {
    register: (name, of) => void sources.set(name, of),
    all: () =>
      Object.fromEntries(NAMES.map((name) => [name, sources.get(name)?.() ?? 0])) as Record<Name, number>,
  };
}

/** Age of the newest watermark, ms: how much history a recovery scan that starts now would read. */
export function watermarkAge(clock: Clock): { saved(watermark: number): void; ms(): number } {
  let newest = clock.wall();
  return {
    saved(watermark) {
      newest = Math.max(newest, watermark);
    },
    ms: () => Math.max(0, clock.wall() - newest),
  };
}
