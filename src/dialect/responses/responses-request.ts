// Reads responses requests. Pure; unknown fields pass unchanged.

import { responsesHint } from "../conversation-hint.ts";
import type { ModelNaming, ModelRequest, ParsedRequest } from "../dialect.ts";
import { isObject } from "../json.ts";
import { withModelName } from "../model-alias.ts";
import type { JsonPath, Payload } from "../payload/payload.ts";
import { promptSizeOf, promptTextsOf, type ReadFields } from "../prompt-size.ts";
import { SEARCHES_LIKELY, textRequest } from "../text-request.ts";
import {
  type FieldRule,
  MODEL_RULE,
  NOT_OFFERED,
  positive,
  RequestRules,
  SERVICE_TIER_RULE,
  STREAM_OPTIONS_RULE,
  STREAM_RULE,
} from "../validation.ts";
import { isCarrying, isReference, isStoredReasoning } from "./responses-objects.ts";

const isId = (value: unknown): boolean => typeof value === "string" && value !== "";

const INPUT: FieldRule = {
  field: "input",
  rule: "must be a string or an array of objects, and an item_reference must have a string id",
  holds: (v) => typeof v === "string" || (Array.isArray(v) && v.every(isItem)),
};

const isItem = (item: unknown): boolean => isObject(item) && (!isReference(item) || isId(item.id));

/**
 * Rules that apply to fields that are present and not null. Ids must be valid, because they are looked up
 * first.
 */
const OPTIONAL: readonly FieldRule[] = [
  INPUT,
  STREAM_RULE,
  STREAM_OPTIONS_RULE,
  positive("max_output_tokens"),
  positive("max_tool_calls"),
  { field: "previous_response_id", rule: "must be a non-empty string", holds: isId },
  {
    field: "conversation",
    rule: "must be a non-empty string or an object with a string id",
    holds: (v) => isId(v) || (isObject(v) && isId(v.id)),
  },
  SERVICE_TIER_RULE,
  ...NOT_OFFERED,
];

/** Each of these fields can replace the input. */
const INSTEAD = ["previous_response_id", "conversation", "prompt"] as const;

const RULES = new RequestRules([MODEL_RULE], OPTIONAL);
const RULES_WITH_INPUT = new RequestRules([MODEL_RULE, INPUT], OPTIONAL);

const READ: ReadFields = {
  withParts: ["instructions", "input", "prompt"],
  asText: ["tools", "tool_choice", "text"],
};

/** Reads a responses request, or returns the refusal of the first rule that it breaks. */
export function parseResponsesRequest(payload: Payload): ParsedRequest {
  const given = isObject(payload.value) ? payload.value : {};
  const needsInput = INSTEAD.every((field) => (given[field] ?? null) === null);
  const fault = (needsInput ? RULES_WITH_INPUT : RULES).broken(payload.value);
  if (fault !== null) return fault;
  const tools = typesOf(given.tools);
  const outImage = tools.some((type) => type.startsWith("image_generation"));
  const searches = tools.some((type) => type.startsWith("web_search"));
  const calls = typeof given.max_tool_calls === "number" ? given.max_tool_calls : SEARCHES_LIKELY;
  return {
    ok: true,
    request: {
      ...textRequest(payload, promptSizeOf(payload, READ), { outImage }),
      maxOutput: typeof given.max_output_tokens === "number" ? given.max_output_tokens : null,
      measured: searches ? { webSearches: calls } : {},
      conversation: responsesHint(payload),
    },
  };
}

/** Returns the body for a provider of this style, without the reasoning items that translated answers made. */
export function responsesUpstreamBody(request: ModelRequest, naming: ModelNaming): string | Uint8Array {
  const carrying = carryingItems(request.payload.value);
  if (carrying.length === 0) return withModelName(request, naming);
  return withModelName({ payload: request.payload.without(carrying) }, naming);
}

/** Returns the payload without the reasoning items whose content a provider has encrypted, for its organization alone. */
export const withoutReasoning = (payload: Payload): Payload =>
  payload.without(itemsThat((item) => isEncrypted(item) || isStoredReasoning(item), payload.value));

const isEncrypted = (item: unknown): boolean =>
  isObject(item) && item.type === "reasoning" && typeof item.encrypted_content === "string";

/** Returns the paths of the input items that hold the thinking of a provider of another style. */
export const carryingItems = (body: unknown): JsonPath[] => itemsThat(isCarrying, body);

function itemsThat(isMeant: (item: unknown) => boolean, body: unknown): JsonPath[] {
  const input: unknown = isObject(body) ? body.input : null;
  const found: JsonPath[] = [];
  if (!Array.isArray(input)) return found;
  for (let i = 0; i < input.length; i++) if (isMeant(input[i])) found.push(["input", i]);
  return found;
}

const typesOf = (tools: unknown): string[] =>
  (Array.isArray(tools) ? tools : [])
    .map((tool: unknown) => (isObject(tool) ? tool.type : null))
    .filter((type) => typeof type === "string");

/** Returns all texts of the prompt, for counting. */
export const responsesPromptTexts = ({ payload }: ModelRequest): readonly string[] =>
  promptTextsOf(payload, READ);
