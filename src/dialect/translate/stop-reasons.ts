// Translates the reason why an answer ended. An unknown reason becomes the ordinary one. An answer with tool
// calls ends by them even if the reason is `stop`, which many hosts send then.

import type { Json } from "../json.ts";
import type { AnswerEnding } from "./answer.ts";

const CHAT: ReadonlyMap<unknown, AnswerEnding["reason"]> = new Map([
  ["length", "length"],
  ["MAX_TOKENS", "length"],
  ["model_length", "window"],
  ["content_filter", "filtered"],
  ["sensitive", "filtered"],
]);

/** Returns the ending of a choice; `stop` when the provider gives no reason. */
export const endingOfChoice = (choice: Json): AnswerEnding => ({
  reason: CHAT.get(choice.finish_reason) ?? "stop",
  matched: matchedStop(choice),
});

/**
 * Returns the stop sequence that some hosts report as text, or null. They report tokens as numbers, which are
 * ignored.
 */
function matchedStop(choice: Json): string | null {
  const matched = choice.stop_reason ?? choice.matched_stop;
  return choice.finish_reason === "stop" && typeof matched === "string" && matched !== "" ? matched : null;
}

const MESSAGES: ReadonlyMap<unknown, AnswerEnding["reason"]> = new Map([
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "window"],
  ["compaction", "length"],
  ["pause_turn", "length"],
  ["refusal", "filtered"],
]);

/** Returns the ending of a message, or of its `message_delta`. */
export const endingOfMessage = ({ stop_reason, stop_sequence }: Json): AnswerEnding => ({
  reason: MESSAGES.get(stop_reason) ?? "stop",
  matched: typeof stop_sequence === "string" ? stop_sequence : null,
});

/** The end of a messages answer. */
export interface StopReason {
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
}

const STOP_REASONS: Readonly<Record<AnswerEnding["reason"], string | null>> = {
  stop: null,
  length: "max_tokens",
  window: "model_context_window_exceeded",
  filtered: "refusal",
};

/** Returns the stop reason for a messages client. `called` and `refused`: the answer has calls, a refusal. */
export function stopReasonOf(
  { reason, matched }: AnswerEnding,
  called: boolean,
  refused: boolean,
): StopReason {
  const known = refused ? "refusal" : STOP_REASONS[reason];
  if (known !== null) return { stop_reason: known, stop_sequence: null };
  if (called) return { stop_reason: "tool_use", stop_sequence: null };
  return matched === null
    ? { stop_reason: "end_turn", stop_sequence: null }
    : { stop_reason: "stop_sequence", stop_sequence: matched };
}

const FINISH_REASONS: Readonly<Record<AnswerEnding["reason"], string | null>> = {
  stop: null,
  length: "length",
  window: "length",
  filtered: "content_filter",
};

/**
 * Returns the finish reason for a chat client. It is `tool_calls` only if `called`, that is, if the answer
 * has calls.
 */
export const finishReasonOf = ({ reason }: AnswerEnding, called: boolean): string =>
  FINISH_REASONS[reason] ?? (called ? "tool_calls" : "stop");

const INCOMPLETE: Readonly<Record<AnswerEnding["reason"], string | null>> = {
  stop: null,
  length: "max_output_tokens",
  window: "max_output_tokens",
  filtered: "content_filter",
};

/** Returns why a response is incomplete; null when it is completed. */
export const incompleteReasonOf = ({ reason }: AnswerEnding): string | null => INCOMPLETE[reason];
