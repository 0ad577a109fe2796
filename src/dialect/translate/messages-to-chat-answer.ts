// Translates a messages provider's whole answer for a chat client. Citations and uses of the provider's own
// tools have no equivalent and are dropped. Thinking becomes `reasoning_content`, and also the signed blocks
// that the provider requires back.

import { isObject, type Json } from "../json.ts";
import { finishReasonOf } from "./stop-reasons.ts";
import { argumentsOf } from "./tool-arguments.ts";
import type { AnswerContext } from "./translation.ts";
import { chatUsageOf } from "./usage-translation.ts";

/** Returns the completion for a body that `readMessage` has accepted. */
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

/** Returns the fields of a completion, or of a chunk, that precede its choices. */
export const completionHead = (
  { id, now, model }: AnswerContext,
  object: "chat.completion" | "chat.completion.chunk",
): Json => ({ id: `chatcmpl-${id}`, object, created: Math.floor(now / 1000), model });

/** Returns the id and the client's name of a call. `nth` is its index among the answer's calls. */
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

/** Joins the texts of all blocks of one kind, whose field has the name of the kind. */
const joined = (blocks: readonly Json[], kind: "text" | "thinking"): string =>
  blocks.map((block) => (block.type === kind && typeof block[kind] === "string" ? block[kind] : "")).join("");
