// What a node tells of itself beside the runtime's own counters: to /metrics, and to whoever asks a node of the cluster
// how it is. Each figure is told by the part that knows it, once there is one.

import type { Clock } from "../base/clock.ts";

const NAMES = [
  /** Zero in health, since the start. */
  "lateCharges",
  "claimsSwept",
  /** As of now. */
  "lateChargesWaiting",
  "keysInFlight",
  "watermarkAgeMs",
  "tableVersion",
] as const;

type Name = (typeof NAMES)[number];

export interface Gauges {
  /** From here on this is where the figure comes from. */
  tell(name: Name, of: () => number): void;
  all(): Readonly<Record<Name, number>>;
}

export function createGauges(): Gauges {
  const sources = new Map<Name, () => number>();
  return {
    tell: (name, of) => void sources.set(name, of),
    all: () =>
      Object.fromEntries(NAMES.map((name) => [name, sources.get(name)?.() ?? 0])) as Record<Name, number>,
  };
}

/** How far back a sweep would start that began now: the age of the newest watermark. */
export function watermarkAge(clock: Clock): { saved(watermark: number): void; ms(): number } {
  let newest = clock.wall();
  return {
    saved(watermark) {
      newest = Math.max(newest, watermark);
    },
    ms: () => Math.max(0, clock.wall() - newest),
  };
}
