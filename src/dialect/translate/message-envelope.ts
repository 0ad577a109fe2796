// The frame of a messages answer, the same whether it comes whole or streamed: whose it is, and what its parts are called.

import type { Json } from "../json.ts";
import type { CallFragment, SayingKind } from "./read-chat-message.ts";
import type { AnswerContext } from "./translation.ts";

/** What a message says of itself before its content. */
export const messageHead = ({ id, model }: AnswerContext): Json => ({
  id: `msg_${id}`,
  type: "message",
  role: "assistant",
  model,
});

/** A block of something said. Thinking that no messages provider made has no signature. */
export const sayingBlock = (kind: SayingKind, text: string): Json =>
  kind === "text" ? { type: "text", text } : { type: "thinking", thinking: text, signature: "" };

/** A call's block. `nth`: of the answer's calls, from 0: the host may have given it no id. */
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
