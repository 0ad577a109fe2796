// Reads chat requests and builds the body for the provider. Pure; unknown fields pass unchanged.

import { chatHint } from "../conversation-hint.ts";
import type { ModelNaming, ModelRequest, ParsedRequest } from "../dialect.ts";
import { isObject, type Json } from "../json.ts";
import { withModelName } from "../model-alias.ts";
import type { Payload } from "../payload/payload.ts";
import { promptSizeOf, promptTextsOf, type ReadFields } from "../prompt-size.ts";
import { textRequest } from "../text-request.ts";
import {
  type FieldRule,
  MESSAGES_RULE,
  MODEL_RULE,
  NOT_OFFERED,
  positive,
  RequestRules,
  SERVICE_TIER_RULE,
  STREAM_OPTIONS_RULE,
  STREAM_RULE,
  upTo128,
} from "../validation.ts";

/** Rules that apply to fields that are present and not null. */
const OPTIONAL: readonly FieldRule[] = [
  STREAM_RULE,
  STREAM_OPTIONS_RULE,
  upTo128("n"),
  upTo128("best_of"),
  positive("max_tokens"),
  positive("max_completion_tokens"),
  SERVICE_TIER_RULE,
  ...NOT_OFFERED,
];

const RULES = new RequestRules([MODEL_RULE, MESSAGES_RULE], OPTIONAL);

const READ: ReadFields = {
  withParts: ["messages"],
  asText: ["tools", "functions", "response_format", "prediction", "tool_choice"],
};

/** Reads a chat request, or returns the refusal of the first rule that it breaks. */
export function parseChatRequest(payload: Payload): ParsedRequest {
  const fault = RULES.broken(payload.value);
  if (fault !== null) return fault;
  const body = payload.value as Json;
  const isSpoken = Array.isArray(body.modalities) && body.modalities.includes("audio");
  const request = textRequest(payload, promptSizeOf(payload, READ), isSpoken ? SPOKEN : undefined);
  // Some hosts generate `best_of` choices and return the best `n`.
  request.n = Math.max(numberOr(body.n, 1), numberOr(body.best_of, 1));
  const limit = Math.max(numberOr(body.max_tokens, -1), numberOr(body.max_completion_tokens, -1));
  request.maxOutput = limit === -1 ? null : limit;
  request.includeUsage = wantsUsage(body);
  request.conversation = chatHint(payload);
  return { ok: true, request };
}

const SPOKEN = { outAudio: true };

/** Returns a number, or `otherwise` if the value is none. */
export const numberOr = (value: unknown, otherwise: number): number =>
  typeof value === "number" ? value : otherwise;

/** Whether the client requests the chunk with the usage. */
export const wantsUsage = (body: Json): boolean =>
  isObject(body.stream_options) && body.stream_options.include_usage === true;

/** Returns all texts of the prompt, for counting. */
export const promptTexts = ({ payload }: ModelRequest): readonly string[] => promptTextsOf(payload, READ);

/**
 * Returns the body for the provider: it names the model as required, and requests the usage chunk of every
 * stream.
 */
export function upstreamBody(request: ModelRequest, naming: ModelNaming): string | Uint8Array {
  const { stream_options: options } = request.payload.value as Json;
  if (!request.stream) return withModelName(request, naming);
  const asking = { ...(isObject(options) ? options : {}), include_usage: true };
  return withModelName(request, naming, { stream_options: asking });
}
