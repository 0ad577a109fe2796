// What a line of the operation log says in its details: the fields that an act changed, `Rates: 1 → 2; Alias: "new"`, or why it was
// refused. The values are JSON, and long ones are cut off, so they stay texts here.

import type { Answers } from "./answers.ts";

/** A line of the operation log. */
export type LogLine = Answers["/dashboard/logs"]["logs"][number];

/** A field that an act set. The values are JSON texts. */
export interface LoggedChange {
  readonly field: string;
  /** null: the field was not there before, or the act does not say. */
  readonly before: string | null;
  readonly after: string;
}

/** The details of an act that was done. */
export interface LoggedChanges {
  readonly changes: readonly LoggedChange[];
  /** What is no change of a field, as it stands there. */
  readonly rest: string;
}

/** The service cuts a longer value off at so many UTF-16 units, of which the last is `…`. */
const VALUE_LENGTH_MAX = 300;
const CUT = "…";
const ARROW = " → ";
const END = "; ";
const FIELD = /^([^\s:;"]+): /;

/** Reads the details of an act that was done. */
export function readDetails(text: string): LoggedChanges {
  const changes: LoggedChange[] = [];
  let at = 0;
  while (at < text.length) {
    const field = FIELD.exec(text.slice(at))?.[1];
    if (field === undefined) return { changes, rest: text.slice(at) };
    const from = at + field.length + 2;
    const first = text.slice(from, valueEnd(text, from));
    at = from + first.length;
    if (text.startsWith(ARROW, at)) {
      const then = at + ARROW.length;
      const second = text.slice(then, valueEnd(text, then));
      changes.push({ field, before: first, after: second });
      at = then + second.length;
    } else changes.push({ field, before: null, after: first });
    at += END.length;
  }
  return { changes, rest: "" };
}

/** Returns where the value that begins at `from` ends: behind it are an arrow, the next field, or nothing. */
function valueEnd(text: string, from: number): number {
  let [depth, isInString] = [0, false];
  for (let at = from; at < text.length; at++) {
    const unit = text[at]!;
    const isCut = unit === CUT && at + 1 - from === VALUE_LENGTH_MAX && isSeparated(text, at + 1);
    if (isCut) return at + 1;
    if (isInString) {
      if (unit === "\\") at++;
      else if (unit === '"') isInString = false;
    } else if (unit === '"') isInString = true;
    else if (unit === "{" || unit === "[") depth++;
    else if (unit === "}" || unit === "]") depth--;
    else if (depth === 0 && isSeparated(text, at)) return at;
  }
  return text.length;
}

const isSeparated = (text: string, at: number): boolean =>
  at === text.length || text.startsWith(ARROW, at) || text.startsWith(END, at);

/** Returns the value of a JSON text; undefined for one that was cut off. */
export function loggedValue(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Returns a value as a page shows it: texts without their quotes, anything else as its JSON. */
export function loggedText(json: string): string {
  const value = loggedValue(json);
  return typeof value === "string" ? value : json;
}

/** Returns why an act was refused: its code and the message. */
export function readRefusal(details: string): { readonly code: string; readonly message: string } {
  const colon = details.indexOf(": ");
  return colon < 0
    ? { code: "", message: details }
    : { code: details.slice(0, colon), message: details.slice(colon + 2) };
}

/** Returns when an act was done, as an instant; lines state it in UTC without saying so. */
export const loggedAt = ({ created_at }: Pick<LogLine, "created_at">): string =>
  `${created_at.replace(" ", "T")}Z`;
