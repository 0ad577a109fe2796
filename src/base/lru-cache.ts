// A bounded cache whose entries expire. When it is full, an entry that was not used lately is evicted: a read only marks
// its entry, and the eviction passes marked ones over once ("second chance"), so that reads change no order.
// Expired entries that are not asked for any more are evicted too, so that a large bound costs memory only while it is used.

import type { Clock } from "./clock.ts";

export interface LruCache<K, V> {
  /** Returns undefined when the key is unknown or its entry has expired. */
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): void;
  /** Deletes the entries whose key satisfies `isMeant`. */
  drop(isMeant: (key: K) => boolean): void;
  /** Returns the number of entries, with expired ones that are not evicted yet. */
  size(): number;
}

/** Marked entries that one eviction passes over at most, so that it takes a bounded time. */
const PASSED_OVER_MAX = 32;

class Entry<V> {
  /** Read since it was set or passed over. */
  isMarked = false;

  constructor(
    readonly value: V,
    /** Monotonic ms at which it expires. */
    readonly untilMs: number,
  ) {}
}

/** Creates a cache of at most `most` entries, each valid for `ttlMs` milliseconds after it was set. */
export function lruCache<K, V>(parts: { clock: Clock; most: number; ttlMs: number }): LruCache<K, V> {
  const { clock, most, ttlMs } = parts;
  const entries = new Map<K, Entry<V>>();

  /** Deletes expired entries at the front, and makes room for one. */
  function evict(now: number): void {
    let passedOver = 0;
    for (const [key, entry] of entries) {
      if (entry.untilMs >= now) {
        if (entries.size < most) return;
        if (entry.isMarked && passedOver++ < PASSED_OVER_MAX) {
          entry.isMarked = false;
          entries.delete(key);
          entries.set(key, entry);
          continue;
        }
      }
      entries.delete(key);
    }
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (entry.untilMs < clock.mono()) {
        entries.delete(key);
        return undefined;
      }
      entry.isMarked = true;
      return entry.value;
    },
    set(key, value) {
      entries.delete(key);
      const now = clock.mono();
      evict(now);
      entries.set(key, new Entry(value, now + ttlMs));
    },
    delete: (key) => void entries.delete(key),
    drop(isMeant) {
      for (const key of entries.keys()) if (isMeant(key)) entries.delete(key);
    },
    size: () => entries.size,
  };
}
