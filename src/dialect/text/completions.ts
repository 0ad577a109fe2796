// The completions dialect: the style of /v1/completions, older than messages. It is answered, whole and streamed, in the chat
// dialect's forms, but that a choice says `text`; only what it asks for is read here. Unknown fields pass.

import { readChatAnswer, withFingerprint } from "../chat/chat-answer.ts";
import { upstreamBody, wantsUsage } from "../chat/chat-request.ts";
import { CHAT_DONE, chatStreamError, createChatStream } from "../chat/chat-stream.ts";
import type { Dialect, ParsedRequest } from "../dialect.ts";
import type { Json } from "../json.ts";
import type { Payload } from "../payload/payload.ts";
import { promptSizeOf, promptTextsOf, type ReadFields } from "../prompt-size.ts";
import { textRequest } from "../text-request.ts";
import {
  broken,
  type FieldRule,
  MODEL_RULE,
  NOT_OFFERED,
  SERVICE_TIER_RULE,
  STREAM_OPTIONS_RULE,
  STREAM_RULE,
  upTo128,
} from "../validation.ts";
import { inputs, inputsOf } from "./inputs.ts";

const OPTIONAL: readonly FieldRule[] = [
  STREAM_RULE,
  STREAM_OPTIONS_RULE,
  upTo128("n"),
  upTo128("best_of"),
  {
    field: "max_tokens",
    // 0 asks for the prompt's own probabilities.
    rule: "must be an integer of at least 0",
    holds: (v) => Number.isSafeInteger(v) && (v as number) >= 0,
  },
  SERVICE_TIER_RULE,
  ...NOT_OFFERED,
];

const READ: ReadFields = { withParts: ["prompt", "suffix"] };

/** What hosts generate at most for a client that sets no limit. */
const MAX_TOKENS = 16;

function parse(payload: Payload): ParsedRequest {
  const fault = broken(payload.value, [MODEL_RULE, inputs("prompt")], OPTIONAL);
  if (fault !== null) return fault;
  const body = payload.value as Json;
  const { count, tokens } = inputsOf(body.prompt)!;
  return {
    ok: true,
    request: {
      ...textRequest(payload, promptSizeOf(payload, READ)),
      // Of each prompt `best_of` are generated, and the best `n` of them given back.
      n: count * Math.max(numberOr(body.n, 1), numberOr(body.best_of, 1)),
      maxOutput: numberOr(body.max_tokens, MAX_TOKENS),
      includeUsage: wantsUsage(body),
      inputs: count,
      ...(tokens === null ? {} : { promptTokens: tokens }),
    },
  };
}

const numberOr = (value: unknown, otherwise: number): number =>
  typeof value === "number" ? value : otherwise;

export const completions: Dialect = {
  name: "chat",
  usage: "chat",
  parse,
  promptTexts: ({ payload }) => promptTextsOf(payload, READ),
  upstreamBody,
  readAnswer: readChatAnswer,
  withFingerprint,
  stream: createChatStream,
  closing: CHAT_DONE,
  streamError: chatStreamError,
};
