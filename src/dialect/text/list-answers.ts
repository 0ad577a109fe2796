// What the dialects have in common that only read: embeddings, rerank, moderations. Their answers are lists, never streamed,
// and pass as they came.

import { CHAT_DONE, chatStreamError, createChatStream } from "../chat/chat-stream.ts";
import type { Dialect, NonTokenUsage, WholeAnswer, WholeBody } from "../dialect.ts";
import { statesError } from "../error-body.ts";
import { isObject, type Json, parseJson } from "../json.ts";
import { withModelName } from "../model-alias.ts";

/** Nobody asks these dialects for a stream: a request for one is refused. */
export const inOneAnswer = {
  name: "chat",
  upstreamBody: withModelName,
  withFingerprint: (text: string) => text,
  stream: createChatStream,
  closing: CHAT_DONE,
  streamError: chatStreamError,
} as const satisfies Partial<Dialect>;

/** A reader of answers that hold a list under one of these names. Nothing is generated: there is no text in them. */
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

/** Some hosts say what was used in `usage`, some in `meta`, some one thing here and another there. */
function figuresOf({ usage, meta }: Json): unknown {
  if (!isObject(meta)) return usage ?? null;
  return isObject(usage) ? { ...meta, ...usage } : meta;
}

/** Kinds of token that a text which is only read never has. */
export const READ_ONCE = { inCached: false, inCacheWrite: false } as const;
