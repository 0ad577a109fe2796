// Counts the arrays and objects of a JSON text without making a value for any of them, so that a text of a few
// megabytes that would take a hundred times its size is refused before it is parsed.

import { stringEnd } from "./json-fields.ts";

const QUOTE = 34;
const COLON = 58;
const OPEN_BRACKET = 91;
const OPEN_BRACE = 123;

/** Returns whether a JSON text has more than `most` arrays and objects. `withNames` counts names of fields as well. */
export function hasMoreContainers(text: string, most: number, withNames = false): boolean {
  // Each takes two characters, so a short text, or the rest of a long one, cannot have as many.
  let until = text.length - 2 * most;
  let found = 0;
  for (let at = 0; at < until; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at) - 1;
    else if (code === OPEN_BRACKET || code === OPEN_BRACE || (withNames && code === COLON)) {
      if (++found > most) return true;
      until = Math.min(until + 2, text.length);
    }
  }
  return false;
}
