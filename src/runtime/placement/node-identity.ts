// The identity of a node in a cluster: its lease, kept by heartbeats, and what its row reports. When its row was
// declared dead while it lived, it takes another incarnation. It plans nothing and knows no shard's owner but
// through the table.

import type { Clock, Random } from "../../base/clock.ts";
import { coalesce } from "../../base/coalesce.ts";
import type { Log } from "../../base/log.ts";
import type { Registry } from "../../store/store.ts";
import { type LeaseLimits, type LeaseRecord, type NodeLease, takeLease } from "./node-lease.ts";
import type { Placement } from "./placement.ts";
import type { ShardOwnership } from "./shard-ownership.ts";
import { type NodeId, nameOf } from "./shard-table.ts";

export interface NodeIdentity {
  /** Returns the node's id; "" while it has none. */
  node(): NodeId;
  /** Returns whether the node may act as an owner now. */
  isHeld(): boolean;
  hasLease(): boolean;
  /** Returns true after `leave`. */
  hasEnded(): boolean;
  /** Returns whether the node gives its shards away: it was asked to, or has been unfit for too long. */
  isLeaving(): boolean;
  /** From now on the node gives its shards away. */
  startLeaving(): void;
  /** Returns whether `startLeaving` was called. */
  wasAskedToLeave(): boolean;
  /** Returns the wall-clock ms before which all commits of this node's shards are covered by snapshots. */
  watermark(): number;
  /** Sets the part of the watermark that depends on this node's actors. */
  advance(watermark: number): void;
  onJoin: Placement["onJoin"];
  /** Takes a lease under a new incarnation, once everything that `onJoin` registered is ready. */
  take(): Promise<void>;
  /** Writes one heartbeat. After the node was declared dead it takes a new identity and calls `rejoined`. */
  heartbeat(): Promise<void>;
  leave(): Promise<void>;
}

/** Creates the identity of a node, which has none before `take`. It writes its row and logs. */
export function createNodeIdentity(parts: {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly name: string;
  readonly fit?: () => boolean;
  readonly limits: LeaseLimits & { readonly unfitMs: number };
  readonly ownership: ShardOwnership;
  readonly rejoined: () => Promise<void>;
}): NodeIdentity {
  const { clock, log, limits, ownership } = parts;
  const { table } = ownership;
  let lease: NodeLease | null = null;
  let covered = 0;
  let leaving = false;
  let ended = false;
  let unfitSince: number | null = null;
  /**
   * Whether a former incarnation of this node owns a shard, cached per version of the table, because every
   * heartbeat and look needs it.
   */
  let former = { version: -1, node: "", owns: false };
  const joining: Parameters<Placement["onJoin"]>[0][] = [];

  const node = (): NodeId => lease?.node ?? "";

  /**
   * Returns the row of the former incarnation, whose watermark this node reports until that one's shards have
   * new owners. Returns null afterwards, or when there was none.
   */
  function formerRow(): LeaseRecord | null {
    const inherited = lease?.inherited ?? null;
    if (inherited === null) return null;
    const { version, shards } = table();
    if (former.version !== version || former.node !== node()) {
      const isFormer = (owner: NodeId | null) =>
        owner !== null && owner !== node() && nameOf(owner) === parts.name;
      former = { version, node: node(), owns: shards.some(({ owner }) => isFormer(owner)) };
    }
    return former.owns ? inherited : null;
  }

  const watermark = (): number =>
    Math.min(covered, ownership.recoverySince(), formerRow()?.watermark ?? Number.POSITIVE_INFINITY);

  function isLeaving(): boolean {
    const fit = parts.fit?.() ?? true;
    unfitSince = fit ? null : (unfitSince ?? clock.mono());
    return leaving || (unfitSince !== null && clock.mono() - unfitSince >= limits.unfitMs);
  }

  async function take(): Promise<void> {
    const taken = await takeLease(parts);
    covered = clock.wall();
    await Promise.all(joining.map((handle) => handle(taken.node)));
    if (ended) return taken.end();
    lease = taken;
    // A node that is unfit when it joins is assigned no shards at all.
    if (parts.fit?.() === false) unfitSince = Number.NEGATIVE_INFINITY;
    ownership.setIdentity(taken.node);
    log("info", "node_joins", { node: taken.node });
  }

  return {
    node,
    isHeld: () => !ended && lease !== null && lease.held(),
    hasLease: () => lease !== null,
    hasEnded: () => ended,
    isLeaving,
    startLeaving() {
      leaving = true;
    },
    wasAskedToLeave: () => leaving,
    watermark,
    advance(watermark) {
      covered = watermark;
    },
    onJoin: (handle) => void joining.push(handle),
    take,
    heartbeat: coalesce(async () => {
      if (ended) return;
      const held = lease;
      if (held === null) return take();
      const seen = formerRow()?.seen ?? table().version;
      const state = isLeaving() ? "leaving" : "up";
      if ((await held.heartbeat({ state, watermark: watermark(), seen })) || ended) return;
      // The node was declared dead while it lived: it owns nothing any more, and another incarnation begins.
      log("warn", "node_fenced", { node: held.node, shards: ownership.mine().length });
      lease = null;
      ownership.setIdentity(null);
      await take();
      await parts.rejoined();
    }),
    async leave() {
      ended = true;
      await lease?.end();
    },
  };
}
