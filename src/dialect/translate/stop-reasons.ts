// Why an answer ended, said in the other dialect's words. A reason that nobody knows is the ordinary one, and calls speak
// for themselves: many hosts say `stop` under an answer that calls a tool.

/** How a chat answer ended. */
export interface ChatEnding {
  /** `finish_reason` as it came. */
  readonly finish: unknown;
  /** The stop sequence that was met, where the host says so; null: not known. */
  readonly matched: string | null;
  /** A tool call was produced. */
  readonly called: boolean;
  /** It was said that nothing else will be. */
  readonly refused: boolean;
}

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

/** The stop reason of a messages answer. */
export function stopReasonOf({ finish, matched, called, refused }: ChatEnding): StopReason {
  const known = refused ? "refusal" : STOP_REASONS.get(finish);
  if (known !== undefined) return { stop_reason: known, stop_sequence: null };
  if (called) return { stop_reason: "tool_use", stop_sequence: null };
  return matched === null
    ? { stop_reason: "end_turn", stop_sequence: null }
    : { stop_reason: "stop_sequence", stop_sequence: matched };
}

/** The stop sequence that some hosts name beside `finish_reason`, as text; they name tokens by number, which says nothing. */
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

/** The finish reason of a chat answer. `called`: it has tool calls, without which `tool_calls` would promise what is not there. */
export const finishReasonOf = (stopReason: unknown, called: boolean): string =>
  FINISH_REASONS.get(stopReason) ?? (called ? "tool_calls" : "stop");
