// Translates a messages request for a provider of the chat dialect. Fields without an equivalent are dropped,
// but a request is refused if that would change the question. Source: provider facts, "Request M→C".

import { isObject, type Json } from "../json.ts";
import { chatTools } from "./chat-tools.ts";
import { splitLeading, textPart } from "./conversation.ts";
import { isCount, isFigure, written } from "./defined-fields.ts";
import { createToolNames, userName } from "./identifiers.ts";
import { chatFormat } from "./output-format.ts";
import { turnsOfMessages } from "./read-messages-conversation.ts";
import { effortOf } from "./reasoning-effort.ts";
import { inOrder } from "./tool-result-pairing.ts";
import type { ModelFacts, TranslatedRequest } from "./translation.ts";
import { createRefusals } from "./translation-errors.ts";
import { chatMessages } from "./write-chat-messages.ts";

const NAME_LENGTH_MAX = 64;
const ID_LENGTH_MAX = 40;
const USER_LENGTH_MAX = 64;
const STOPS_MAX = 4;

/**
 * Translates a messages request, or returns why it cannot be translated. `body` must be a validated messages
 * request.
 */
export function chatRequestOf(body: Json, model: ModelFacts): TranslatedRequest {
  const refusals = createRefusals();
  const names = createToolNames(NAME_LENGTH_MAX);
  const { system, rest } = splitLeading(turnsOfMessages(body, names, refusals));
  const turns = inOrder(rest, {
    idLengthMax: ID_LENGTH_MAX,
    lateSystem: model.lateSystem ? "anywhere" : "nowhere",
  });
  const { format, instruction } = chatFormat(body, model);
  const leading = instruction === null ? system : [...system, textPart(instruction)];
  const sent = written({
    model: model.name,
    messages: chatMessages(leading, turns, model.readsReasoning),
    ...limits(body, model),
    ...sampling(body, model),
    ...chatTools(body, names, refusals),
    reasoning_effort: effortOf(body, model),
    response_format: format,
    user: userName(isObject(body.metadata) ? body.metadata.user_id : undefined, USER_LENGTH_MAX),
    // Many providers report the usage of a stream only on request.
    ...(body.stream === true ? { stream: true, stream_options: { include_usage: true } } : {}),
  });
  return refusals.first === null
    ? { ok: true, body: sent, toolNames: names.renamed }
    : { ok: false, refusal: refusals.first };
}

function limits(body: Json, { reasoning, maxOutputTokens }: ModelFacts): Json {
  const { max_tokens: maxTokens } = body;
  const stops = (Array.isArray(body.stop_sequences) ? body.stop_sequences : []).filter(
    (stop: unknown) => typeof stop === "string" && stop !== "",
  );
  // A limit of 0 warms the cache, which this dialect cannot express; its smallest limit is one token.
  const limit = !isCount(maxTokens)
    ? undefined
    : Math.max(1, maxOutputTokens > 0 ? Math.min(maxTokens, maxOutputTokens) : maxTokens);
  return {
    [reasoning ? "max_completion_tokens" : "max_tokens"]: limit,
    stop: reasoning || stops.length === 0 ? undefined : stops.slice(0, STOPS_MAX),
  };
}

function sampling(body: Json, { reasoning, quirks, topK }: ModelFacts): Json {
  if (reasoning || quirks.has("no_sampling_params")) return {};
  const { temperature, top_p, top_k } = body;
  return {
    temperature: isFigure(temperature) ? temperature : undefined,
    top_p: isFigure(top_p) ? top_p : undefined,
    top_k: topK && isFigure(top_k) ? top_k : undefined,
  };
}
