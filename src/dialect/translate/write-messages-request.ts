// Writes a request in the messages dialect. Source: provider facts, "Request C→M".

import type { Json } from "../json.ts";
import { isUnmarkedConversation, withCacheMarks } from "./cache-marks.ts";
import { type ConversationTurn, splitLeading, textPart } from "./conversation.ts";
import { definedFields } from "./defined-fields.ts";
import { userName } from "./identifiers.ts";
import { messagesFormat } from "./output-format.ts";
import { outputLimitOf, thinkingOf } from "./reasoning-effort.ts";
import type { RequestWriter, Sampling } from "./request-form.ts";
import { inOrder } from "./tool-result-pairing.ts";
import { blockOf, messagesOf, withPrefill } from "./write-messages.ts";
import { messagesTools } from "./write-messages-tools.ts";

const IDS = { lengthMax: 64, isAnyText: false };
const USER_LENGTH_MAX = 256;

/** Writes messages requests. */
export const MESSAGES_WRITER: RequestWriter = {
  toolNameLengthMax: 128,
  hasDocumentUrls: true,
  write(form, model, promptTokens) {
    const { system, rest } = splitLeading(form.turns);
    const turns = inOrder(rest, {
      ids: IDS,
      lateSystem: model.lateSystem ? "after_user" : "nowhere",
    });
    const tools = messagesTools(form, model);
    const { format, instruction } = messagesFormat(form.format, model);
    const { thinking, effort, maxTokens } = thinkingOf(
      form.effort,
      outputLimitOf(form, model, promptTokens),
      model,
      {
        forced: tools.forced,
        begun: isBegun(turns),
      },
    );
    const output = definedFields({ effort, format });
    const instructions = turns.length === 0 ? [] : system;
    const leading = instruction === null ? instructions : [...instructions, textPart(instruction)];
    const stops = form.stops.filter((stop) => stop.trim() !== "");
    const user = userName(form.user, USER_LENGTH_MAX);
    const prompt = {
      tools: tools.tools,
      system: leading.map(blockOf),
      messages: messagesOf(withPrefill(turns, !model.quirks.has("no_prefill")), system),
    };
    const isMarked = model.cacheMarks && isUnmarkedConversation(form);
    const read = isMarked ? withCacheMarks(prompt) : prompt;
    return definedFields({
      model: model.name,
      max_tokens: maxTokens,
      system: read.system.length === 0 ? null : read.system,
      messages: read.messages,
      stop_sequences: stops.length === 0 ? null : stops,
      ...(thinking === null && !model.quirks.has("no_sampling_params") ? sampling(form.sampling) : {}),
      tools: read.tools.length === 0 ? null : read.tools,
      tool_choice: tools.choice,
      thinking,
      output_config: Object.keys(output).length === 0 ? null : output,
      metadata: user === null ? null : { user_id: user },
      stream: form.stream ? true : null,
    });
  },
};

/**
 * Whether the conversation ends with a partial answer, or with tool results of an answer that does not begin with thinking:
 * Claude refuses to think on where thinking has a budget.
 */
function isBegun(turns: readonly ConversationTurn[]): boolean {
  if (turns.at(-1)?.role === "assistant") return true;
  const index = turns.findLastIndex(({ role }) => role === "assistant");
  const [last, next] = [turns[index], turns[index + 1]];
  if (last?.role !== "assistant" || last.parts[0]?.kind === "thinking") return false;
  return next?.role === "user" && next.results.length > 0;
}

/** Newer models refuse `temperature` together with `top_p`, so only the temperature is kept. */
const sampling = ({ temperature, topP, topK }: Sampling): Json => ({
  temperature: temperature === null ? null : Math.min(temperature, 1),
  top_p: temperature === null ? topP : null,
  top_k: topK,
});
