// Placement of a visitor: a command beside a running cluster, which owns nothing and is no member. It reads the table to
// know whom to ask. It writes nothing, and nobody waits for it or moves anything for it.

import { type Clock, inTime, type Random, sleep } from "../../base/clock.ts";
import type { Registry } from "../../store/store.ts";
import { CLUSTER_LIMITS } from "./cluster-placement.ts";
import { NO_DEAD_NODES } from "./dead-nodes.ts";
import { type LeaseRecord, rowKey } from "./node-lease.ts";
import type { NodeState, Placement } from "./placement.ts";
import {
  incarnationOf,
  NO_TABLE,
  type NodeId,
  nameOf,
  nodeId,
  type ShardTable,
  TABLE_KEY,
} from "./shard-table.ts";

/** No node of the cluster lives. */
export class NoNodeRunning extends Error {}

export interface VisitorLimits {
  readonly beatMs: number;
  readonly callMs: number;
  /** A node that says nothing for so long is not taken for a living one. */
  readonly ttlMs: number;
}

export function createObserverPlacement(parts: {
  readonly registry: Pick<Registry, "read">;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits?: VisitorLimits;
}): Placement {
  const { registry, clock, random, limits = CLUSTER_LIMITS } = parts;
  const me = nodeId("visitor", random.id());
  let table: ShardTable = NO_TABLE;

  async function refresh(): Promise<void> {
    const found = await inTime(clock, limits.callMs, registry.read(TABLE_KEY));
    if (found !== null) table = JSON.parse(found.value);
  }

  /** The node's row as long as it is this incarnation's and not a dead one's; what it holds changes with every beat. */
  async function alive(node: NodeId): Promise<string | null> {
    const found = await inTime(clock, limits.callMs, registry.read(rowKey(nameOf(node))));
    const row: LeaseRecord | null = found && JSON.parse(found.value);
    return row === null || row.state === "dead" || row.incarnation !== incarnationOf(node)
      ? null
      : found!.value;
  }

  /** The first beat that is heard ends the wait; a row alone may be left by a cluster that died at once. */
  async function heard(): Promise<boolean> {
    const before = new Map<NodeId, string>();
    for (const until = clock.mono() + limits.ttlMs; ; ) {
      for (const node of table.members) {
        const row = await alive(node);
        if (row === null) continue;
        if ((before.get(node) ?? row) !== row) return true;
        before.set(node, row);
      }
      if (before.size === 0 || clock.mono() >= until) return false;
      await sleep(clock, limits.beatMs / 4);
      await refresh();
    }
  }

  return {
    async join() {
      await refresh();
      if (!(await heard())) throw new NoNodeRunning("no node of this cluster is running: start one first");
    },
    // Nobody waits for it in vain: what is known goes on to be used.
    refresh: () => refresh().catch(() => {}),
    node: () => me,
    epochOf: () => 0,
    drainEpochOf: () => 0,
    ownerOf(shard) {
      const { owner, epoch } = table.shards[shard]!;
      return owner === null ? null : { node: owner, epoch };
    },
    others: () => table.members,
    members: () =>
      table.members.map(
        (node): NodeState => ({ name: nameOf(node), incarnation: incarnationOf(node), state: "up" }),
      ),
    placed: () => table.shards.every(({ owner }) => owner !== null),
    deadNodes: NO_DEAD_NODES,
    fenced: () => {},
    relinquish: () => {},
    onJoin: () => {},
    onGain: () => {},
    onLose: () => {},
    onMoved: () => {},
    handOver: async () => true,
    async leave() {},
  };
}
