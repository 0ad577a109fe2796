// A map for what exists once per actor and mostly has one entry or none. A `Map` with one entry takes 255 bytes, and
// keeps its storage when it is emptied; this one takes 80, and 32 when it is empty. It knows nothing of its entries.

/** With more entries than this a scan is slower than a `Map`. */
const SCANNED_MAX = 8;

/**
 * A map in the order of insertion, with the methods of `Map`. Entries may be deleted during an iteration. Keys are
 * compared by `===`.
 */
export class SmallMap<K, V> {
  /** Keys and values in turn; null while there are none, or too many. */
  private pairs: (K | V)[] | null = null;
  /** All entries, since they were too many to scan; null otherwise. */
  private large: Map<K, V> | null = null;

  /** Returns a map with these entries. It is no constructor, because a call in one makes every map larger. */
  static of<K, V>(entries: Iterable<readonly [K, V]>): SmallMap<K, V> {
    const map = new SmallMap<K, V>();
    for (const [key, value] of entries) map.set(key, value);
    return map;
  }

  get size(): number {
    if (this.large !== null) return this.large.size;
    return this.pairs === null ? 0 : this.pairs.length / 2;
  }

  get(key: K): V | undefined {
    if (this.large !== null) return this.large.get(key);
    const i = this.find(key);
    return i < 0 ? undefined : (this.pairs![i + 1] as V);
  }

  has(key: K): boolean {
    return this.large !== null ? this.large.has(key) : this.find(key) >= 0;
  }

  set(key: K, value: V): void {
    if (this.large !== null) {
      this.large.set(key, value);
      return;
    }
    const i = this.find(key);
    if (i >= 0) this.pairs![i + 1] = value;
    else if (this.pairs === null) this.pairs = [key, value];
    else if (this.pairs.length < 2 * SCANNED_MAX) this.pairs.push(key, value);
    else {
      this.large = new Map(this);
      this.large.set(key, value);
      this.pairs = null;
    }
  }

  /** Deletes an entry and returns whether it was there. */
  delete(key: K): boolean {
    if (this.large !== null) {
      const existed = this.large.delete(key);
      if (this.large.size === 0) this.large = null;
      return existed;
    }
    const i = this.find(key);
    if (i < 0) return false;
    if (this.pairs!.length === 2) this.pairs = null;
    else this.pairs!.splice(i, 2);
    return true;
  }

  /** Deletes entries from the first on, until one is not `old`. */
  deleteWhile(old: (value: V) => boolean): void {
    if (this.large !== null) {
      for (const [key, value] of this.large) {
        if (!old(value)) return;
        this.large.delete(key);
      }
      this.large = null;
      return;
    }
    const { pairs } = this;
    if (pairs === null) return;
    let end = 0;
    while (end < pairs.length && old(pairs[end + 1] as V)) end += 2;
    if (end === pairs.length) this.pairs = null;
    else if (end > 0) pairs.splice(0, end);
  }

  clear(): void {
    this.pairs = null;
    this.large = null;
  }

  keys(): IteratorObject<K> {
    return this.large !== null ? this.large.keys() : this.column<K>(0).values();
  }

  values(): IteratorObject<V> {
    return this.large !== null ? this.large.values() : this.column<V>(1).values();
  }

  /** The entries of a small map are copied first, those of a large one are read as the iteration goes on. */
  [Symbol.iterator](): IteratorObject<[K, V]> {
    if (this.large !== null) return this.large.entries();
    const values = this.column<V>(1);
    return this.column<K>(0)
      .map((key, i): [K, V] => [key, values[i]!])
      .values();
  }

  private find(key: K): number {
    const { pairs } = this;
    if (pairs === null) return -1;
    for (let i = 0; i < pairs.length; i += 2) if (pairs[i] === key) return i;
    return -1;
  }

  private column<T extends K | V>(from: 0 | 1): T[] {
    const found: T[] = [];
    const { pairs } = this;
    if (pairs !== null) for (let i = from; i < pairs.length; i += 2) found.push(pairs[i] as T);
    return found;
  }
}
