// Converts the arguments of a call: an object in the messages dialect, JSON text in the others. It never throws. Where an
// object is required, unreadable arguments become an empty one.

import { isObject, isTooDeep, type Json, parseJson } from "../json.ts";

/** Returns the object for a messages client. `given` is JSON text, or an object at some hosts. */
export function inputOf(given: unknown): Json {
  const value = typeof given === "string" ? parseJson(given) : given;
  return isObject(value) && !isTooDeep(value) ? value : {};
}

/**
 * Returns the JSON text of an `input`. The text of an object stays as it is, because numbers can change when it is parsed and
 * written. Any other text is empty: hosts that parse the arguments of earlier calls refuse the whole conversation for one
 * that is no JSON.
 */
export function argumentsOf(input: unknown): string {
  if (typeof input === "string") return isObject(parseJson(input)) ? input : "{}";
  return isObject(input) && !isTooDeep(input) ? JSON.stringify(input) : "{}";
}

/**
 * Returns the free text of a custom tool's call from the arguments of the function that the provider knows. Arguments
 * without it are returned as they are, because any text is an input.
 */
export function inputTextOf(json: string): string {
  const value = parseJson(json);
  if (!isObject(value)) return json;
  if (typeof value.input === "string") return value.input;
  return Object.keys(value).length === 0 ? "" : json;
}

/** Returns the free text of a custom tool's call whose arguments were cut: as much of it as can be read. */
export function cutInputTextOf(json: string): string {
  if (parseJson(json) !== undefined || !json.trimStart().startsWith("{")) return inputTextOf(json);
  const begun = /^\s*\{\s*"input"\s*:\s*"/.exec(json);
  const text = begun === null ? null : parseJson(`"${beforeQuote(json, begun[0].length)}"`);
  // The first half of a character that JSON escapes in two is no text.
  return typeof text === "string" ? text.replace(/[\ud800-\udbff]$/, "") : "";
}

/** Returns the content of a JSON string from its first character up to its end, or to an escape that was cut. */
function beforeQuote(json: string, from: number): string {
  let at = from;
  while (at < json.length && json[at] !== '"') {
    const length = json[at] !== "\\" ? 1 : json[at + 1] === "u" ? 6 : 2;
    if (at + length > json.length) break;
    at += length;
  }
  return json.slice(from, at);
}
