// A messages provider's whole answer as a chat client reads it. What its own tools did, and citations, have no word there.
// Thinking goes under `reasoning_content`, and again as the signed blocks in which the provider wants it back.

import { isObject, type Json } from "../json.ts";
import { finishReasonOf } from "./stop-reasons.ts";
import { argumentsOf } from "./tool-arguments.ts";
import type { AnswerContext } from "./translation.ts";
import { chatUsageOf } from "./usage-translation.ts";

/** The completion, of a body that is a message: see `readMessage`. */
export function chatAnswerOf(message: Json, context: AnswerContext): Json {
  const blocks = Array.isArray(message.content) ? (message.content as unknown[]).filter(isObject) : [];
  const text = joined(blocks, "text");
  const reasoning = joined(blocks, "thinking");
  const thoughts = blocks.filter(({ type }) => type === "thinking" || type === "redacted_thinking");
  const calls = blocks
    .filter(({ type, name }) => type === "tool_use" && typeof name === "string" && name !== "")
    .map((block, nth) => callOf(context, block, nth));
  const chars = calls.reduce(
    (sum, { function: called }) => sum + called.name.length + called.arguments.length,
    text.length + reasoning.length,
  );
  const answer = {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    refusal: null,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(thoughts.length === 0 ? {} : { thinking_blocks: thoughts }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  const finish = finishReasonOf(message.stop_reason, calls.length > 0);
  return {
    ...completionHead(context, "chat.completion"),
    choices: [{ index: 0, message: answer, logprobs: null, finish_reason: finish }],
    usage: chatUsageOf(message.usage, { promptTokens: context.promptTokens, chars }),
  };
}

/** What a completion, or a chunk of one, says of itself. */
export const completionHead = (
  { id, now, model }: AnswerContext,
  object: "chat.completion" | "chat.completion.chunk",
): Json => ({ id: `chatcmpl-${id}`, object, created: Math.floor(now / 1000), model });

/** The id and the name under which a chat client knows a call. `nth`: of the answer's calls, from 0. */
export const callHead = ({ id, toolNames }: AnswerContext, block: Json, nth: number) => {
  const name = String(block.name);
  return {
    id: typeof block.id === "string" && block.id !== "" ? block.id : `call_${id}_${nth}`,
    name: toolNames.get(name) ?? name,
  };
};

const callOf = (context: AnswerContext, block: Json, nth: number) => {
  const { id, name } = callHead(context, block, nth);
  return { id, type: "function", function: { name, arguments: argumentsOf(block.input) } };
};

/** Blocks of one kind hold their words under the kind's own name. */
const joined = (blocks: readonly Json[], kind: "text" | "thinking"): string =>
  blocks.map((block) => (block.type === kind && typeof block[kind] === "string" ? block[kind] : "")).join("");
