// Writes an answer for a chat client, as a whole. Thinking becomes `reasoning_content`, and also the signed blocks
// that the provider requires back.

import type { Json } from "../json.ts";
import type { Answer, AnswerCall, AnswerPart, CallPiece } from "./answer.ts";
import { finishReasonOf } from "./stop-reasons.ts";
import type { AnswerContext } from "./translation.ts";
import { chatUsageOf } from "./usage-translation.ts";

/** Returns the completion of an answer. */
export function completionFrom({ parts, ending, usage, chars }: Answer, context: AnswerContext): Json {
  const text = joined(parts, "text");
  const reasoning = joined(parts, "thinking");
  const refusal = joined(parts, "refusal");
  const blocks = parts.flatMap((part) =>
    part.kind === "thinking" && part.block !== null ? [part.block] : [],
  );
  const calls = parts.filter((part) => part.kind === "call").map((call, nth) => callOf(context, call, nth));
  const message = {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    refusal: refusal === "" ? null : refusal,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(blocks.length === 0 ? {} : { thinking_blocks: blocks }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  const finish = finishReasonOf(ending, calls.length > 0);
  return {
    ...completionHead(context, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage: chatUsageOf(usage, { promptTokens: context.promptTokens, chars }),
  };
}

/** Returns the fields of a completion, or of a chunk, that precede its choices. */
export const completionHead = (
  { id, now, model }: AnswerContext,
  object: "chat.completion" | "chat.completion.chunk",
): Json => ({ id: `chatcmpl-${id}`, object, created: Math.floor(now / 1000), model });

/** Returns the id and the client's name of a call. `nth` is its index among the answer's calls. */
export const callHead = (
  { id, toolNames }: AnswerContext,
  call: Pick<CallPiece, "id" | "name">,
  nth: number,
) => ({ id: call.id || `call_${id}_${nth}`, name: toolNames.get(call.name) ?? call.name });

const callOf = (context: AnswerContext, call: AnswerCall, nth: number) => {
  const { id, name } = callHead(context, call, nth);
  return { id, type: "function", function: { name, arguments: call.arguments } };
};

const joined = (parts: readonly AnswerPart[], kind: "text" | "thinking" | "refusal"): string =>
  parts.map((part) => (part.kind === kind ? part.text : "")).join("");
