// A bounded cache whose entries expire. When it is full, the entry that was unused for longest is evicted.
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

/** Creates a cache of at most `most` entries, each valid for `ttlMs` milliseconds after it was set. */
export function lruCache<K, V>(parts: { clock: Clock; most: number; ttlMs: number }): LruCache<K, V> {
  const entries = new Map<K, { value: V; until: number }>();
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (entry.until < parts.clock.mono()) {
        entries.delete(key);
        return undefined;
      }
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value) {
      entries.delete(key);
      const now = parts.clock.mono();
      for (const [oldest, { until }] of entries) {
        if (entries.size < parts.most && until >= now) break;
        entries.delete(oldest);
      }
      entries.set(key, { value, until: now + parts.ttlMs });
    },
    delete: (key) => void entries.delete(key),
    drop(isMeant) {
      for (const key of entries.keys()) if (isMeant(key)) entries.delete(key);
    },
    size: () => entries.size,
  };
}
