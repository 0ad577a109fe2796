// What one node holds of the table of shards: its newest copy, which shards it serves, which it has ceased to serve and
// may give away, which wait for their sweep. It reads and writes no registry, and knows nothing of leases.

import { atMost, type Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { ShardMove } from "./placement.ts";
import { NO_TABLE, type NodeId, release, type ShardTable } from "./shard-table.ts";

export interface ShardOwnership {
  /** The newest table that was met, and the registry's rev of it. */
  table(): ShardTable;
  rev(): number;
  /** Takes over a newer table and what it means for this node. An older one, read earlier, comes too late. */
  adopt(table: ShardTable, rev: number): void;
  /** > 0: the table says so, and this node has not ceased to serve it. */
  epochOf(shard: number): number;
  /** > 0: as `epochOf`, or it has ceased and what was decided before is still being made durable. */
  drainEpochOf(shard: number): number;
  mine(): readonly number[];
  /**
   * A commit of this epoch was met: if this node's is older it has nothing to say any more. If the table stays as it is,
   * the shard is let go, for an owner with an epoch above the one met.
   */
  fenced(shard: number, epoch: number): void;
  /** Lets the shard go as it is. */
  giveUp(shard: number): void;
  /** The table without what this node has drained for others. */
  freed(table: ShardTable, since: number): ShardTable;
  /** What was swept by now is saved too: its start is told no more. */
  saved(): void;
  /** Wall ms at which the sweep of a shard starts that is not swept and saved yet; infinite: all are. */
  unsweptSince(): number;
  /** From here on it is this node, and holds nothing; null: none at all. */
  become(node: NodeId | null): void;
  onGain(handle: (shards: readonly number[], since: number) => Promise<void>): void;
  onLose(handle: (shards: readonly number[]) => Promise<void>): void;
  onMoved(handle: (moved: readonly ShardMove[]) => void): void;
}

export function createShardOwnership(parts: {
  readonly clock: Clock;
  readonly log: Log;
  /** A shard is given away after this even if its drain has not ended. */
  readonly drainMs: number;
  /** Something may be given away. */
  readonly drained: () => void;
}): ShardOwnership {
  const { clock, log } = parts;
  const gaining: Parameters<ShardOwnership["onGain"]>[0][] = [];
  const losing: Parameters<ShardOwnership["onLose"]>[0][] = [];
  const hearing: Parameters<ShardOwnership["onMoved"]>[0][] = [];
  let me: NodeId | null = null;
  let wasSomebody = false;
  let table = NO_TABLE;
  let rev = 0;
  /** Epochs in which shards are served no more, whatever the table says: a late write may still make it true. */
  let ceased = new Map<number, number>();
  /** Ceased for the next owner, and not drained yet. */
  let draining = new Set<number>();
  /** Drained and not yet released, each with the highest epoch met. */
  let drained = new Map<number, number>();
  let unswept = new Map<number, number>();
  /** Of these: swept, so in memory; and nobody has said yet that they are saved. */
  const swept = new Set<number>();

  const owns = (shard: number, epoch = table.shards[shard]!.epoch): boolean =>
    me !== null && table.shards[shard]!.owner === me && table.shards[shard]!.epoch === epoch;
  const mine = (): readonly number[] =>
    me === null ? [] : table.shards.flatMap(({ owner }, i) => (owner === me ? [i] : []));

  function move(shards: readonly number[]): void {
    const moved = shards.flatMap((shard) => {
      const { owner, epoch } = table.shards[shard]!;
      return owner === null ? [] : [{ shard, epoch, owner }];
    });
    if (moved.length > 0) for (const handle of hearing) handle(moved);
  }

  function gain(shards: readonly number[], since: number): void {
    const epochs = new Map(shards.map((i) => [i, table.shards[i]!.epoch]));
    const node = me;
    log("info", "shards_gained", { node, shards: shards.length, since, version: table.version });
    Promise.all(gaining.map((handle) => handle(shards, since))).then(
      () => {
        if (me !== node) return;
        for (const [i, epoch] of epochs) if (owns(i, epoch)) swept.add(i);
      },
      // Who sweeps has told why. Its start stays where it is.
      () => {},
    );
  }

  async function lose(shards: readonly number[]): Promise<void> {
    if (shards.length === 0) return;
    log("info", "shards_lost", { node: me, shards: shards.length, version: table.version });
    try {
      await Promise.all(losing.map((handle) => handle(shards)));
    } catch (error) {
      log("error", "drain_failed", { error: String(error) });
    }
  }

  /** Ceases to serve what others are to have; once drained it may be theirs. */
  async function give(): Promise<void> {
    const wanted = mine().filter((i) => {
      const { next, epoch } = table.shards[i]!;
      return next !== null && ceased.get(i) !== epoch;
    });
    if (wanted.length === 0) return;
    for (const i of wanted) draining.add(i);
    await cease(wanted, 0);
  }

  /** Serves them no more in their epoch; when what follows from that is done, or the time is up, they may be another's. */
  async function cease(shards: readonly number[], met: number): Promise<void> {
    const epochs = new Map(shards.map((i) => [i, table.shards[i]!.epoch]));
    for (const [i, epoch] of epochs) ceased.set(i, epoch);
    const node = me;
    await atMost(clock, parts.drainMs, lose(shards));
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
      if (before.version > 0) move(changed);
      if (me === null) return;
      const lost: number[] = [];
      const gained = new Map<number, number[]>();
      for (const i of changed) {
        const was = before.shards[i]!;
        const { owner, since } = next.shards[i]!;
        draining.delete(i);
        drained.delete(i);
        unswept.delete(i);
        swept.delete(i);
        if (was.owner === me && ceased.get(i) !== was.epoch) lost.push(i);
        if (owner !== me) continue;
        unswept.set(i, since);
        gained.set(since, [...(gained.get(since) ?? []), i]);
      }
      void lose(lost);
      for (const [since, shards] of gained) gain(shards, since);
      void give();
    },
    epochOf(shard) {
      const { epoch } = table.shards[shard]!;
      return !owns(shard) || (ceased.get(shard) ?? 0) >= epoch ? 0 : epoch;
    },
    drainEpochOf(shard) {
      const { epoch } = table.shards[shard]!;
      return owns(shard) && ((ceased.get(shard) ?? 0) < epoch || draining.has(shard)) ? epoch : 0;
    },
    fenced(shard, epoch) {
      const known = table.shards[shard]!;
      if (!owns(shard) || known.epoch >= epoch) return;
      draining.delete(shard);
      if (ceased.get(shard) === known.epoch) {
        if (drained.has(shard)) drained.set(shard, Math.max(epoch, drained.get(shard)!));
      } else void cease([shard], epoch);
    },
    giveUp(shard) {
      const { epoch } = table.shards[shard]!;
      if (owns(shard) && ceased.get(shard) !== epoch) void cease([shard], 0);
    },
    freed: (from, since) => (drained.size === 0 || me === null ? from : release(from, me, drained, since)),
    saved() {
      for (const i of swept) unswept.delete(i);
      swept.clear();
    },
    unsweptSince: () => Math.min(...unswept.values(), Number.POSITIVE_INFINITY),
    become(node) {
      const had = mine();
      me = node;
      void lose(had);
      ceased = new Map();
      draining = new Set();
      drained = new Map();
      unswept = new Map();
      swept.clear();
      if (node === null) return;
      // What it held as who it was, it holds as somebody else now.
      if (wasSomebody) move([...table.shards.keys()]);
      wasSomebody = true;
    },
    onGain: (handle) => void gaining.push(handle),
    onLose: (handle) => void losing.push(handle),
    onMoved: (handle) => void hearing.push(handle),
  };
}
