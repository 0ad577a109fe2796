// A map for what exists once per actor and mostly has one entry or none. A `Map` with one entry takes 255 bytes, and
// keeps its storage when it is emptied; this one takes 48 with one entry and with none. It knows nothing of its entries.

/** With more entries than this a scan is slower than a `Map`. */
const SCANNED_MAX = 8;

/**
 * A map in the order of insertion, with the methods of `Map`. Entries may be deleted during an iteration. Keys are
 * compared by `===`; none of them is `undefined`.
 */
export class SmallMap<K extends string | number, V> {
  /**
   * The first entry of a small map, in fields of its own, because most maps have no other one. The key is `undefined` while
   * there is none.
   */
  private firstKey: K | undefined = undefined;
  private firstValue: V | undefined = undefined;
  /**
   * Keys and values of the other entries in turn; a `Map` of all entries, the first too, since they were too many to scan;
   * null while there are none.
   */
  private others: (K | V)[] | Map<K, V> | null = null;

  /** Returns a map with these entries. */
  static of<K extends string | number, V>(entries: Iterable<readonly [K, V]>): SmallMap<K, V> {
    const map = new SmallMap<K, V>();
    for (const [key, value] of entries) map.set(key, value);
    return map;
  }

  get size(): number {
    const { firstKey, others } = this;
    if (others instanceof Map) return others.size;
    if (firstKey === undefined) return 0;
    return others === null ? 1 : 1 + others.length / 2;
  }

  get(key: K): V | undefined {
    if (key === this.firstKey) return this.firstValue;
    const { others } = this;
    if (others === null) return undefined;
    if (!Array.isArray(others)) return others.get(key);
    const i = find(others, key);
    return i < 0 ? undefined : (others[i + 1] as V);
  }

  has(key: K): boolean {
    if (key === this.firstKey) return true;
    const { others } = this;
    if (others === null) return false;
    return Array.isArray(others) ? find(others, key) >= 0 : others.has(key);
  }

  set(key: K, value: V): void {
    const { firstKey, others } = this;
    if (others === null) {
      if (firstKey === undefined || firstKey === key) {
        this.firstKey = key;
        this.firstValue = value;
      } else this.others = [key, value];
    } else if (!Array.isArray(others)) others.set(key, value);
    else if (firstKey === key) this.firstValue = value;
    else {
      const i = find(others, key);
      if (i >= 0) others[i + 1] = value;
      else if (this.size < SCANNED_MAX) others.push(key, value);
      else this.enlarge().set(key, value);
    }
  }

  /** Deletes an entry and returns whether it was there. */
  delete(key: K): boolean {
    const { others } = this;
    if (key === this.firstKey) {
      if (Array.isArray(others)) {
        this.firstKey = others[0] as K;
        this.firstValue = others[1] as V;
        this.deleteOther(others, 0);
      } else this.clear();
      return true;
    }
    if (others === null) return false;
    if (!Array.isArray(others)) {
      const existed = others.delete(key);
      if (others.size === 0) this.others = null;
      return existed;
    }
    const i = find(others, key);
    if (i >= 0) this.deleteOther(others, i);
    return i >= 0;
  }

  clear(): void {
    this.firstKey = undefined;
    this.firstValue = undefined;
    this.others = null;
  }

  keys(): IteratorObject<K> {
    return this.others instanceof Map ? this.others.keys() : this.column(this.firstKey, 0).values();
  }

  values(): IteratorObject<V> {
    return this.others instanceof Map ? this.others.values() : this.column(this.firstValue, 1).values();
  }

  /** The entries of a small map are copied first, those of a large one are read as the iteration goes on. */
  [Symbol.iterator](): IteratorObject<[K, V]> {
    if (this.others instanceof Map) return this.others.entries();
    const values = this.column(this.firstValue, 1);
    return this.column(this.firstKey, 0)
      .map((key, i): [K, V] => [key, values[i]!])
      .values();
  }

  /** Moves all entries to a `Map`, which it returns. */
  private enlarge(): Map<K, V> {
    const all = new Map(this);
    this.clear();
    this.others = all;
    return all;
  }

  private deleteOther(others: (K | V)[], i: number): void {
    if (others.length === 2) this.others = null;
    else others.splice(i, 2);
  }

  /** Returns the keys or the values of a small map. */
  private column<T extends K | V>(first: T | undefined, from: 0 | 1): T[] {
    const { firstKey, others } = this;
    if (firstKey === undefined) return [];
    const found = [first as T];
    if (Array.isArray(others)) for (let i = from; i < others.length; i += 2) found.push(others[i] as T);
    return found;
  }
}

/** Returns where a key stands, or -1. */
function find(pairs: readonly unknown[], key: unknown): number {
  for (let i = 0; i < pairs.length; i += 2) if (pairs[i] === key) return i;
  return -1;
}
