// Which shard an actor belongs to. An actor of one Owner's tree is placed by its own name only: shards never change.

export const SHARDS = 256;
export const LANES = 8;

/** FNV-1a over the actor's name: stable for ever, since commits carry it. */
export function shardOf(actor: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < actor.length; i++) {
    hash ^= actor.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  return ((hash >>> 0) ^ (hash >>> 16)) & (SHARDS - 1);
}

export const laneOf = (shard: number): number => shard % LANES;
