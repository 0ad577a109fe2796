// What a chat message, or a delta of one, says and calls, whatever fields its host puts that into. Shared by whole answers
// and streams, so that both are read alike.

import { isObject, type Json } from "../json.ts";
import { argumentsOf } from "./tool-arguments.ts";

export type SayingKind = "thinking" | "text";

/** A call, or a fragment of one. Empty: not said here. */
export interface CallFragment {
  /** Which of the answer's calls; null: the host does not say. */
  readonly index: number | null;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** The choice that a messages client gets: it cannot have asked for others. Null: not in here. */
export function onlyChoice(choices: unknown): Json | null {
  if (!Array.isArray(choices)) return null;
  for (const choice of choices as unknown[]) if (isObject(choice) && isOnlyChoice(choice)) return choice;
  return null;
}

/** Whether a choice is the first one, which some hosts do not number. */
export const isOnlyChoice = (choice: Json): boolean => (choice.index ?? 0) === 0;

/** Tells everything that is said, reasoning first; whether some of it refuses. */
export function tellSayings(message: Json, say: (kind: SayingKind, text: string) => void): boolean {
  const tell = (kind: SayingKind, text: unknown): boolean => {
    if (typeof text !== "string" || text === "") return false;
    say(kind, text);
    return true;
  };
  // Some hosts send the same reasoning under both names.
  tell("thinking", message.reasoning_content || message.reasoning);
  let refused = false;
  if (Array.isArray(message.content)) {
    for (const part of message.content as unknown[]) {
      if (!isObject(part)) continue;
      tell("thinking", joined(part.thinking));
      tell("text", part.text);
      if (tell("text", part.refusal)) refused = true;
    }
  } else tell("text", message.content);
  return tell("text", message.refusal) || refused;
}

/** Some hosts give the thinking of a part as parts in turn. */
const joined = (thinking: unknown): unknown =>
  Array.isArray(thinking)
    ? thinking.map((part) => (isObject(part) && typeof part.text === "string" ? part.text : "")).join("")
    : thinking;

/** The old form of a call has no place among the calls. */
const OLD_FORM = -1;

/** Every call, or fragment of one, in order. */
export function callsIn(message: Json): readonly CallFragment[] {
  const calls: CallFragment[] = [];
  if (isObject(message.function_call)) calls.push(fragmentOf(OLD_FORM, "", message.function_call));
  if (!Array.isArray(message.tool_calls)) return calls;
  for (const call of message.tool_calls as unknown[]) {
    if (!isObject(call)) continue;
    const index = Number.isSafeInteger(call.index) ? (call.index as number) : null;
    calls.push(fragmentOf(index, call.id, isObject(call.function) ? call.function : {}));
  }
  return calls;
}

const fragmentOf = (index: number | null, id: unknown, called: Json): CallFragment => ({
  index,
  id: typeof id === "string" ? id : "",
  name: typeof called.name === "string" ? called.name : "",
  arguments: typeof called.arguments === "string" ? called.arguments : writtenOut(called.arguments),
});

/** Some hosts give the object itself; null is nothing. */
const writtenOut = (given: unknown): string => (isObject(given) ? argumentsOf(given) : "");
