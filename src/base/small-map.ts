// A map for what exists once per actor and mostly has one entry or none. A `Map` with one entry takes 255 bytes, and
// keeps its storage when it is emptied; this one takes 80, and 32 when it is empty. It knows nothing of its entries.

/** With more entries than this a scan is slower than a `Map`. */
const SCANNED_MAX = 8;

/**
 * A map in the order of insertion, with the methods of `Map`. Entries may be deleted during an iteration. Keys are
 * compared by `===`.
 */
export class SmallMap<K, V> {
  /**
   * Keys and values in turn; a `Map` since they were too many to scan; null while there are none. It is one field,
   * because two take 16 bytes more.
   */
  private held: (K | V)[] | Map<K, V> | null = null;

  /** Returns a map with these entries. */
  static of<K, V>(entries: Iterable<readonly [K, V]>): SmallMap<K, V> {
    const map = new SmallMap<K, V>();
    for (const [key, value] of entries) map.set(key, value);
    return map;
  }

  get size(): number {
    const { held } = this;
    if (held === null) return 0;
    return Array.isArray(held) ? held.length / 2 : held.size;
  }

  get(key: K): V | undefined {
    const { held } = this;
    if (held === null) return undefined;
    if (!Array.isArray(held)) return held.get(key);
    const i = find(held, key);
    return i < 0 ? undefined : (held[i + 1] as V);
  }

  has(key: K): boolean {
    const { held } = this;
    if (held === null) return false;
    return Array.isArray(held) ? find(held, key) >= 0 : held.has(key);
  }

  set(key: K, value: V): void {
    const { held } = this;
    if (held === null) this.held = [key, value];
    else if (!Array.isArray(held)) held.set(key, value);
    else {
      const i = find(held, key);
      if (i >= 0) held[i + 1] = value;
      else if (held.length < 2 * SCANNED_MAX) held.push(key, value);
      else this.held = new Map(this).set(key, value);
    }
  }

  /** Deletes an entry and returns whether it was there. */
  delete(key: K): boolean {
    const { held } = this;
    if (held === null) return false;
    if (!Array.isArray(held)) {
      const existed = held.delete(key);
      if (held.size === 0) this.held = null;
      return existed;
    }
    const i = find(held, key);
    if (i < 0) return false;
    if (held.length === 2) this.held = null;
    else held.splice(i, 2);
    return true;
  }

  clear(): void {
    this.held = null;
  }

  keys(): IteratorObject<K> {
    return this.held instanceof Map ? this.held.keys() : this.column<K>(0).values();
  }

  values(): IteratorObject<V> {
    return this.held instanceof Map ? this.held.values() : this.column<V>(1).values();
  }

  /** The entries of a small map are copied first, those of a large one are read as the iteration goes on. */
  [Symbol.iterator](): IteratorObject<[K, V]> {
    if (this.held instanceof Map) return this.held.entries();
    const values = this.column<V>(1);
    return this.column<K>(0)
      .map((key, i): [K, V] => [key, values[i]!])
      .values();
  }

  private column<T extends K | V>(from: 0 | 1): T[] {
    const found: T[] = [];
    const { held } = this;
    if (Array.isArray(held)) for (let i = from; i < held.length; i += 2) found.push(held[i] as T);
    return found;
  }
}

/** Returns where a key stands, or -1. */
function find(pairs: readonly unknown[], key: unknown): number {
  for (let i = 0; i < pairs.length; i += 2) if (pairs[i] === key) return i;
  return -1;
}
