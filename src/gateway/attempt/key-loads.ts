// What this node has under way at each provider key: the requests in flight, and which key was taken longest ago. It chooses no
// key.

import type { ProviderKeyId } from "../../../actors/ids.ts";

/** Keys whose turn is remembered; at the bound the half that was taken longest ago is forgotten, and counts as not taken. */
export const TURNS_MAX = 10_000;

/**
 * Returns the most requests in flight with which a key is not overloaded; `least` are those of the least busy key.
 * Source: contract section 9.
 */
export const loadMax = (least: number): number => 2 * least + 4;

/** The loads of this node's keys. */
export class KeyLoads {
  private readonly inFlight = new Map<ProviderKeyId, number>();
  /**
   * When each key was taken last, as a count. One round-robin position for all Levels would skip keys of a
   * single Level.
   */
  private readonly takenAt = new Map<ProviderKeyId, number>();
  private taken = 0;

  /** The number of keys that something is remembered of. */
  get size(): number {
    return Math.max(this.inFlight.size, this.takenAt.size);
  }

  /** Counts a request on the key until `done` is called. */
  take(key: ProviderKeyId): void {
    this.inFlight.set(key, this.of(key) + 1);
    this.takenAt.set(key, ++this.taken);
    if (this.takenAt.size > TURNS_MAX) this.forgetTurns();
  }

  /** Ends the count of a request on the key. */
  done(key: ProviderKeyId): void {
    const left = this.of(key) - 1;
    if (left > 0) this.inFlight.set(key, left);
    else this.inFlight.delete(key);
  }

  /** Returns the requests in flight on the key. */
  of(key: ProviderKeyId): number {
    return this.inFlight.get(key) ?? 0;
  }

  /** Returns the requests in flight, summed over all keys. */
  ofAll(): number {
    return this.inFlight.values().reduce((sum, count) => sum + count, 0);
  }

  /** Returns whether a key has fewer requests in flight than another one, or as many and was taken longer ago. */
  isBefore(a: ProviderKeyId, b: ProviderKeyId): boolean {
    const difference = this.of(a) - this.of(b);
    return difference !== 0 ? difference < 0 : (this.takenAt.get(a) ?? 0) < (this.takenAt.get(b) ?? 0);
  }

  private forgetTurns(): void {
    for (const [key, at] of this.takenAt) if (at <= this.taken - TURNS_MAX / 2) this.takenAt.delete(key);
  }
}
