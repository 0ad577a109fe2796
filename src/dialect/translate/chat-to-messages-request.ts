// A chat request as a provider of the messages dialect reads it. Fields that the messages dialect has no word for are
// dropped; what would change the question or the answer's form if it were lost is refused. Source: provider facts,
// "Request C→M".

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

/** The request of a chat client for a model behind a messages provider, or why that provider cannot be asked. */
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
  const asked = turns.length === 0 ? [] : system;
  const leading = instruction === null ? asked : [...asked, textPart(instruction)];
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

/** Whether the answer is begun, or the thinking is gone that led to the results which end the conversation. */
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

/** Newer models refuse a temperature beside `top_p`: the temperature says more. */
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
