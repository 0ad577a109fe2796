// Converts the arguments of a call: an object in the messages dialect, JSON text in the chat dialect. It
// never throws; unreadable arguments become an empty object, so that both sides can always parse them.

import { isObject, isTooDeep, type Json, parseJson } from "../json.ts";

/** Returns the object for a messages client. `given` is JSON text, or an object at some hosts. */
export function inputOf(given: unknown): Json {
  const value = typeof given === "string" ? parseJson(given) : given;
  return isObject(value) && !isTooDeep(value) ? value : {};
}

/** Returns the JSON text of an `input` for a chat client. */
export function argumentsOf(input: unknown): string {
  if (typeof input === "string") return isObject(parseJson(input)) ? input : "{}";
  return isObject(input) && !isTooDeep(input) ? JSON.stringify(input) : "{}";
}
