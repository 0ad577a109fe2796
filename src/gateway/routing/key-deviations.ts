// Remembers on this node the conversations that were answered by another provider key than their first choice, so that each
// moves once and stays while its prompt is in that key's cache. What is forgotten costs one prompt that is not cached,
// nothing else. After a key's sleep no node knows which conversations moved elsewhere: for as long as a
// deviation lasts, each assumes that all those of the key did. It chooses no key.

import type { ProviderKeyId } from "../../../actors/ids.ts";
import type { KeyHealth } from "../../../actors/level/view.ts";
import type { Clock } from "../../base/clock.ts";
import { LruCache } from "../../base/lru-cache.ts";
import type { ConversationHash } from "./rendezvous.ts";

/** Deviations that a node remembers; at the bound those that were used least lately are forgotten. */
export const DEVIATIONS_MAX = 50_000;
/** How long a deviation is remembered after its last use. */
export const DEVIATION_MS = 10 * 60_000;

/**
 * Returns whether a key has woken so lately, at `now` (wall-clock ms), that conversations which moved while it slept have
 * their prompt in the cache of another key. A key that was woken by hand shows no sleep.
 */
export const hasWokenLately = (health: KeyHealth | undefined, now: number): boolean =>
  health !== undefined && health.sleepsUntil <= now && now - health.sleepsUntil < DEVIATION_MS;

/** The deviations of this node. */
export class KeyDeviations {
  private readonly keys: LruCache<ConversationHash, ProviderKeyId>;

  constructor(clock: Clock) {
    this.keys = new LruCache({ clock, most: DEVIATIONS_MAX, ttlMs: DEVIATION_MS });
  }

  /** The number of deviations, with those that have ended and were not removed yet. */
  get size(): number {
    return this.keys.size();
  }

  /** Returns the key that answered the conversation last, or null when that was its first choice or is forgotten. */
  keyOf(conversation: ConversationHash): ProviderKeyId | null {
    return this.size === 0 ? null : (this.keys.get(conversation) ?? null);
  }

  /** Records which key has answered a conversation; `first` is its first choice. */
  answered(conversation: ConversationHash, key: ProviderKeyId, first: ProviderKeyId | null): void {
    if (key !== first) this.keys.set(conversation, key);
    else if (this.size > 0) this.keys.delete(conversation);
  }
}
