// Translates a chat request for a provider of the messages dialect. Fields without an equivalent are dropped,
// but a request is refused if that would change the question or the form of the answer. Source: provider
// facts, "Request C→M".

import type { Json } from "../json.ts";
import { type ConversationTurn, splitLeading, textPart } from "./conversation.ts";
import { isCount, isFigure, written } from "./defined-fields.ts";
import { createToolNames, userName } from "./identifiers.ts";
import { messagesTools } from "./messages-tools.ts";
import { messagesFormat } from "./output-format.ts";
import { turnsOfChat } from "./read-chat-conversation.ts";
import { thinkingOf } from "./reasoning-effort.ts";
import { inOrder } from "./tool-result-pairing.ts";
import type { ModelFacts, TranslatedRequest } from "./translation.ts";
import { createRefusals } from "./translation-errors.ts";
import { blockOf, messagesOf, withPrefill } from "./write-messages.ts";

const NAME_LENGTH_MAX = 128;
const ID_LENGTH_MAX = 64;
const USER_LENGTH_MAX = 256;

/**
 * Translates a chat request, or returns why it cannot be translated. `body` must be a validated chat request.
 */
export function messagesRequestOf(body: Json, model: ModelFacts): TranslatedRequest {
  const refusals = createRefusals();
  if (isFigure(body.n) && body.n > 1) refusals.add("n", "must be 1: this model's provider gives one answer");
  const names = createToolNames(NAME_LENGTH_MAX);
  const { system, rest } = splitLeading(turnsOfChat(body.messages, names, refusals));
  const turns = inOrder(rest, {
    idLengthMax: ID_LENGTH_MAX,
    lateSystem: model.lateSystem ? "after_user" : "nowhere",
  });
  const tools = messagesTools(body, !model.quirks.has("no_forced_tool_choice"), names, refusals);
  const { format, instruction } = messagesFormat(body, model);
  const { thinking, effort, maxTokens } = thinkingOf(body.reasoning_effort, limitOf(body), model, {
    forced: tools.forced,
    begun: isBegun(turns),
  });
  const output = written({ effort, format });
  const instructions = turns.length === 0 ? [] : system;
  const leading = instruction === null ? instructions : [...instructions, textPart(instruction)];
  const sent = written({
    model: model.name,
    max_tokens: maxTokens,
    system: leading.length === 0 ? null : leading.map(blockOf),
    messages: messagesOf(withPrefill(turns, !model.quirks.has("no_prefill")), system),
    stop_sequences: stopsOf(body.stop),
    ...(thinking === null && !model.quirks.has("no_sampling_params") ? sampling(body) : {}),
    ...tools.fields,
    thinking,
    output_config: Object.keys(output).length === 0 ? null : output,
    metadata: userOf(body),
    stream: body.stream === true ? true : null,
  });
  return refusals.first === null
    ? { ok: true, body: sent, toolNames: names.renamed }
    : { ok: false, refusal: refusals.first };
}

function limitOf(body: Json): number | null {
  const limit = body.max_completion_tokens ?? body.max_tokens;
  return isCount(limit) && limit > 0 ? limit : null;
}

/** Whether the conversation ends with a partial answer, or with tool results whose thinking is missing. */
function isBegun(turns: readonly ConversationTurn[]): boolean {
  if (turns.at(-1)?.role === "assistant") return true;
  const index = turns.findLastIndex(({ role }) => role === "assistant");
  const [last, next] = [turns[index], turns[index + 1]];
  if (last?.role !== "assistant" || last.thoughts.length > 0) return false;
  return next?.role === "user" && next.results.length > 0;
}

function stopsOf(stop: unknown): readonly string[] | null {
  const given: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  const stops = given.filter((one): one is string => typeof one === "string" && one.trim() !== "");
  return stops.length === 0 ? null : stops;
}

/** Newer models refuse `temperature` together with `top_p`, so only the temperature is kept. */
function sampling({ temperature, top_p, top_k }: Json): Json {
  return {
    temperature: isFigure(temperature) ? Math.min(temperature, 1) : null,
    top_p: isFigure(top_p) && !isFigure(temperature) ? top_p : null,
    top_k: isFigure(top_k) ? top_k : null,
  };
}

function userOf({ user, safety_identifier: safe }: Json): Json | null {
  const name = userName(user ?? safe, USER_LENGTH_MAX);
  return name === null ? null : { user_id: name };
}
