// What may go wrong in one seed, how often, and the limits it runs with. Every field is a fault (or a rare shape made
// common); each seed draws its own mix, some of them off, since many bugs need one fault without another.

import { LIMITS, type RuntimeLimits } from "../../src/runtime/limits.ts";
import type { SimRandom } from "./random.ts";

export interface Faults {
  /** ms: what a store call takes each way, mean. */
  readonly latencyMs: number;
  /** 0..1: a store call that takes up to `slowMs` each way. */
  readonly slow: number;
  readonly slowMs: number;
  /** 0..1: an append or a write that fails, not applied. */
  readonly failBefore: number;
  /** 0..1: one that fails although it was applied. */
  readonly failAfter: number;
  /** 0..1: one that fails and is applied up to `lateMs` after its caller gave up. */
  readonly late: number;
  readonly lateMs: number;
  /** 0..1: an append that the adapter sends twice, because the first answer was lost. */
  readonly resend: number;
  /** 0..1: an append whose commits meet different fates. */
  readonly mixed: number;
  /** 0..1: a read (load, tail, marked, dirty, find) that throws. */
  readonly failRead: number;
  /** 0..1: a save of documents that throws; half of those were stored. */
  readonly failSave: number;
  /** ms between outages of the store, mean; 0 = none. */
  readonly outageEveryMs: number;
  readonly outageMs: number;
  /** ms between crashes of a node, mean; 0 = none. */
  readonly crashEveryMs: number;
  /** ms until a crashed node is back, at most. */
  readonly restartMs: number;
  /** 0..1: a stop that drains instead of crashing. */
  readonly graceful: number;
  /** ms between steps of the wall clock, mean; 0 = none. Business time jumps forward by seconds, days or a month. */
  readonly stepEveryMs: number;
}

export const NO_FAULTS: Faults = {
  latencyMs: 1,
  slow: 0,
  slowMs: 0,
  failBefore: 0,
  failAfter: 0,
  late: 0,
  lateMs: 0,
  resend: 0,
  mixed: 0,
  failRead: 0,
  failSave: 0,
  outageEveryMs: 0,
  outageMs: 0,
  crashEveryMs: 0,
  restartMs: 0,
  graceful: 0,
  stepEveryMs: 0,
};

export function drawFaults(random: SimRandom): Faults {
  const sometimes = (often: number, draw: () => number) => (random.chance(often) ? draw() : 0);
  return {
    latencyMs: random.spread(0.1, 30),
    slow: sometimes(0.5, () => random.spread(0.002, 0.2)),
    slowMs: random.spread(100, 6_000),
    failBefore: sometimes(0.6, () => random.spread(0.002, 0.2)),
    failAfter: sometimes(0.6, () => random.spread(0.002, 0.2)),
    late: sometimes(0.5, () => random.spread(0.002, 0.15)),
    lateMs: random.spread(10, 8_000),
    resend: sometimes(0.3, () => random.spread(0.01, 0.3)),
    mixed: sometimes(0.4, () => random.unit()),
    failRead: sometimes(0.4, () => random.spread(0.001, 0.05)),
    failSave: sometimes(0.4, () => random.spread(0.01, 0.5)),
    outageEveryMs: sometimes(0.3, () => random.spread(10_000, 60_000)),
    outageMs: random.spread(200, random.chance(0.1) ? 90_000 : 15_000),
    crashEveryMs: sometimes(0.6, () => random.spread(1_500, 40_000)),
    restartMs: random.spread(1, 8_000),
    graceful: sometimes(0.5, () => random.unit()),
    stepEveryMs: sometimes(0.4, () => random.spread(5_000, 60_000)),
  };
}

/** Limits so small that what is rare in production happens all the time: only those a correct runtime survives. */
export function drawLimits(random: SimRandom): Partial<RuntimeLimits> {
  const maybe = <T>(often: number, value: () => T, usual: T) => (random.chance(often) ? value() : usual);
  const lookupMs = maybe(0.5, () => random.spread(20, 5_000), LIMITS.lookupMs);
  return {
    // The largest turn, the emptying of an account, writes five events.
    commitEvents: maybe(0.4, () => random.between(5, 10), LIMITS.commitEvents),
    appendCommits: maybe(0.3, () => random.between(1, 3), LIMITS.appendCommits),
    mailbox: maybe(0.3, () => random.between(2, 32), LIMITS.mailbox),
    loads: maybe(0.3, () => random.between(1, 3), LIMITS.loads),
    actors: maybe(0.3, () => random.between(2, 20), LIMITS.actors),
    idleMs: maybe(0.5, () => random.spread(10, 10_000), LIMITS.idleMs),
    saveMs: maybe(0.4, () => random.spread(100, 2_000), LIMITS.saveMs),
    saveCommits: maybe(0.4, () => random.between(1, 8), LIMITS.saveCommits),
    replayPage: maybe(0.4, () => random.between(1, 5), LIMITS.replayPage),
    lookupMs,
    // A look-up may take as long as the slowest call each way, and what ran meanwhile must be remembered still.
    recentMs: lookupMs + 15_000,
    effects: maybe(0.3, () => random.between(1, 2), LIMITS.effects),
    effectBackoffMs: random.spread(200, 10_000),
    snapshotMs: maybe(0.6, () => random.spread(100, 30_000), LIMITS.snapshotMs),
    snapshotCommits: maybe(0.4, () => random.between(1, 16), LIMITS.snapshotCommits),
  };
}
