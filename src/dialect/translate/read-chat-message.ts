// Reads the texts and calls of a chat message or delta, in whichever fields a host sends them. Whole answers
// and streams share it, so that both are read alike.

import { isObject, type Json } from "../json.ts";
import type { CallPiece, TextKind } from "./answer.ts";
import { argumentsOf } from "./tool-arguments.ts";

/** A call, or a fragment of one, of a chat host. */
export interface CallFragment extends CallPiece {
  /** Index among the answer's calls; null when the host does not send it. */
  readonly index: number | null;
}

/** Returns the first choice, the only one that clients of other styles can request, or null when it is missing. */
export function onlyChoice(choices: unknown): Json | null {
  if (!Array.isArray(choices)) return null;
  for (const choice of choices as unknown[]) if (isObject(choice) && isOnlyChoice(choice)) return choice;
  return null;
}

/** Whether a choice is the first one, whose index some hosts omit. */
export const isOnlyChoice = (choice: Json): boolean => (choice.index ?? 0) === 0;

/** Calls `report` for each text of a message, reasoning first. */
export function reportTexts(message: Json, report: (kind: TextKind, text: string) => void): void {
  const reportText = (kind: TextKind, text: unknown): void => {
    if (typeof text === "string" && text !== "") report(kind, text);
  };
  // Some hosts send the same reasoning under both names.
  reportText("thinking", message.reasoning_content || message.reasoning);
  if (Array.isArray(message.content)) {
    for (const part of message.content as unknown[]) {
      if (!isObject(part)) continue;
      reportText("thinking", joined(part.thinking));
      reportText("text", part.text);
      reportText("refusal", part.refusal);
    }
  } else reportText("text", message.content);
  reportText("refusal", message.refusal);
}

/** Joins the thinking of a part, which some hosts send as nested parts. */
const joined = (thinking: unknown): unknown =>
  Array.isArray(thinking)
    ? thinking.map((part) => (isObject(part) && typeof part.text === "string" ? part.text : "")).join("")
    : thinking;

/** The index of a call in the old form, which has none. */
const OLD_FORM = -1;

/** Returns all calls, or fragments of calls, in order. */
export function callsIn(message: Json): readonly CallFragment[] {
  const calls: CallFragment[] = [];
  if (isObject(message.function_call)) calls.push(fragmentOf(OLD_FORM, "", message.function_call));
  if (!Array.isArray(message.tool_calls)) return calls;
  for (const call of message.tool_calls as unknown[]) {
    if (!isObject(call)) continue;
    const index = Number.isSafeInteger(call.index) ? (call.index as number) : null;
    const fragment = fragmentOf(index, call.id, isObject(call.function) ? call.function : {});
    const extra = call.extra_content;
    calls.push(isObject(extra) ? { ...fragment, extra } : fragment);
  }
  return calls;
}

const fragmentOf = (index: number | null, id: unknown, called: Json): CallFragment => ({
  index,
  id: typeof id === "string" ? id : "",
  name: typeof called.name === "string" ? called.name : "",
  arguments: typeof called.arguments === "string" ? called.arguments : writtenOut(called.arguments),
});

/** Returns arguments that a host sent as an object as JSON; any other value gives an empty text. */
const writtenOut = (given: unknown): string => (isObject(given) ? argumentsOf(given) : "");
