// Placement of a command that runs beside a cluster. It owns nothing and is no member: it reads the table to
// find the owners of shards, writes nothing, and no node waits for it.

import { type Clock, inTime, type Random, sleep } from "../../base/clock.ts";
import type { Registry } from "../../store/store.ts";
import { PROTOCOL_VERSION } from "../protocol-version.ts";
import { CLUSTER_LIMITS } from "./cluster-placement.ts";
import { NO_DEAD_NODES } from "./dead-nodes.ts";
import { otherProtocol, protocolOf } from "./live-members.ts";
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

/** Thrown when no node of the cluster is alive. */
export class NoNodeRunning extends Error {}

/** Intervals and timeouts of an observer, in milliseconds. */
export interface ObserverLimits {
  readonly heartbeatMs: number;
  readonly callMs: number;
  /** A node whose row does not change for this long (ms) does not count as alive. */
  readonly ttlMs: number;
}

/**
 * Creates the placement. `join` throws NoNodeRunning when no node of the cluster is alive, and
 * OtherProtocolFound when the first one seen speaks another version of the node protocol.
 */
export function createObserverPlacement(parts: {
  readonly registry: Pick<Registry, "read">;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits?: ObserverLimits;
}): Placement {
  const { registry, clock, random, limits = CLUSTER_LIMITS } = parts;
  const me = nodeId("visitor", random.id());
  let table: ShardTable = NO_TABLE;

  async function refresh(): Promise<void> {
    const found = await inTime(clock, limits.callMs, registry.read(TABLE_KEY));
    if (found !== null) table = JSON.parse(found.value);
  }

  /**
   * Returns the node's row while it is this incarnation's and not dead, else null. A live node changes it
   * with every heartbeat.
   */
  async function alive(node: NodeId): Promise<string | null> {
    const found = await inTime(clock, limits.callMs, registry.read(rowKey(nameOf(node))));
    const row: LeaseRecord | null = found && JSON.parse(found.value);
    return row === null || row.state === "dead" || row.incarnation !== incarnationOf(node)
      ? null
      : found!.value;
  }

  /**
   * Returns true at the first heartbeat seen. A row alone is not enough: a cluster that died as a whole
   * leaves its rows.
   */
  async function sawHeartbeat(): Promise<boolean> {
    const before = new Map<NodeId, string>();
    for (const until = clock.mono() + limits.ttlMs; ; ) {
      for (const node of table.members) {
        const row = await alive(node);
        if (row === null) continue;
        if ((before.get(node) ?? row) !== row) {
          const record: LeaseRecord = JSON.parse(row);
          if (protocolOf(record) !== PROTOCOL_VERSION) throw otherProtocol({ node, row: record });
          return true;
        }
        before.set(node, row);
      }
      if (before.size === 0 || clock.mono() >= until) return false;
      await sleep(clock, limits.heartbeatMs / 4);
      await refresh();
    }
  }

  return {
    async join() {
      await refresh();
      if (!(await sawHeartbeat()))
        throw new NoNodeRunning("no node of this cluster is running: start one first");
    },
    // A failed read is ignored: the known table stays in use.
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
    handOff: async () => true,
    async leave() {},
  };
}
