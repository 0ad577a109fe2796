// The table of shards: who owns which, and what it should become. Pure: the same table and the same standings make the
// same plan on every node, so whoever is first may write it. It never takes a shard from an owner who may still serve it.

import { SHARDS } from "../shards.ts";

/** A node is one incarnation of a process: `<name>#<incarnation>`. A restart is another node. */
export type NodeId = string;

export const nodeId = (name: string, incarnation: string): NodeId => `${name}#${incarnation}`;
export const nameOf = (node: NodeId): string => node.slice(0, node.lastIndexOf("#"));
export const incarnationOf = (node: NodeId): string => node.slice(node.lastIndexOf("#") + 1);

export interface Shard {
  readonly owner: NodeId | null;
  /** One more with each new owner. */
  readonly epoch: number;
  /** Its owner is asked to give it to this node. */
  readonly next: NodeId | null;
  /** Wall ms: what is older was covered by snapshots when the owner got it. */
  readonly since: number;
  /** Version of the table in which the owner got it. */
  readonly at: number;
}

export interface ShardTable {
  readonly version: number;
  readonly members: readonly NodeId[];
  readonly shards: readonly Shard[];
}

/** gone is final: declared dead in its own row, or followed by another incarnation. It can own nothing any more. */
export type MemberState = "up" | "leaving" | "gone";

export interface Member {
  readonly standing: MemberState;
  /** Wall ms: older commits of its shards are covered by snapshots, as far as it knew of version `seen`. */
  readonly watermark: number;
  readonly seen: number;
}

/** Where the registry keeps it. */
export const TABLE_KEY = "table";

export interface PlanLimits {
  /** Shards on their way at once for balance. */
  readonly moves: number;
  /** Shards on their way at once from nodes that leave. */
  readonly departures: number;
  /** Loads may differ by this part of the average. */
  readonly imbalance: number;
}

const FREE: Shard = { owner: null, epoch: 0, next: null, since: 0, at: 0 };

export const NO_TABLE: ShardTable = {
  version: 0,
  members: [],
  shards: Array.from({ length: SHARDS }, () => FREE),
};

/** With one member more. */
export const addMember = (table: ShardTable, node: NodeId): ShardTable =>
  table.members.includes(node) ? table : { ...table, members: [...table.members, node].sort() };

/**
 * These shards are nobody's: their owner has drained them, and serves them no more in their epoch. What they are drained
 * with is the highest epoch that was met: the next one is above it.
 */
export function release(
  table: ShardTable,
  node: NodeId,
  drained: ReadonlyMap<number, number>,
  since: number,
): ShardTable {
  const shards = table.shards.map((shard, i) => {
    const met = drained.get(i);
    return met === undefined || shard.owner !== node
      ? shard
      : { ...shard, owner: null, epoch: Math.max(shard.epoch, met), since };
  });
  return { ...table, shards };
}

/**
 * What the table should be, one version on; the same object when nothing is to change. Free shards and those of the gone
 * find an owner at once; `next` is set where an owner leaves, and, once `settled`, where loads differ too much.
 */
export function plan(
  before: ShardTable,
  standing: ReadonlyMap<NodeId, Member>,
  limits: PlanLimits,
  settled: boolean,
): ShardTable {
  const version = before.version + 1;
  const is = (node: NodeId | null, what: MemberState) =>
    node !== null && standing.get(node)?.standing === what;
  const up = before.members.filter((node) => is(node, "up"));
  // Better one who means to go than nobody.
  const takers = up.length > 0 ? up : before.members.filter((node) => is(node, "leaving"));
  const shards = before.shards.map((shard) =>
    shard.next !== null && !is(shard.next, "up") ? { ...shard, next: null } : shard,
  );
  const scales = weigh(takers, shards);

  function send(i: number, to: NodeId): void {
    scales.move(shards[i]!.owner, to);
    shards[i] = { ...shards[i]!, next: to };
  }

  for (const [i, shard] of shards.entries()) {
    if (takers.length === 0 || (shard.owner !== null && !is(shard.owner, "gone"))) continue;
    const owner = shard.next ?? scales.lightest();
    if (shard.next === null) scales.move(null, owner);
    shards[i] = { owner, epoch: shard.epoch + 1, next: null, since: sinceOf(shard, standing), at: version };
  }
  let moving = shards.filter(({ next }) => next !== null).length;
  for (const [i, { owner, next }] of shards.entries()) {
    if (up.length === 0 || moving >= limits.departures) break;
    if (next !== null || !is(owner, "leaving")) continue;
    send(i, scales.lightest());
    moving++;
  }
  const apart = Math.max(1, Math.floor((shards.length / up.length) * limits.imbalance));
  for (; settled && up.length > 1 && moving < limits.moves && scales.span() > apart; moving++) {
    const from = scales.heaviest();
    const first = shards.findIndex(({ owner, next }) => owner === from && next === null);
    if (first < 0) break;
    send(first, scales.lightest());
  }

  const named = new Set(shards.flatMap(({ owner, next }) => [owner, next]));
  const members = before.members.filter((node) => named.has(node) || !is(node, "gone"));
  const isSame = (a: Shard, b: Shard) => a.owner === b.owner && a.epoch === b.epoch && a.next === b.next;
  const same = shards.every((shard, i) => isSame(shard, before.shards[i]!));
  return same && members.length === before.members.length ? before : { version, members, shards };
}

/** How much each bears, counting what is on its way to it. Of equal ones the first by name is meant. */
function weigh(nodes: readonly NodeId[], shards: readonly Shard[]) {
  const load = new Map([...nodes].sort().map((node) => [node, 0]));
  const bear = (node: NodeId | null, by: number) => {
    const now = node === null ? undefined : load.get(node);
    if (now !== undefined) load.set(node!, now + by);
  };
  for (const { owner, next } of shards) bear(next ?? owner, 1);
  const extreme = (sign: 1 | -1): NodeId =>
    [...load].reduce((best, one) => (sign * (one[1] - best[1]) > 0 ? one : best))[0];
  return {
    lightest: () => extreme(-1),
    heaviest: () => extreme(1),
    span: () => load.get(extreme(1))! - load.get(extreme(-1))!,
    move(from: NodeId | null, to: NodeId) {
      bear(from, -1);
      bear(to, 1);
    },
  };
}

/** Where the sweep of a shard's next owner starts. Its last owner's word counts if it knew that it had the shard. */
function sinceOf({ owner, since, at }: Shard, standing: ReadonlyMap<NodeId, Member>): number {
  const last = owner === null ? undefined : standing.get(owner);
  if (last === undefined) return since;
  return last.seen >= at ? last.watermark : Math.min(since, last.watermark);
}
