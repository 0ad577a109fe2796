// Placement in a cluster: this node's part in the shard table. It sends heartbeats, observes the other nodes,
// plans, takes shards and gives them away, and serves no shard that it might not own. The registry is the
// truth; publications on the bus only save time.
//
// It is safe against any delay: it gives a shard away only after it stopped serving it in that epoch, takes
// one only from an owner whose own row says dead, and counts its lease from before each heartbeat. The ledger
// refuses what slips through a pause between a check and an append.

import { type Clock, type Random, sleep } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Bus } from "../../bus/bus.ts";
import type { Registry } from "../../store/store.ts";
import { createDeadNodes } from "./dead-nodes.ts";
import { refuseOtherProtocols } from "./live-members.ts";
import { createMemberStates } from "./member-states.ts";
import { createNodeIdentity } from "./node-identity.ts";
import { createRowObserver, type LeaseLimits } from "./node-lease.ts";
import type { Placement } from "./placement.ts";
import { ShardOwnership } from "./shard-ownership.ts";
import { incarnationOf, nameOf, type PlanLimits, type ShardTable } from "./shard-table.ts";
import { createTableWriter } from "./table-writer.ts";

/** Intervals and bounds of placement; times in milliseconds. */
export interface ClusterLimits extends LeaseLimits, PlanLimits {
  /** Interval (ms) between two looks at the table and the other nodes. */
  readonly lookMs: number;
  /** Interval (ms) between two reads of the table that `refresh` makes. */
  readonly refreshMs: number;
  /** How long (ms) decisions on a shard may take to become durable before it is given away anyway. */
  readonly drainMs: number;
  /** Shards are balanced only after no node came or went for this long (ms). */
  readonly settleMs: number;
  /** A node that is unfit for this long (ms) gives its shards away. */
  readonly unfitMs: number;
}

export const CLUSTER_LIMITS: ClusterLimits = {
  heartbeatMs: 1_000,
  holdMs: 4_000,
  ttlMs: 6_000,
  callMs: 2_000,
  lookMs: 1_000,
  refreshMs: 50,
  drainMs: 2_000,
  settleMs: 10_000,
  unfitMs: 10_000,
  moves: 8,
  departures: 64,
  imbalance: 0.1,
};

export interface ClusterPlacement extends Placement {
  /** Sets the watermark (wall-clock ms): older commits of this node's shards are covered by snapshots. */
  advance(watermark: number): void;
  /** Returns the table as this node knows it, for operators. */
  table(): ShardTable;
}

export interface ClusterParts {
  readonly registry: Registry;
  readonly bus: Pick<Bus, "publish" | "subscribe">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The node's name, unique in the cluster. */
  readonly name: string;
  /**
   * Returns false while this node cannot serve the others: it is cut off from the bus, or its wall clock is
   * wrong.
   */
  readonly fit?: () => boolean;
  readonly limits?: Partial<ClusterLimits>;
}

const TOPIC = "table";

/**
 * Creates the placement of a node; `join` starts it. It reads and writes the registry, publishes on the bus
 * and logs.
 */
export function createClusterPlacement(parts: ClusterParts): ClusterPlacement {
  const { registry, bus, clock, log } = parts;
  const limits = { ...CLUSTER_LIMITS, ...parts.limits };
  const ownership = new ShardOwnership({
    ...{ clock, log, drainMs: limits.drainMs },
    drained: () => void reconcile(),
  });
  const { table } = ownership;
  const deadNodes = createDeadNodes();
  const identity = createNodeIdentity({ ...parts, limits, ownership, rejoined: () => reconcile() });
  const members = createMemberStates({
    ...{ clock, identity, deadNodes, table, settleMs: limits.settleMs },
    observer: createRowObserver({ registry, clock, limits }),
  });
  const { node: me, isHeld } = identity;
  const failed = (error: unknown) => log("warn", "placement_failed", { node: me(), error: String(error) });
  const announce = () => bus.publish(TOPIC, "");
  const { refresh, reconcile } = createTableWriter({
    ...{ registry, clock, limits, ownership, deadNodes, identity, members, announce, failed },
  });
  let stop: (() => void)[] = [];

  const every = (ms: number, task: () => Promise<void>): void =>
    void stop.push(repeat(clock, ms, () => task().catch(failed)));

  async function leave(): Promise<void> {
    for (const end of stop) end();
    stop = [];
    await identity.leave();
    announce();
  }

  return {
    node: me,
    table,
    epochOf: (shard) => (isHeld() ? ownership.epochOf(shard) : 0),
    drainEpochOf: (shard) => (isHeld() ? ownership.drainEpochOf(shard) : 0),
    ownerOf(shard) {
      const { owner, epoch } = table().shards[shard]!;
      return owner === null ? null : { node: owner, epoch };
    },
    refresh,
    others: () => table().members.filter((node) => nameOf(node) !== parts.name && !members.isGone(node)),
    members: () =>
      table().members.map((node) => ({
        name: nameOf(node),
        incarnation: incarnationOf(node),
        state: members.stateOf(node),
      })),
    placed: () => isHeld() && table().shards.every(({ owner }) => owner !== null && !members.isGone(owner)),
    deadNodes,
    onJoin: identity.onJoin,
    onGain: (handle) => ownership.onGain(handle),
    onLose: (handle) => ownership.onLose(handle),
    onMoved: (handle) => ownership.onMoved(handle),
    advance(watermark) {
      identity.advance(watermark);
      ownership.saved();
    },
    relinquish: (shard) => ownership.relinquish(shard),
    fenced(shard, epoch) {
      ownership.fenced(shard, epoch);
      void reconcile();
    },
    async join() {
      const lease = { registry, clock, limits };
      await refuseOtherProtocols(lease, parts.name);
      await identity.take();
      every(limits.heartbeatMs, identity.heartbeat);
      every(limits.lookMs, reconcile);
      stop.push(bus.subscribe(TOPIC, () => void reconcile()));
      const placed = () =>
        table().members.includes(me()) && table().shards.every(({ owner }) => owner !== null);
      for (await reconcile(); !placed() && !identity.hasEnded(); await reconcile()) {
        await sleep(clock, limits.lookMs / 4);
      }
      // Two nodes that start at the same time see each other only now.
      await refuseOtherProtocols(lease, parts.name).catch(async (error) => {
        await leave();
        throw error;
      });
    },
    async handOff(ms) {
      const until = clock.mono() + ms;
      identity.startLeaving();
      await identity.heartbeat().catch(failed);
      announce();
      await reconcile();
      // There is no point in waiting when no live node can take the shards.
      while (members.hasTaker() && ownership.mine().length > 0 && clock.mono() < until) {
        await sleep(clock, 20);
        await reconcile();
      }
      return ownership.mine().length === 0;
    },
    leave,
  };
}

/**
 * Runs a task repeatedly, one run at a time, with `ms` between starts, or at once when a run took longer.
 * Returns a function that ends it.
 */
function repeat(clock: Clock, ms: number, task: () => Promise<void>): () => void {
  let ended = false;
  const run = async () => {
    const startedMs = clock.mono();
    await task();
    if (!ended) cancel = clock.after(ms - (clock.mono() - startedMs), run);
  };
  let cancel = clock.after(ms, run);
  return () => {
    ended = true;
    cancel();
  };
}
