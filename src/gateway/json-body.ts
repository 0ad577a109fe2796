// Parses the JSON of a request body, from which no input gets more than a refusal. It bounds what the parsed value
// costs: its depth, and its number of arrays and objects, each of which takes a hundred times its two characters.

import { JSON_DEPTH_MAX, nestedDeeper } from "../../actors/json-depth.ts";
import { RefusedError } from "../base/errors.ts";

/** Arrays and objects of a body. A request with a hundred thousand tools has less than half of them. */
const CONTAINERS_MAX = 1_000_000;

const NO_JSON = "The body is not valid JSON. Check quotes, commas and brackets.";

const invalid = (message: string): RefusedError => new RefusedError({ code: "invalid_json", message });

/**
 * Parses a JSON body. Throws `RefusedError` `invalid_json`, also for a value that is nested too deeply or has too
 * many arrays and objects.
 */
export function parseJsonBody(text: string): unknown {
  // A shorter text cannot have as many: each takes two characters.
  if (text.length > 2 * CONTAINERS_MAX && hasMoreContainers(text, CONTAINERS_MAX)) {
    throw invalid(`The body has more than ${CONTAINERS_MAX} arrays and objects.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(text.trim() === "" ? "The body is empty: it must be a JSON object." : NO_JSON);
  }
  if (nestedDeeper(value, JSON_DEPTH_MAX)) {
    throw invalid(`The body is nested more than ${JSON_DEPTH_MAX} levels deep.`);
  }
  return value;
}

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACKET = 91;
const OPEN_BRACE = 123;

/** Counts opening brackets outside strings, without a value for any of them. */
function hasMoreContainers(text: string, most: number): boolean {
  let found = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = closingQuote(text, at);
    } else if ((code === OPEN_BRACKET || code === OPEN_BRACE) && ++found > most) {
      return true;
    }
  }
  return false;
}

/** Returns the position of the quote that closes the string opened at `open`, or the end of the text. */
function closingQuote(text: string, open: number): number {
  for (let quote = text.indexOf('"', open + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote;
  }
  return text.length;
}
