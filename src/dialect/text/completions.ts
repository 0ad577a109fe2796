// Reads requests of the legacy completions dialect, the style of /v1/completions. Its answers and streams
// have the form of the chat dialect, except that a choice has a `text`, so they are read there. Unknown
// fields pass.

import { readChatAnswer, withFingerprint } from "../chat/chat-answer.ts";
import { numberOr, upstreamBody, wantsUsage } from "../chat/chat-request.ts";
import { CHAT_DONE, chatStreamError, createChatStream } from "../chat/chat-stream.ts";
import { promptHint } from "../conversation-hint.ts";
import type { Dialect, ParsedRequest } from "../dialect.ts";
import type { Json } from "../json.ts";
import type { Payload } from "../payload/payload.ts";
import { promptSizeOf, promptTextsOf, type ReadFields } from "../prompt-size.ts";
import { textRequest } from "../text-request.ts";
import {
  type FieldRule,
  MODEL_RULE,
  NOT_OFFERED,
  RequestRules,
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
    // 0 requests the probabilities of the prompt.
    rule: "must be an integer of at least 0",
    holds: (v) => Number.isSafeInteger(v) && (v as number) >= 0,
  },
  SERVICE_TIER_RULE,
  ...NOT_OFFERED,
];

const RULES = new RequestRules([MODEL_RULE, inputs("prompt")], OPTIONAL);

const READ: ReadFields = { withParts: ["prompt", "suffix"] };

/** The hosts' output limit in tokens for a client that sets none. */
const MAX_TOKENS = 16;

function parse(payload: Payload): ParsedRequest {
  const fault = RULES.broken(payload.value);
  if (fault !== null) return fault;
  const body = payload.value as Json;
  const { count, tokens } = inputsOf(body.prompt)!;
  return {
    ok: true,
    request: {
      ...textRequest(payload, promptSizeOf(payload, READ)),
      // For each prompt a host generates `best_of` choices and returns the best `n`.
      n: count * Math.max(numberOr(body.n, 1), numberOr(body.best_of, 1)),
      maxOutput: numberOr(body.max_tokens, MAX_TOKENS),
      includeUsage: wantsUsage(body),
      inputs: count,
      conversation: promptHint(payload),
      ...(tokens === null ? {} : { promptTokens: tokens }),
    },
  };
}

/** The dialect of `/v1/completions`. */
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
