// Translates the reason why an answer ended. An unknown reason becomes the ordinary one. An answer with tool
// calls ends by them even if the reason is `stop`, which many hosts send then.

/** The end of a chat answer. */
export interface ChatEnding {
  /** The `finish_reason`, unchanged. */
  readonly finish: unknown;
  /** The stop sequence that was matched; null when the host does not report it. */
  readonly matched: string | null;
  /** Whether the answer has a tool call. */
  readonly called: boolean;
  /** Whether the answer has a refusal. */
  readonly refused: boolean;
}

/** The end of a messages answer. */
export interface StopReason {
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
}

const STOP_REASONS: ReadonlyMap<unknown, string> = new Map([
  ["length", "max_tokens"],
  ["MAX_TOKENS", "max_tokens"],
  ["model_length", "model_context_window_exceeded"],
  ["content_filter", "refusal"],
  ["sensitive", "refusal"],
]);

/** Returns the stop reason for a messages client. */
export function stopReasonOf({ finish, matched, called, refused }: ChatEnding): StopReason {
  const known = refused ? "refusal" : STOP_REASONS.get(finish);
  if (known !== undefined) return { stop_reason: known, stop_sequence: null };
  if (called) return { stop_reason: "tool_use", stop_sequence: null };
  return matched === null
    ? { stop_reason: "end_turn", stop_sequence: null }
    : { stop_reason: "stop_sequence", stop_sequence: matched };
}

/**
 * Returns the stop sequence that some hosts report as text, or null. They report tokens as numbers, which are
 * ignored.
 */
export function matchedStop(choice: Readonly<Record<string, unknown>>): string | null {
  const matched = choice.stop_reason ?? choice.matched_stop;
  return choice.finish_reason === "stop" && typeof matched === "string" && matched !== "" ? matched : null;
}

const FINISH_REASONS: ReadonlyMap<unknown, string> = new Map([
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["compaction", "length"],
  ["pause_turn", "length"],
  ["refusal", "content_filter"],
]);

/**
 * Returns the finish reason for a chat client. It is `tool_calls` only if `called`, that is, if the answer
 * has calls.
 */
export const finishReasonOf = (stopReason: unknown, called: boolean): string =>
  FINISH_REASONS.get(stopReason) ?? (called ? "tool_calls" : "stop");
