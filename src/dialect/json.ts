// Reading JSON that nobody vouches for. Nothing here throws on any text.

import { JSON_DEPTH_MAX, nestedDeeper } from "../../actors/json-depth.ts";

export type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether a value is nested deeper than anybody means: whoever goes through it, or writes it, would take too long. */
export const isTooDeep = (value: unknown): boolean => nestedDeeper(value, JSON_DEPTH_MAX);

/** The parsed JSON; undefined when the text is none, or nested deeper than an answer may be. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    // A level takes two characters, so that most events need no look.
    return text.length > 2 * JSON_DEPTH_MAX && isTooDeep(value) ? undefined : value;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
