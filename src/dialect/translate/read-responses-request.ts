// Reads a responses request for a provider of another style. Fields without an equivalent are dropped, but a request is
// refused if that would change the question, or what the client could ask for afterwards. Source: provider facts,
// "Responses API".

import { isObject, type Json } from "../json.ts";
import { isCount } from "./defined-fields.ts";
import { cacheKeyOf, samplingOf, schemaFormat } from "./read-chat-request.ts";
import { turnsOfResponses } from "./read-responses-conversation.ts";
import { toolsOfResponses } from "./read-responses-tools.ts";
import { effortIn } from "./reasoning-effort.ts";
import type { FormatForm, RequestReader } from "./request-form.ts";
import type { Refusals } from "./translation-errors.ts";

/** Reads a validated responses request. */
export const readResponsesRequest: RequestReader = (body, context) => {
  const { names, refusals } = context;
  refuseKept(body, refusals);
  const { max_output_tokens: limit } = body;
  const text = isObject(body.text) ? body.text : {};
  return {
    turns: turnsOfResponses(body, context),
    outputLimit: isCount(limit) && limit > 0 ? limit : null,
    outputDefault: "longest",
    stops: [],
    sampling: { ...samplingOf(body), topK: null },
    ...toolsOfResponses(body, names, refusals),
    effort: effortIn(isObject(body.reasoning) ? body.reasoning.effort : undefined),
    format: formatOf(text.format),
    verbosity: typeof text.verbosity === "string" ? text.verbosity : null,
    user: body.safety_identifier ?? body.user,
    cacheKey: cacheKeyOf(body),
    stream: body.stream === true,
  };
};

/** Fields that name what a provider keeps. */
const KEPT = ["previous_response_id", "conversation"] as const;

/** Refuses what needs a provider that keeps responses. */
function refuseKept(body: Json, refusals: Refusals): void {
  for (const field of KEPT) {
    if ((body[field] ?? null) === null) continue;
    const rule = "refers to what this model's provider does not keep: send the conversation as input instead";
    refusals.add(field, rule, "previous_response_not_found");
  }
  if (body.store === true) {
    refusals.add("store", "must not be true: this model's provider keeps no responses. Leave it out");
  }
  if (body.background === true) refusals.add("background", "must not be true: it is not offered here");
  if ((body.prompt ?? null) !== null) {
    refusals.add("prompt", "names a prompt that this model's provider does not have: send its text as input");
  }
}

function formatOf(format: unknown): FormatForm {
  if (!isObject(format)) return { kind: "text" };
  if (format.type === "json_object") return { kind: "object" };
  return format.type === "json_schema" ? schemaFormat(format) : { kind: "text" };
}
