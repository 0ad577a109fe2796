// The account's own model map as far as it is known. No endpoint states it to the account itself; a change answers with the whole
// map, and the operation log has what the last change answered, unless it was too long for a line.

import { type LogLine, loggedAt, loggedValue, readDetails } from "../../api/log-details.ts";
import { type MapEntry, readMap } from "../../api/map-text.ts";
import { applyingPattern, compareTried, isMatch } from "../../api/pattern.ts";

/** The map as it was stated; `at` is when, null: by an answer to this page. */
export interface KnownMap {
  readonly entries: readonly MapEntry[];
  readonly at: string | null;
}

/** Returns the entries of a map that the service states, in the order in which they are tried. */
export const entriesOf = (text: string): readonly MapEntry[] =>
  readMap(text).entries.toSorted((one, other) => compareTried(one.left, other.left));

/** Returns the map after the last change that these lines tell of, the newest first; null: they do not tell. */
export function loggedMap(lines: readonly LogLine[]): KnownMap | null {
  for (const line of lines) {
    const change = readDetails(line.details).changes.find(({ field }) => field === "ModelMapper");
    if (change === undefined) continue;
    const value = loggedValue(change.after);
    return typeof value === "string" ? { entries: entriesOf(value), at: loggedAt(line) } : null;
  }
  return null;
}

/** Returns the text that makes the second map of the first: the service merges `a=b, -c` into what it has. */
export function editsOf(before: readonly MapEntry[], after: readonly MapEntry[]): string {
  const was = new Map(before.map(({ left, right }) => [left, right]));
  const lefts = new Set(after.map(({ left }) => left));
  return [
    ...before.filter(({ left }) => !lefts.has(left)).map(({ left }) => `-${left}`),
    ...after
      .filter(({ left, right }) => was.get(left) !== right)
      .map(({ left, right }) => `${left}=${right}`),
  ].join(",");
}

/** Returns a name that the entry applies to, of those that can be called, or null. An exact name is one itself. */
export function sampleOf(left: string, lefts: readonly string[], models: readonly string[]): string | null {
  if (!left.includes("*")) return left;
  return (
    models.find((model) => applyingPattern(lefts, model) === left) ??
    models.find((model) => isMatch(left, model)) ??
    null
  );
}

/** Returns the entry that applies to a name, or null. */
export function entryFor(entries: readonly MapEntry[], name: string): MapEntry | null {
  const left = applyingPattern(
    entries.map((entry) => entry.left),
    name,
  );
  return entries.find((entry) => entry.left === left) ?? null;
}
