// Writes a request in the chat dialect. Source: provider facts, "Request M→C".

import type { Json } from "../json.ts";
import { splitLeading, textPart } from "./conversation.ts";
import { definedFields } from "./defined-fields.ts";
import { userName } from "./identifiers.ts";
import { chatFormat } from "./output-format.ts";
import { nearest } from "./reasoning-effort.ts";
import {
  objectSchema,
  offeredTools,
  type RequestForm,
  type RequestWriter,
  type Sampling,
  type ToolForm,
} from "./request-form.ts";
import { inOrder } from "./tool-result-pairing.ts";
import type { ModelFacts } from "./translation.ts";
import { chatMessages } from "./write-chat-messages.ts";

/** Hosts make ids of their own form, and some read it again, so they get back what they sent. */
const IDS = { lengthMax: 40, isAnyText: true };
const USER_LENGTH_MAX = 64;
const STOPS_MAX = 4;

/** Writes chat requests. */
export const CHAT_WRITER: RequestWriter = {
  toolNameLengthMax: 64,
  hasDocumentUrls: false,
  write(form, model) {
    const { system, rest } = splitLeading(form.turns);
    const turns = inOrder(rest, {
      ids: IDS,
      lateSystem: model.lateSystem ? "anywhere" : "nowhere",
    });
    const { format, instruction } = chatFormat(form.format, model);
    const leading = instruction === null ? system : [...system, textPart(instruction)];
    return definedFields({
      model: model.name,
      messages: chatMessages(leading, turns, model),
      ...limits(form, model),
      ...sampling(form.sampling, model),
      ...toolsOf(form),
      reasoning_effort: form.effort === null ? null : nearest(form.effort, model),
      response_format: format,
      verbosity: model.verbosity ? form.verbosity : null,
      user: userName(form.user, USER_LENGTH_MAX),
      prompt_cache_key: model.cacheKey ? form.cacheKey : null,
      // Many providers report the usage of a stream only on request.
      ...(form.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    });
  },
};

function limits({ outputLimit, stops }: RequestForm, { reasoning, maxOutputTokens }: ModelFacts): Json {
  // A limit of 0 warms the cache, which this dialect cannot express; its smallest limit is one token.
  const limit =
    outputLimit === null
      ? null
      : Math.max(1, maxOutputTokens > 0 ? Math.min(outputLimit, maxOutputTokens) : outputLimit);
  return {
    [reasoning ? "max_completion_tokens" : "max_tokens"]: limit,
    stop: reasoning || stops.length === 0 ? null : stops.slice(0, STOPS_MAX),
  };
}

function sampling(
  { temperature, topP, topK: most }: Sampling,
  { reasoning, quirks, topK }: ModelFacts,
): Json {
  if (reasoning || quirks.has("no_sampling_params")) return {};
  return { temperature, top_p: topP, top_k: topK ? most : null };
}

/** Returns `tools`, `tool_choice` and `parallel_tool_calls` of a chat request, or no field without tools. */
function toolsOf(form: RequestForm): Json {
  const offered = offeredTools(form, true);
  if (offered === null) return {};
  const { mode, tools, name } = offered;
  return {
    tools: tools.map(functionOf),
    ...(mode === null
      ? {}
      : { tool_choice: mode === "tool" ? { type: "function", function: { name } } : mode }),
    ...(form.isParallel ? {} : { parallel_tool_calls: false }),
  };
}

const functionOf = ({ name, description, schema, strict }: ToolForm): Json => ({
  type: "function",
  function: {
    name,
    ...(description === null ? {} : { description }),
    parameters: objectSchema(schema),
    ...(strict ? { strict: true } : {}),
  },
});
