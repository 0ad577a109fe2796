// Reads a chat request for a provider of another style. Fields without an equivalent are dropped, but a request is
// refused if that would change the question or the form of the answer. Source: provider facts, "Request C→M".

import { isObject, type Json } from "../json.ts";
import { isCount, isFigure } from "./defined-fields.ts";
import { turnsOfChat } from "./read-chat-conversation.ts";
import { toolsOfChat } from "./read-chat-tools.ts";
import { effortIn } from "./reasoning-effort.ts";
import type { FormatForm, RequestReader } from "./request-form.ts";

/** Reads a validated chat request. */
export const readChatRequest: RequestReader = (body, { names, refusals }) => {
  if (isFigure(body.n) && body.n > 1) refusals.add("n", "must be 1: this model's provider gives one answer");
  const limit = body.max_completion_tokens ?? body.max_tokens;
  const stops: readonly unknown[] = Array.isArray(body.stop) ? body.stop : [body.stop];
  return {
    turns: turnsOfChat(body.messages, names, refusals),
    outputLimit: isCount(limit) && limit > 0 ? limit : null,
    outputDefault: "usual",
    stops: stops.filter((stop): stop is string => typeof stop === "string"),
    sampling: samplingOf(body),
    ...toolsOfChat(body, names, refusals),
    effort: effortIn(body.reasoning_effort),
    format: formatOf(body.response_format),
    verbosity: null,
    user: body.user ?? body.safety_identifier,
    cacheKey: cacheKeyOf(body),
    stream: body.stream === true,
  };
};

/** Returns the hint by which prompts meet the same cache, which both styles that have it name alike. */
export const cacheKeyOf = ({ prompt_cache_key: key }: Json): string | null =>
  typeof key === "string" && key !== "" ? key : null;

/** Returns the sampling parameters, which all styles name alike. */
export const samplingOf = ({ temperature, top_p, top_k }: Json) => ({
  temperature: isFigure(temperature) ? temperature : null,
  topP: isFigure(top_p) ? top_p : null,
  topK: isFigure(top_k) ? top_k : null,
});

function formatOf(format: unknown): FormatForm {
  if (!isObject(format)) return { kind: "text" };
  if (format.type === "json_object") return { kind: "object" };
  return format.type === "json_schema" && isObject(format.json_schema)
    ? schemaFormat(format.json_schema)
    : { kind: "text" };
}

/** Returns the format of a named schema. Without a schema any object is valid. */
export function schemaFormat({ schema, name, description, strict }: Json): FormatForm {
  if (!isObject(schema)) return { kind: "object" };
  return {
    kind: "schema",
    schema,
    name: typeof name === "string" && name !== "" ? name : "response",
    description: typeof description === "string" ? description : null,
    strict: strict === true,
  };
}
