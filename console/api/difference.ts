// What differs between two values of a setting: entry by entry where both are maps, as a whole otherwise. Pure.

import { plainUsd } from "./amount.ts";
import { writeExact } from "./exact-json.ts";

/** One entry that differs. `path` names it within the setting; it is empty where the whole setting is one value. */
export interface Difference {
  readonly path: readonly string[];
  /** The text of the value; null where the entry is not there. */
  readonly before: string | null;
  readonly after: string | null;
}

/** How deep maps are compared entry by entry: PRICING is by group, model and field. */
const DEPTH_MAX = 3;

type Entries = Readonly<Record<string, unknown>>;

const isMap = (value: unknown): value is Entries =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A setting such as PRICING is kept as the text of an object; it is compared as that object. */
function opened(value: unknown): unknown {
  if (typeof value !== "string" || !value.startsWith("{")) return value;
  try {
    return JSON.parse(value);
  } catch (error) {
    if (error instanceof SyntaxError) return value;
    throw error;
  }
}

/** Returns the text of a value as it is shown; null for what is not there. */
export function valueText(value: unknown): string | null {
  if (value === undefined || value === null || value === "") return null;
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value === "bigint") return plainUsd(value);
  return typeof value === "object" ? writeExact(value) : String(value);
}

/** Returns the entries that differ, in the order of `after`, then those that only `before` has. */
export const differencesOf = (before: unknown, after: unknown): Difference[] =>
  compare(opened(before), opened(after), []);

function compare(before: unknown, after: unknown, path: readonly string[]): Difference[] {
  const [former, later] = [entriesOf(before), entriesOf(after)];
  const isByEntry = path.length < DEPTH_MAX && former !== null && later !== null;
  if (!isByEntry || (!isMap(before) && !isMap(after))) {
    const [one, other] = [valueText(before), valueText(after)];
    return one === other ? [] : [{ path, before: one, after: other }];
  }
  const names = new Set([...Object.keys(later), ...Object.keys(former)]);
  return [...names].flatMap((name) => compare(former[name], later[name], [...path, name]));
}

/** Returns the entries of a map; what is not there has none. Null for another value. */
const entriesOf = (value: unknown): Entries | null =>
  isMap(value) ? value : valueText(value) === null ? {} : null;
