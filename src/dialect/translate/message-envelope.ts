// Builds the parts that whole and streamed messages answers have in common: the head and the content blocks.

import type { Json } from "../json.ts";
import type { CallFragment, SayingKind } from "./read-chat-message.ts";
import type { AnswerContext } from "./translation.ts";

/** Returns the fields of a message that precede its content. */
export const messageHead = ({ id, model }: AnswerContext): Json => ({
  id: `msg_${id}`,
  type: "message",
  role: "assistant",
  model,
});

/**
 * Returns a text or thinking block. Thinking has an empty signature, because no messages provider made it.
 */
export const sayingBlock = (kind: SayingKind, text: string): Json =>
  kind === "text" ? { type: "text", text } : { type: "thinking", thinking: text, signature: "" };

/**
 * Returns the block of a call. `nth` is its index among the answer's calls, from which a missing id is made.
 */
export const callBlock = (
  { id, toolNames }: AnswerContext,
  nth: number,
  call: Pick<CallFragment, "id" | "name">,
  input: Json,
): Json => ({
  type: "tool_use",
  id: call.id || `toolu_${id}_${nth}`,
  name: toolNames.get(call.name) ?? call.name,
  input,
});
