// What may go wrong among the nodes of one seed, beside what `faults.ts` says of each: the bus between them, their clocks,
// processes that stand still, lines that are cut, everybody down at once. A third of the seeds is kind: nodes come, go and
// restart as they should, and nothing is lost, so that whatever is lost all the same is a bug.

import { LIMITS, type RuntimeLimits } from "../../src/runtime/limits.ts";
import { CLUSTER_LIMITS, type ClusterLimits } from "../../src/runtime/placement/cluster-placement.ts";
import type { Faults } from "./faults.ts";
import type { Load } from "./load.ts";
import type { SimRandom } from "./random.ts";

export interface BusFaults {
  /** ms: what a frame takes, mean. */
  readonly latencyMs: number;
  /** 0..1: a frame that takes up to `slowMs`, and arrives after its sender gave up. */
  readonly slow: number;
  readonly slowMs: number;
  /** 0..1: a request, an answer, a publication for one node that never arrives. */
  readonly loss: number;
  readonly replyLoss: number;
  readonly newsLoss: number;
  /** 0..1: a frame that arrives twice. */
  readonly doubled: number;
  /** Characters: longer frames, and longer news, are refused. */
  readonly frameLengthMax: number;
  readonly publicationLengthMax: number;
}

export interface ClusterFaults {
  readonly bus: BusFaults;
  /** Nothing is lost and nobody stops without a word. */
  readonly kind: boolean;
  /** Clocks run apart by at most this part. */
  readonly drift: number;
  /** ms: wall clocks are off by at most this, either way. */
  readonly skewMs: number;
  /** ms between freezes of a node, mean; 0 = none. */
  readonly freezeEveryMs: number;
  readonly freezeMs: number;
  /** 0..1: a freeze in which monotonic time stands still. */
  readonly asleep: number;
  /** ms between cuts of a node from the store, the bus or both, mean; 0 = none. */
  readonly cutEveryMs: number;
  readonly cutMs: number;
  /** ms between partitions of two nodes, mean; 0 = none. */
  readonly partEveryMs: number;
  readonly partMs: number;
  /** 0..1: a partition in one direction only. */
  readonly oneWay: number;
  /** ms between moments at which all nodes crash at once, mean; 0 = none. */
  readonly allDownEveryMs: number;
  /** ms between moments at which a node's wall clock goes wrong for a while by more than a cluster bears, mean; 0 = none. */
  readonly wrongEveryMs: number;
  /** 0..1: a client that stays with the node that it asked before. */
  readonly sticky: number;
  /** Nodes that join while the others run. */
  readonly late: number;
}

export const CALM_BUS: BusFaults = {
  latencyMs: 1,
  slow: 0,
  slowMs: 0,
  loss: 0,
  replyLoss: 0,
  newsLoss: 0,
  doubled: 0,
  frameLengthMax: 16 * 1024 * 1024,
  publicationLengthMax: 333_333,
};

/** How many nodes a seed has. */
export const drawNodes = (random: SimRandom): number => random.pick([1, 1, 1, 2, 2, 3, 3, 4, 5]);

export function drawClusterFaults(random: SimRandom, nodes: number, wanted?: boolean): ClusterFaults {
  const drawn = random.chance(0.35);
  const kind = wanted ?? drawn;
  const harm = (often: number, draw: () => number) => {
    const harmed = random.chance(often) ? draw() : 0;
    return kind ? 0 : harmed;
  };
  const rate = () => random.spread(0.002, 0.1);
  return {
    kind,
    bus: {
      latencyMs: random.spread(0.05, kind ? 3 : 20),
      slow: harm(0.4, () => random.spread(0.002, 0.1)),
      slowMs: random.spread(100, 8_000),
      loss: harm(0.4, rate),
      replyLoss: harm(0.4, rate),
      newsLoss: harm(0.4, () => random.spread(0.01, 0.5)),
      doubled: harm(0.4, rate),
      frameLengthMax: CALM_BUS.frameLengthMax,
      publicationLengthMax: random.chance(0.3)
        ? Math.round(random.spread(64, 4_096))
        : CALM_BUS.publicationLengthMax,
    },
    drift: random.chance(0.7) ? random.unit() * 0.001 : 0,
    skewMs: random.chance(0.7) ? random.unit() * 900 : 0,
    freezeEveryMs: harm(0.4, () => random.spread(8_000, 60_000)),
    freezeMs: random.spread(500, 20_000),
    asleep: random.chance(0.5) ? random.unit() : 0,
    cutEveryMs: harm(0.4, () => random.spread(8_000, 60_000)),
    cutMs: random.spread(500, 25_000),
    partEveryMs: harm(0.4, () => random.spread(5_000, 40_000)),
    partMs: random.spread(500, 30_000),
    oneWay: random.unit(),
    allDownEveryMs: harm(0.15, () => random.spread(20_000, 80_000)),
    wrongEveryMs: harm(0.2, () => random.spread(10_000, 60_000)),
    sticky: random.pick([0, 0.5, 1]),
    late: random.chance(0.4) ? random.below(nodes) : 0,
  };
}

/** Tight times and counts for placement, where a correct one survives them. */
export function drawClusterLimits(random: SimRandom): Partial<ClusterLimits> {
  const maybe = <T>(often: number, value: () => T, usual: T) => (random.chance(often) ? value() : usual);
  return {
    lookMs: maybe(0.4, () => random.spread(200, 3_000), CLUSTER_LIMITS.lookMs),
    drainMs: maybe(0.4, () => random.spread(20, 4_000), CLUSTER_LIMITS.drainMs),
    settleMs: maybe(0.5, () => random.spread(500, 5_000), CLUSTER_LIMITS.settleMs),
    moves: maybe(0.3, () => random.between(1, 64), CLUSTER_LIMITS.moves),
    departures: maybe(0.3, () => random.between(4, 256), CLUSTER_LIMITS.departures),
  };
}

/** Draws the limits of the runtime that only a cluster meets; a kind seed waits as long as it should. */
export function drawManyLimits(random: SimRandom, { kind }: ClusterFaults): Partial<RuntimeLimits> {
  const maybe = <T>(often: number, value: () => T, usual: T) => (random.chance(often) ? value() : usual);
  const drawn = {
    handoffMs: maybe(0.3, () => random.spread(5, 1_000), LIMITS.handoffMs),
    tryMs: maybe(0.3, () => random.spread(200, 5_000), LIMITS.tryMs),
    lostInRow: maybe(0.3, () => random.between(1, 10), LIMITS.lostInRow),
  };
  return kind ? { mailbox: LIMITS.mailbox } : drawn;
}

/** Returns what a kind seed leaves of the other faults, with times in which a cluster can do something at all. */
export function clustered(faults: Faults, { kind }: ClusterFaults): Faults {
  if (!kind) return { ...faults, crashEveryMs: faults.crashEveryMs && Math.max(5_000, faults.crashEveryMs) };
  return {
    ...faults,
    ...{ slow: 0, failBefore: 0, failAfter: 0, late: 0, resend: 0, mixed: 0, failRead: 0, failSave: 0 },
    ...{ outageEveryMs: 0, stepEveryMs: 0, graceful: 1 },
    latencyMs: Math.min(faults.latencyMs, 10),
    crashEveryMs: Math.max(10_000, faults.crashEveryMs || 20_000),
  };
}

/** Lighter, since every node beats and looks all the time; long enough for shards to move a few times. */
export function lightened(load: Load): Load {
  const durationMs = Math.min(Math.max(load.durationMs, 20_000), 150_000);
  return {
    ...load,
    durationMs,
    requests: Math.min(load.requests, 250),
    accounts: Math.min(load.accounts, 30),
  };
}
