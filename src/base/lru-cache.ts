// A bounded cache whose entries expire. When it is full, an entry that was not used lately is evicted: a read only marks
// its entry, and the eviction passes marked ones over once ("second chance"), so that reads change no order.
// Expired entries that are not asked for any more are evicted too, so that a large bound costs memory only while it is used.
//
// The entries are a list in the order in which they were set, the oldest first. A Map has that order too, but finds its
// first entry by passing over all those that were deleted before it.

import type { Clock } from "./clock.ts";

/** Marked entries that one eviction passes over at most, so that it takes a bounded time. */
const PASSED_OVER_MAX = 32;

class Entry<K, V> {
  /** Read since it was set or passed over. */
  isMarked = false;
  older: Entry<K, V> | null = null;
  newer: Entry<K, V> | null = null;

  constructor(
    readonly key: K,
    readonly value: V,
    /** Monotonic ms at which it expires. */
    readonly untilMs: number,
  ) {}
}

/** See the header of this file. */
export class LruCache<K, V> {
  private readonly clock: Pick<Clock, "mono">;
  private readonly most: number;
  private readonly ttlMs: number;
  private readonly entries = new Map<K, Entry<K, V>>();
  private oldest: Entry<K, V> | null = null;
  private newest: Entry<K, V> | null = null;

  /** Creates a cache of at most `most` entries, each valid for `ttlMs` milliseconds after it was set. */
  constructor({ clock, most, ttlMs }: { clock: Pick<Clock, "mono">; most: number; ttlMs: number }) {
    this.clock = clock;
    this.most = most;
    this.ttlMs = ttlMs;
  }

  /** Returns undefined when the key is unknown or its entry has expired. */
  get(key: K): V | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.untilMs < this.clock.mono()) {
      this.remove(entry);
      return undefined;
    }
    entry.isMarked = true;
    return entry.value;
  }

  set(key: K, value: V): void {
    const known = this.entries.get(key);
    if (known !== undefined) this.remove(known);
    const now = this.clock.mono();
    this.evict(now);
    const entry = new Entry(key, value, now + this.ttlMs);
    this.entries.set(key, entry);
    this.append(entry);
  }

  delete(key: K): void {
    const entry = this.entries.get(key);
    if (entry !== undefined) this.remove(entry);
  }

  /** Deletes the entries whose key satisfies `isMeant`. */
  drop(isMeant: (key: K) => boolean): void {
    for (const [key, entry] of this.entries) if (isMeant(key)) this.remove(entry);
  }

  /** Returns the number of entries, with expired ones that are not evicted yet. */
  size(): number {
    return this.entries.size;
  }

  /** Deletes the oldest entries that have expired, and makes room for one. */
  private evict(now: number): void {
    let passedOver = 0;
    for (let entry = this.oldest; entry !== null; entry = this.oldest) {
      if (entry.untilMs >= now) {
        if (this.entries.size < this.most) return;
        if (entry.isMarked && passedOver++ < PASSED_OVER_MAX) {
          entry.isMarked = false;
          this.unlink(entry);
          this.append(entry);
          continue;
        }
      }
      this.remove(entry);
    }
  }

  private remove(entry: Entry<K, V>): void {
    this.entries.delete(entry.key);
    this.unlink(entry);
  }

  private append(entry: Entry<K, V>): void {
    entry.older = this.newest;
    if (this.newest === null) this.oldest = entry;
    else this.newest.newer = entry;
    this.newest = entry;
  }

  private unlink(entry: Entry<K, V>): void {
    const { older, newer } = entry;
    if (older === null) this.oldest = newer;
    else older.newer = newer;
    if (newer === null) this.newest = older;
    else newer.older = older;
    entry.older = null;
    entry.newer = null;
  }
}
