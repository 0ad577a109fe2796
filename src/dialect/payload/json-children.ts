// Finds the elements of an array and the fields of an object in a JSON text, for edits deep inside it. The text must be valid
// JSON, which the caller has parsed. It parses and copies no value.

import { skipSpace, stringEnd, valueEnd } from "./json-fields.ts";

/** An element or a field: its index or name, and the range of its value. */
export interface Child {
  readonly name: string | number;
  readonly from: number;
  readonly to: number;
}

const CLOSINGS: ReadonlySet<string> = new Set(["]", "}"]);

/**
 * Returns the elements of an array or the fields of an object. Of fields with the same name the last one
 * counts.
 */
export function childrenOf(text: string, open: number): Child[] {
  const isArray = text[open] === "[";
  if (!isArray && text[open] !== "{") return [];
  const children: Child[] = [];
  const last = new Map<string | number, number>();
  for (let at = skipSpace(text, open + 1); at < text.length && !CLOSINGS.has(text[at]!); ) {
    const nameTo = isArray ? at : stringEnd(text, at);
    const name = isArray ? children.length : JSON.parse(text.slice(at, nameTo));
    const from = isArray ? at : skipSpace(text, skipSpace(text, nameTo) + 1);
    const to = valueEnd(text, from);
    last.set(name, children.length);
    children.push({ name, from, to });
    at = skipSpace(text, to);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return isArray ? children : children.filter(({ name }, i) => last.get(name) === i);
}
