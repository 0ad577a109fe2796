// What a call is given: an object in the messages dialect, JSON text in the chat dialect. Never throws; what cannot be read
// is an empty object, since both sides must be able to read what they are told.

import { isObject, isTooDeep, type Json, parseJson } from "../json.ts";

/** The object for a messages client, of `arguments` as they came: text, or the object itself at some hosts. */
export function inputOf(given: unknown): Json {
  const value = typeof given === "string" ? parseJson(given) : given;
  return isObject(value) && !isTooDeep(value) ? value : {};
}

/** The JSON text for a chat client, of an `input` as it came. */
export function argumentsOf(input: unknown): string {
  if (typeof input === "string") return isObject(parseJson(input)) ? input : "{}";
  return isObject(input) && !isTooDeep(input) ? JSON.stringify(input) : "{}";
}
