// The message object of the messages dialect, and what it and a stream's events say alike: ids, stop reasons, signatures.

import type { Choice, ToolCall } from "./answer.ts";
import type { Serving } from "./dialect.ts";

const SIGNED_BY = "stand-in thoughts";

/** The signature of a block of thoughts. It depends on their text and on the block's place in the message. */
export const signatureOf = (thinking: string, place: number): string =>
  Buffer.from(`${SIGNED_BY} ${place} ${Bun.hash(thinking)}`).toString("base64");

/** Whether a block is signed by the stand-in, but is not the one that it answered, or not in its place. */
export const isAltered = (thinking: unknown, signature: unknown, place: number): boolean =>
  Buffer.from(String(signature), "base64").toString().startsWith(SIGNED_BY) &&
  signature !== signatureOf(String(thinking), place);

/** The words of an answer's blocks: thoughts, text, and more thoughts before calls of tools that follow a text. */
export function blockWords({ thoughts, words, toolCalls }: Choice) {
  const first = words.length > 0 && toolCalls.length > 0 ? Math.ceil(thoughts.length / 2) : thoughts.length;
  const blocks = [
    { type: "thinking", words: thoughts.slice(0, first) },
    { type: "text", words },
    { type: "thinking", words: thoughts.slice(first) },
  ] as const;
  return blocks.filter((block) => block.words.length > 0);
}

export interface Stop {
  readonly stop_reason: string | null;
  readonly stop_sequence: null;
  readonly stop_details?: object;
}

/** Common reasons in the words of this dialect; others are said as they are. */
const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};

export function stopOf(choice: Choice): Stop {
  const stop_reason = STOP_REASONS[choice.finish] ?? choice.finish;
  return {
    stop_reason,
    stop_sequence: null,
    ...(stop_reason === "refusal" && {
      stop_details: { type: "refusal", category: null, explanation: null },
    }),
  };
}

/** A message, finished or just begun; without `usage` it has none. */
export const messageBody = (
  serving: Serving,
  content: readonly object[],
  stop: Stop,
  usage: object | undefined,
): object => ({
  id: serving.id,
  type: "message",
  role: "assistant",
  model: serving.script.answered ?? serving.ask.model,
  content,
  stop_details: null,
  ...stop,
  container: null,
  ...(usage !== undefined && { usage }),
});

export const toolId = (call: ToolCall): string =>
  call.id.replace("call_", "toolu_").replace(/[^a-zA-Z0-9_-]/g, "_");

/** The first word of a text has no leading space. */
export const spokenAs = (word: string, nth: number): string => (nth === 0 ? word.slice(1) : word);
