// Reads messages requests and builds the body for the provider. Pure; unknown fields pass, including beta
// fields.

import { CARRYING_MARK } from "../carrying-mark.ts";
import { messagesHint } from "../conversation-hint.ts";
import type { ModelNaming, ModelRequest, NonTokenUsage, ParsedRequest } from "../dialect.ts";
import { isObject, type Json } from "../json.ts";
import { withModelName } from "../model-alias.ts";
import { NO_NON_TOKEN_USAGE } from "../non-token-usage.ts";
import type { JsonPath, Payload } from "../payload/payload.ts";
import { promptSizeOf, promptTextsOf, type ReadFields } from "../prompt-size.ts";
import { SEARCHES_LIKELY, type TextRequest, textRequest } from "../text-request.ts";
import {
  type FieldRule,
  isPositive,
  MESSAGES_RULE,
  MODEL_RULE,
  NOT_OFFERED,
  neverStreamed,
  RequestRules,
  SERVICE_TIER_RULE,
  STREAM_RULE,
} from "../validation.ts";

const MAX_TOKENS: FieldRule = {
  field: "max_tokens",
  // 0 requests no answer; it warms the provider's cache.
  rule: "must be an integer of at least 0",
  holds: (v) => Number.isSafeInteger(v) && (v as number) >= 0,
};

/**
 * A conversation that the provider stores belongs to the key, which accounts share, so it is refused. On this
 * error code the SDK sends the whole conversation instead.
 */
const KEPT_CONVERSATION = {
  rule: "is not offered here: send the whole conversation in messages",
  errorDetails: { error_code: "thread_unsupported_request" },
} as const;

const KEPT: readonly FieldRule[] = [
  { field: "thread", holds: () => false, ...KEPT_CONVERSATION },
  { field: "previous_message_id", holds: () => false, ...KEPT_CONVERSATION },
  {
    // The provider compares this request with an earlier one, which may belong to another account.
    field: "diagnostics",
    holds: (v) => !isObject(v) || (v.previous_message_id ?? null) === null,
    rule: "must not name a previous_message_id: that is not offered here",
    errorDetails: KEPT_CONVERSATION.errorDetails,
  },
];

/** `max_uses` limits the uses of the provider's own tools, each of which is billed. */
const TOOLS: FieldRule = {
  field: "tools",
  rule: "must have positive integers as max_uses",
  holds: (v) =>
    !Array.isArray(v) ||
    v.filter(isObject).every(({ max_uses: most }) => (most ?? null) === null || isPositive(most)),
};

/** Rules that apply to fields that are present and not null. */
const OPTIONAL: readonly FieldRule[] = [STREAM_RULE, SERVICE_TIER_RULE, TOOLS, ...NOT_OFFERED, ...KEPT];

const RULES = new RequestRules([MODEL_RULE, MESSAGES_RULE, MAX_TOKENS], OPTIONAL);
const COUNT_RULES = new RequestRules(
  [MODEL_RULE, MESSAGES_RULE],
  [...OPTIONAL, neverStreamed("tokens are counted")],
);

const READ: ReadFields = {
  withParts: ["system", "messages"],
  asText: ["tools", "tool_choice", "output_config"],
};

/** Reads a messages request, or returns the refusal of the first rule that it breaks. */
export function parseMessagesRequest(payload: Payload): ParsedRequest {
  const fault = RULES.broken(payload.value);
  if (fault !== null) return fault;
  const { max_tokens, tools } = payload.value as Json;
  const request = requestOf(payload);
  request.maxOutput = max_tokens as number;
  request.measured = searchesIn(tools);
  return { ok: true, request };
}

/** Returns the maximum number of web searches: the sum of the limits of all search tools. */
function searchesIn(tools: unknown): NonTokenUsage {
  if (!Array.isArray(tools)) return NO_NON_TOKEN_USAGE;
  const allowed = (tools as readonly unknown[])
    .filter(isObject)
    .filter(({ type }) => typeof type === "string" && type.startsWith("web_search"))
    .map(({ max_uses: most }) => (typeof most === "number" ? most : SEARCHES_LIKELY));
  return allowed.length === 0 ? NO_NON_TOKEN_USAGE : { webSearches: allowed.reduce((sum, one) => sum + one) };
}

/** Reads a request of the token count. It needs no output limit, because nothing is generated. */
export function parseCountRequest(payload: Payload): ParsedRequest {
  return COUNT_RULES.broken(payload.value) ?? { ok: true, request: requestOf(payload) };
}

/** Files in this dialect are documents, never audio. */
function requestOf(payload: Payload): TextRequest {
  const request = textRequest(payload, promptSizeOf(payload, READ), WITHOUT_AUDIO);
  request.conversation = messagesHint(payload);
  return request;
}

const WITHOUT_AUDIO = { inAudio: false };

/** Returns all texts of the prompt, for counting. */
export const messagesPromptTexts = ({ payload }: ModelRequest): readonly string[] =>
  promptTextsOf(payload, READ);

/** Returns the body for the provider: it names the model as required and omits unsigned thinking. */
export function messagesUpstreamBody(request: ModelRequest, naming: ModelNaming): string | Uint8Array {
  const unsigned = unsignedThoughts(request.payload.value);
  if (unsigned.length === 0) return withModelName(request, naming);
  return withModelName({ payload: request.payload.without(unsigned) }, naming);
}

/**
 * Returns the paths of thinking blocks whose signature is empty or one of ours. Clients received them through a
 * translation from the chat dialect, which has no signatures, and send them back to any provider; a messages provider
 * refuses them. A turn without other content is returned whole, as it would be empty.
 */
export function unsignedThoughts(body: unknown): JsonPath[] {
  const messages: unknown = isObject(body) ? body.messages : null;
  const found: JsonPath[] = [];
  if (!Array.isArray(messages)) return found;
  for (let m = 0; m < messages.length; m++) {
    const message: unknown = messages[m];
    if (!isObject(message) || message.role !== "assistant" || !Array.isArray(message.content)) continue;
    const content: readonly unknown[] = message.content;
    if (content.length > 0 && content.every(isUnsigned)) {
      found.push(["messages", m]);
      continue;
    }
    for (let b = 0; b < content.length; b++) {
      if (isUnsigned(content[b])) found.push(["messages", m, "content", b]);
    }
  }
  return found;
}

const isUnsigned = (block: unknown): boolean =>
  isObject(block) &&
  block.type === "thinking" &&
  (block.signature === "" ||
    (typeof block.signature === "string" && block.signature.startsWith(CARRYING_MARK)));
