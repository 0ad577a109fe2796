// Builds the parts that whole and streamed messages answers have in common: the head and the content blocks.

import type { Json } from "../json.ts";
import type { CallHead } from "./answer.ts";
import { carriedCall } from "./reasoning-item.ts";
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
export const textBlock = (kind: "text" | "thinking", text: string): Json =>
  kind === "text" ? { type: "text", text } : { type: "thinking", thinking: text, signature: "" };

/** Returns the id of a call. `nth` is its index among the answer's calls, from which a missing id is made. */
const callId = ({ id }: AnswerContext, nth: number, call: CallHead): string =>
  call.id || `toolu_${id}_${nth}`;

/** Returns the signature that carries what a provider attached to a call; null when it attached nothing. */
export const callSignature = (context: AnswerContext, nth: number, call: CallHead): string | null =>
  call.extra === undefined
    ? null
    : carriedCall(context.provider, { id: callId(context, nth, call), extra: call.extra });

/** Returns the block of a call. `nth` is its index among the answer's calls. */
export const callBlock = (context: AnswerContext, nth: number, call: CallHead, input: Json): Json => ({
  type: "tool_use",
  id: callId(context, nth, call),
  name: context.toolNames.get(call.name) ?? call.name,
  input,
});
