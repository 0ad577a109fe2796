// What one node holds of the table of shards: its newest copy, which shards it serves, which it has ceased to serve and
// may give away, which wait for their sweep. It reads and writes no registry, and knows nothing of leases.

import { atMost, type Clock } from "./clock.ts";
import type { Log } from "./log.ts";
import { NO_TABLE, type NodeId, release, type Table } from "./table.ts";

export interface Holdings {
  /** The newest table that was met, and the registry's rev of it. */
  table(): Table;
  rev(): number;
  /** Takes over a newer table and what it means for this node. An older one, read earlier, comes too late. */
  adopt(table: Table, rev: number): void;
  /** > 0: the table says so, and this node has not ceased to serve it. */
  epochOf(shard: number): number;
  mine(): readonly number[];
  /** A commit of this epoch was met: if this node's is older it has nothing to say any more. */
  fenced(shard: number, epoch: number): void;
  /** The table without what this node has drained for others. */
  freed(table: Table, since: number): Table;
  /** Wall ms at which the sweep of a shard starts that is not swept yet; infinite: all are. */
  unsweptSince(): number;
  /** From here on it is this node, and holds nothing; null: none at all. */
  become(node: NodeId | null): void;
  onGain(handle: (shards: readonly number[], since: number) => Promise<void>): void;
  onLose(handle: (shards: readonly number[]) => Promise<void>): void;
}

export function createHoldings(parts: {
  readonly clock: Clock;
  readonly log: Log;
  /** A shard is given away after this even if its drain has not ended. */
  readonly drainMs: number;
  /** Something may be given away. */
  readonly drained: () => void;
}): Holdings {
  const { clock, log } = parts;
  const gaining: Parameters<Holdings["onGain"]>[0][] = [];
  const losing: Parameters<Holdings["onLose"]>[0][] = [];
  let me: NodeId | null = null;
  let table = NO_TABLE;
  let rev = 0;
  /** Epochs in which shards are served no more, whatever the table says: a late write may still make it true. */
  let ceased = new Map<number, number>();
  let drained = new Set<number>();
  let unswept = new Map<number, number>();

  const owns = (shard: number, epoch = table.shards[shard]!.epoch): boolean =>
    me !== null && table.shards[shard]!.owner === me && table.shards[shard]!.epoch === epoch;
  const mine = (): readonly number[] =>
    me === null ? [] : table.shards.flatMap(({ owner }, i) => (owner === me ? [i] : []));

  function gain(shards: readonly number[], since: number): void {
    const epochs = new Map(shards.map((i) => [i, table.shards[i]!.epoch]));
    const node = me;
    log("info", "shards_gained", { node, shards: shards.length, since, version: table.version });
    Promise.all(gaining.map((handle) => handle(shards, since))).then(
      () => {
        if (me !== node) return;
        for (const [i, epoch] of epochs) if (owns(i, epoch)) unswept.delete(i);
      },
      (error) => log("error", "sweep_failed", { node, error: String(error) }),
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
    const epochs = new Map(wanted.map((i) => [i, table.shards[i]!.epoch]));
    for (const [i, epoch] of epochs) ceased.set(i, epoch);
    const node = me;
    await atMost(clock, parts.drainMs, lose(wanted));
    if (me !== node) return;
    for (const [i, epoch] of epochs) if (owns(i, epoch)) drained.add(i);
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
      if (me === null) return;
      const lost: number[] = [];
      const gained = new Map<number, number[]>();
      for (const [i, { owner, epoch, since }] of next.shards.entries()) {
        const was = before.shards[i]!;
        if (was.owner === owner && was.epoch === epoch) continue;
        drained.delete(i);
        unswept.delete(i);
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
    fenced(shard, epoch) {
      const known = table.shards[shard]!;
      if (owns(shard) && known.epoch < epoch) ceased.set(shard, known.epoch);
    },
    freed: (from, since) => (drained.size === 0 || me === null ? from : release(from, me, drained, since)),
    unsweptSince: () => Math.min(...unswept.values(), Number.POSITIVE_INFINITY),
    become(node) {
      const had = mine();
      me = node;
      void lose(had);
      ceased = new Map();
      drained = new Set();
      unswept = new Map();
    },
    onGain: (handle) => void gaining.push(handle),
    onLose: (handle) => void losing.push(handle),
  };
}
