// The message object of the messages dialect, and what it and a stream's events say alike: ids, stop reasons, signatures.

import type { Choice, ToolCall } from "./answer.ts";
import type { Serving } from "./dialect.ts";

/** What the stand-in signs its thoughts with. */
export const SIGNATURE = "c3RhbmQtaW4gdGhvdWdodHM=";

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

export const toolId = (call: ToolCall): string => call.id.replace("call_", "toolu_");

/** The first word of a text has no leading space. */
export const spokenAs = (word: string, nth: number): string => (nth === 0 ? word.slice(1) : word);
