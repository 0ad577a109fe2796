// One node's view of the shard table: its newest copy, the shards that this node serves, those that it
// stopped serving and may give away, and those that wait for their recovery scan. It never accesses the
// registry and knows nothing of leases.

import { atMost, type Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { ShardMove } from "./placement.ts";
import { NO_TABLE, type NodeId, release, type ShardTable } from "./shard-table.ts";

/** The shards that this node serves, drains, or no longer serves. */
export interface ShardOwnership {
  /** Returns the newest table seen here; `rev` returns the registry's revision of it. */
  table(): ShardTable;
  rev(): number;
  /** Applies a newer table and its consequences for this node. An older one, read earlier, is ignored. */
  adopt(table: ShardTable, rev: number): void;
  /**
   * Returns the shard's epoch while the table assigns it to this node and the node has not stopped serving
   * it, else 0.
   */
  epochOf(shard: number): number;
  /**
   * Returns the same as `epochOf`, and also the epoch of a shard that is no longer served and not drained
   * yet.
   */
  drainEpochOf(shard: number): number;
  /** Returns the shards that the table assigns to this node. */
  mine(): readonly number[];
  /**
   * Called when a commit of this epoch was found. If this node's epoch is older, it stops serving the shard;
   * unless the table changes, the shard is released for an owner with an epoch above the one found.
   */
  fenced(shard: number, epoch: number): void;
  /** Stops serving the shard and releases it. */
  relinquish(shard: number): void;
  /** Returns the table without the shards that this node has drained for others. */
  withoutDrained(table: ShardTable, since: number): ShardTable;
  /** Called when everything recovered so far is saved too: the start of those scans is no longer reported. */
  saved(): void;
  /**
   * Returns the oldest wall-clock ms from which a shard still needs a recovery scan or the save after it;
   * Infinity when none does.
   */
  recoverySince(): number;
  /** Sets this node's identity, with which it owns nothing yet; null means that it has none. */
  setIdentity(node: NodeId | null): void;
  onGain(handle: (shards: readonly number[], since: number) => Promise<void>): void;
  onLose(handle: (shards: readonly number[]) => Promise<void>): void;
  onMoved(handle: (moved: readonly ShardMove[]) => void): void;
}

/**
 * Creates the view of a node, without a table and without an identity. It calls its handlers synchronously
 * and logs gains and losses.
 */
export function createShardOwnership(parts: {
  readonly clock: Clock;
  readonly log: Log;
  /** A shard is released after this time (ms) even if its drain has not ended. */
  readonly drainMs: number;
  /** Called when shards may be released. */
  readonly drained: () => void;
}): ShardOwnership {
  const { clock, log } = parts;
  const gainHandlers: Parameters<ShardOwnership["onGain"]>[0][] = [];
  const loseHandlers: Parameters<ShardOwnership["onLose"]>[0][] = [];
  const moveHandlers: Parameters<ShardOwnership["onMoved"]>[0][] = [];
  let me: NodeId | null = null;
  let hadIdentity = false;
  let table = NO_TABLE;
  let rev = 0;
  /**
   * Epochs in which shards are no longer served, whatever the table says: a late write may still make that
   * true.
   */
  let stoppedEpochs = new Map<number, number>();
  /** No longer served, and not drained yet. */
  let draining = new Set<number>();
  /** Drained and not yet released, each with the highest epoch found. */
  let drained = new Map<number, number>();
  let unscanned = new Map<number, number>();
  /** Those of `unscanned` that were scanned, so their actors are loaded, but are not known to be saved. */
  const scanned = new Set<number>();

  const owns = (shard: number, epoch = table.shards[shard]!.epoch): boolean =>
    me !== null && table.shards[shard]!.owner === me && table.shards[shard]!.epoch === epoch;
  const mine = (): readonly number[] =>
    me === null ? [] : table.shards.flatMap(({ owner }, i) => (owner === me ? [i] : []));

  function reportMoved(shards: readonly number[]): void {
    const moved = shards.flatMap((shard) => {
      const { owner, epoch } = table.shards[shard]!;
      return owner === null ? [] : [{ shard, epoch, owner }];
    });
    if (moved.length > 0) for (const handle of moveHandlers) handle(moved);
  }

  function reportGained(shards: readonly number[], since: number): void {
    const epochs = new Map(shards.map((i) => [i, table.shards[i]!.epoch]));
    const node = me;
    log("info", "shards_gained", { node, shards: shards.length, since, version: table.version });
    Promise.all(gainHandlers.map((handle) => handle(shards, since))).then(
      () => {
        if (me !== node) return;
        for (const [i, epoch] of epochs) if (owns(i, epoch)) scanned.add(i);
      },
      // The scan has logged its error. Its start stays where it is.
      () => {},
    );
  }

  async function drain(shards: readonly number[]): Promise<void> {
    if (shards.length === 0) return;
    log("info", "shards_lost", { node: me, shards: shards.length, version: table.version });
    try {
      await Promise.all(loseHandlers.map((handle) => handle(shards)));
    } catch (error) {
      log("error", "drain_failed", { error: String(error) });
    }
  }

  /** Stops serving the shards that are planned for other nodes; once drained they can be released. */
  async function stopServingPlanned(): Promise<void> {
    const wanted = mine().filter((i) => {
      const { next, epoch } = table.shards[i]!;
      return next !== null && stoppedEpochs.get(i) !== epoch;
    });
    if (wanted.length === 0) return;
    for (const i of wanted) draining.add(i);
    await stopServing(wanted, 0);
  }

  /** Stops serving shards in their epoch. When they are drained, or the time is up, they can be released. */
  async function stopServing(shards: readonly number[], met: number): Promise<void> {
    const epochs = new Map(shards.map((i) => [i, table.shards[i]!.epoch]));
    for (const [i, epoch] of epochs) stoppedEpochs.set(i, epoch);
    const node = me;
    await atMost(clock, parts.drainMs, drain(shards));
    if (me !== node) return;
    for (const [i, epoch] of epochs) {
      if (!owns(i, epoch)) continue;
      draining.delete(i);
      drained.set(i, Math.max(met, drained.get(i) ?? 0));
    }
    parts.drained();
  }

  return {
    table: () => table,
    rev: () => rev,
    mine,
    adopt(next, nextRev) {
      if (next.version <= table.version) return;
      const before = table;
      table = next;
      rev = nextRev;
      const changed = next.shards.flatMap(({ owner, epoch }, i) => {
        const was = before.shards[i]!;
        return was.owner === owner && was.epoch === epoch ? [] : [i];
      });
      if (before.version > 0) reportMoved(changed);
      if (me === null) return;
      const lost: number[] = [];
      const gained = new Map<number, number[]>();
      for (const i of changed) {
        const was = before.shards[i]!;
        const { owner, since } = next.shards[i]!;
        draining.delete(i);
        drained.delete(i);
        unscanned.delete(i);
        scanned.delete(i);
        if (was.owner === me && stoppedEpochs.get(i) !== was.epoch) lost.push(i);
        if (owner !== me) continue;
        unscanned.set(i, since);
        gained.set(since, [...(gained.get(since) ?? []), i]);
      }
      void drain(lost);
      for (const [since, shards] of gained) reportGained(shards, since);
      void stopServingPlanned();
    },
    epochOf(shard) {
      const { epoch } = table.shards[shard]!;
      return !owns(shard) || (stoppedEpochs.get(shard) ?? 0) >= epoch ? 0 : epoch;
    },
    drainEpochOf(shard) {
      const { epoch } = table.shards[shard]!;
      return owns(shard) && ((stoppedEpochs.get(shard) ?? 0) < epoch || draining.has(shard)) ? epoch : 0;
    },
    fenced(shard, epoch) {
      const known = table.shards[shard]!;
      if (!owns(shard) || known.epoch >= epoch) return;
      draining.delete(shard);
      if (stoppedEpochs.get(shard) === known.epoch) {
        if (drained.has(shard)) drained.set(shard, Math.max(epoch, drained.get(shard)!));
      } else void stopServing([shard], epoch);
    },
    relinquish(shard) {
      const { epoch } = table.shards[shard]!;
      if (owns(shard) && stoppedEpochs.get(shard) !== epoch) void stopServing([shard], 0);
    },
    withoutDrained: (from, since) =>
      drained.size === 0 || me === null ? from : release(from, me, drained, since),
    saved() {
      for (const i of scanned) unscanned.delete(i);
      scanned.clear();
    },
    recoverySince: () => Math.min(...unscanned.values(), Number.POSITIVE_INFINITY),
    setIdentity(node) {
      const had = mine();
      me = node;
      void drain(had);
      stoppedEpochs = new Map();
      draining = new Set();
      drained = new Map();
      unscanned = new Map();
      scanned.clear();
      if (node === null) return;
      // The holds of its former identity belong to the new one from here on.
      if (hadIdentity) reportMoved([...table.shards.keys()]);
      hadIdentity = true;
    },
    onGain: (handle) => void gainHandlers.push(handle),
    onLose: (handle) => void loseHandlers.push(handle),
    onMoved: (handle) => void moveHandlers.push(handle),
  };
}
