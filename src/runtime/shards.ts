// Maps actors to shards. An actor of an Owner's tree is placed by its own name only, so its shard never
// changes.

/** Number of shards. It must never change, because commits carry their shard. */
export const SHARDS = 256;

/**
 * Returns the shard of an actor, by FNV-1a over its name. It must never change, because commits carry the
 * shard.
 */
export function shardOf(actor: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < actor.length; i++) {
    hash ^= actor.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  return ((hash >>> 0) ^ (hash >>> 16)) & (SHARDS - 1);
}
