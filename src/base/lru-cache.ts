// A bounded cache whose entries expire. When it is full, the entry that was unused for longest is evicted.

import type { Clock } from "./clock.ts";

export interface LruCache<K, V> {
  /** Returns undefined when the key is unknown or its entry has expired. */
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): void;
  /** Deletes the entries whose key satisfies `isMeant`. */
  drop(isMeant: (key: K) => boolean): void;
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
      if (entries.size >= parts.most) entries.delete(entries.keys().next().value!);
      entries.set(key, { value, until: parts.clock.mono() + parts.ttlMs });
    },
    delete: (key) => void entries.delete(key),
    drop(isMeant) {
      for (const key of entries.keys()) if (isMeant(key)) entries.delete(key);
    },
  };
}
