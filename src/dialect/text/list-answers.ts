// The common parts of the dialects that generate nothing: embeddings, rerank and moderations. Their answers
// are lists, never streamed, and pass unchanged.

import { CHAT_DONE, chatStreamError, createChatStream } from "../chat/chat-stream.ts";
import type { Dialect, NonTokenUsage, WholeAnswer, WholeBody } from "../dialect.ts";
import { statesError } from "../error-body.ts";
import { isObject, type Json, parseJson } from "../json.ts";
import { withModelName } from "../model-alias.ts";

/**
 * Members that these dialects share. Those for streams are never used, because a request for a stream is
 * refused.
 */
export const inOneAnswer = {
  name: "chat",
  upstreamBody: withModelName,
  withFingerprint: (text: string) => text,
  stream: createChatStream,
  closing: CHAT_DONE,
  streamError: chatStreamError,
} as const satisfies Partial<Dialect>;

/** Returns a reader of answers that hold a list in one of these fields. Their `texts` are empty. */
export const readListed =
  (lists: readonly string[], measured: NonTokenUsage = {}) =>
  ({ text }: Pick<WholeBody, "text">): WholeAnswer => {
    const body = parseJson(text);
    if (body === undefined) return { ok: false, fault: "server_error" };
    if (!isObject(body) || statesError(body) || !lists.some((list) => Array.isArray(body[list]))) {
      return { ok: false, fault: "error_body" };
    }
    return { ok: true, body, usage: figuresOf(body), serviceTier: null, texts: [], measured };
  };

/** Combines `usage` and `meta`, since hosts report usage in either or in both. */
function figuresOf({ usage, meta }: Json): unknown {
  if (!isObject(meta)) return usage ?? null;
  return isObject(usage) ? { ...meta, ...usage } : meta;
}

/** Kinds of token that these requests cannot have. */
export const READ_ONCE = { inCached: false, inCacheWrite: false } as const;
