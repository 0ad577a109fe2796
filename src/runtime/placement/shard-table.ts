// The shard table: the owner of each shard, and what the table should become. All functions are pure: the
// same table and member states make the same plan on every node, so any node may write it. A plan never takes
// a shard from an owner that may still serve it.

import { SHARDS } from "../shards.ts";

/** One incarnation of a process, `<name>#<incarnation>`. A restarted node is another one. */
export type NodeId = string;

/** Joins a name and an incarnation to a node id. */
export const nodeId = (name: string, incarnation: string): NodeId => `${name}#${incarnation}`;
/** Returns the name in a node id. */
export const nameOf = (node: NodeId): string => node.slice(0, node.lastIndexOf("#"));
/** Returns the name of a node for operators, without its incarnation. The id of a single process is its name. */
export const displayName = (node: string): string => (node.includes("#") ? nameOf(node) : node);
/** Returns the incarnation in a node id. */
export const incarnationOf = (node: NodeId): string => node.slice(node.lastIndexOf("#") + 1);

/** One shard's row in the table. */
export interface Shard {
  readonly owner: NodeId | null;
  /** Increases by at least one with each new owner. */
  readonly epoch: number;
  /** The node to which the owner is asked to give the shard; null when it stays. */
  readonly next: NodeId | null;
  /** Wall-clock ms: everything older was covered by snapshots when the owner got the shard. */
  readonly since: number;
  /** Version of the table in which the owner got the shard. */
  readonly at: number;
}

/** The owners of all shards; `version` increases with every change. */
export interface ShardTable {
  readonly version: number;
  readonly members: readonly NodeId[];
  readonly shards: readonly Shard[];
}

/**
 * The state of a member. `gone` is final: it was declared dead in its own row, or followed by another
 * incarnation, and can own nothing.
 */
export type MemberState = "up" | "leaving" | "gone";

/** A member's state, by its own row in the registry. */
export interface Member {
  readonly state: MemberState;
  /**
   * Wall-clock ms: older commits of its shards are covered by snapshots, for the shards that it had in
   * version `seen`.
   */
  readonly watermark: number;
  readonly seen: number;
}

/** The registry key of the table. */
export const TABLE_KEY = "table";

export interface PlanLimits {
  /** Shards that move at once for balance. */
  readonly moves: number;
  /** Shards that move at once from leaving nodes. */
  readonly departures: number;
  /** Numbers of shards per node may differ by this fraction of their average. */
  readonly imbalance: number;
}

const FREE: Shard = { owner: null, epoch: 0, next: null, since: 0, at: 0 };

/** The table before any was written. */
export const NO_TABLE: ShardTable = {
  version: 0,
  members: [],
  shards: Array.from({ length: SHARDS }, () => FREE),
};

/** Returns the table with this member added. */
export const addMember = (table: ShardTable, node: NodeId): ShardTable =>
  table.members.includes(node) ? table : { ...table, members: [...table.members, node].sort() };

/**
 * Returns the table with drained shards of this node released: without an owner, because it no longer serves
 * them in their epoch. `drained` has the highest epoch found for each shard, and the next owner's epoch is
 * above it. `since` is the node's watermark.
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
 * Returns the next version of the table, or the same object when nothing changes. Free shards and those of
 * gone nodes get an owner at once. `next` is set where an owner leaves and, once `settled`, where loads
 * differ too much.
 */
export function plan(
  before: ShardTable,
  knownMembers: ReadonlyMap<NodeId, Member>,
  limits: PlanLimits,
  settled: boolean,
): ShardTable {
  const version = before.version + 1;
  const is = (node: NodeId | null, what: MemberState) =>
    node !== null && knownMembers.get(node)?.state === what;
  const up = before.members.filter((node) => is(node, "up"));
  // A leaving owner is better than none.
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
    shards[i] = {
      owner,
      epoch: shard.epoch + 1,
      next: null,
      since: sinceOf(shard, knownMembers),
      at: version,
    };
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

/**
 * Counts the shards of each node, including those that are moving to it. Among equals the first by name is
 * chosen.
 */
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

/**
 * Returns where (wall-clock ms) the recovery scan of the next owner starts. The last owner's watermark counts
 * if that node knew that it had the shard.
 */
function sinceOf({ owner, since, at }: Shard, knownMembers: ReadonlyMap<NodeId, Member>): number {
  const last = owner === null ? undefined : knownMembers.get(owner);
  if (last === undefined) return since;
  return last.seen >= at ? last.watermark : Math.min(since, last.watermark);
}
