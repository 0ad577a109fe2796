// Rendezvous hashing: which provider key of a Level a conversation meets first. Every node finds the same key without memory,
// and a key that comes or goes moves only the conversations that meet it. Pure functions of integers, since every request
// calls them.

import type { AccountId, ProviderKeyId } from "../../../actors/ids.ts";
import type { LevelKey } from "../../../actors/level/view.ts";
import type { HeaderReader } from "../../base/header-reader.ts";
import { type ConversationHint, hashOfName } from "../../dialect/conversation-hint.ts";
import type { Dialect } from "../../dialect/dialect.ts";

declare const conversation: unique symbol;

/** A conversation of an account, as a hash of 32 bits. Two that share one meet the same keys, and nothing else happens. */
export type ConversationHash = number & { readonly [conversation]: true };

/** The style of the API, as in the dialect. */
type Style = Dialect["name"];

const STYLES: Readonly<Record<Style, number>> = { chat: 1, messages: 2 };

/** The header by which a client names its session. */
const SESSION_HEADER = "x-session-id";

/**
 * Returns the conversation of a request: by its `prompt_cache_key`, else by its `x-session-id`, else by what its dialect has
 * read. Returns null for a request without conversation.
 */
export function conversationOf(
  account: AccountId,
  style: Style,
  hint: ConversationHint | undefined,
  headers: HeaderReader,
): ConversationHash | null {
  if (hint === undefined) return null;
  const session = hint.isCacheKey ? null : headers.get(SESSION_HEADER);
  return conversationBy(account, style, session ? hashOfName(session) : hint.hash);
}

/** Returns the conversation that a client names by a `prompt_cache_key` or an `x-session-id`. */
export const conversationNamed = (account: AccountId, style: Style, name: string): ConversationHash =>
  conversationBy(account, style, hashOfName(name));

const conversationBy = (account: AccountId, style: Style, hash: number): ConversationHash =>
  mixed(mixed(Math.imul(account, 4) + STYLES[style]) ^ hash) as ConversationHash;

/** Returns the conversation as one Level sees it, so that a deviation at a Level says nothing of another one. */
export const atLevel = (conversation: ConversationHash, level: number): ConversationHash =>
  mixed(conversation + level) as ConversationHash;

/** Returns the rank of a key for a conversation, a number of 32 bits. */
const rankOf = (conversation: ConversationHash, key: ProviderKeyId): number =>
  mixed(conversation ^ mixed(key));

/**
 * Returns the key of the highest rank for a conversation among those that pass, or null when none does. `preferred` ranks
 * above all others.
 */
export function highestRanked(
  keys: readonly LevelKey[],
  conversation: ConversationHash,
  preferred: ProviderKeyId | null,
  passes: (key: LevelKey) => boolean,
): LevelKey | null {
  let first: LevelKey | null = null;
  let highest = -1;
  for (const key of keys) {
    const rank = key.id === preferred ? Number.POSITIVE_INFINITY : rankOf(conversation, key.id);
    if (rank <= highest || !passes(key)) continue;
    first = key;
    highest = rank;
  }
  return first;
}

/** Returns a number of 32 bits in which each bit depends on each bit of the given one (the finalizer of MurmurHash3). */
function mixed(number: number): number {
  let bits = number | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
