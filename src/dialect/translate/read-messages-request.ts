// Reads a messages request for a provider of another style. Fields without an equivalent are dropped, but a request is
// refused if that would change the question. Source: provider facts, "Request M→C".

import { isObject, type Json } from "../json.ts";
import { isCount } from "./defined-fields.ts";
import { samplingOf } from "./read-chat-request.ts";
import { turnsOfMessages } from "./read-messages-conversation.ts";
import { toolsOfMessages } from "./read-messages-tools.ts";
import { effortIn, effortOfBudget } from "./reasoning-effort.ts";
import type { FormatForm, RequestReader } from "./request-form.ts";
import type { Effort } from "./translation.ts";

/** Reads a validated messages request. */
export const readMessagesRequest: RequestReader = (body, context) => {
  const { names, refusals } = context;
  const { max_tokens: limit, stop_sequences: stops } = body;
  return {
    turns: turnsOfMessages(body, context),
    outputLimit: isCount(limit) ? limit : null,
    outputDefault: "usual",
    stops: (Array.isArray(stops) ? (stops as unknown[]) : []).filter(
      (stop): stop is string => typeof stop === "string" && stop !== "",
    ),
    sampling: samplingOf(body),
    ...toolsOfMessages(body, names, refusals),
    effort: effortOf(body),
    format: formatOf(body),
    verbosity: null,
    user: isObject(body.metadata) ? body.metadata.user_id : undefined,
    cacheKey: null,
    stream: body.stream === true,
  };
};

function effortOf(body: Json): Effort | null {
  const thinking = isObject(body.thinking) ? body.thinking : {};
  if (thinking.type === "disabled") return "none";
  const stated = effortIn(isObject(body.output_config) ? body.output_config.effort : undefined);
  if (stated !== null) return stated;
  const { budget_tokens: budget } = thinking;
  return thinking.type === "enabled" && typeof budget === "number" ? effortOfBudget(budget) : null;
}

/** Reads `output_config.format` or its earlier name `output_format`. */
function formatOf(body: Json): FormatForm {
  const config = isObject(body.output_config) ? body.output_config : {};
  const format = config.format ?? body.output_format;
  if (!isObject(format) || format.type !== "json_schema" || !isObject(format.schema)) return { kind: "text" };
  return { kind: "schema", schema: format.schema, name: "response", description: null, strict: true };
}
