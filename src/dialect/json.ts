// Reads untrusted JSON. Nothing here throws, whatever the text.

import { JSON_DEPTH_MAX, nestedDeeper } from "../../actors/json-depth.ts";

/** A JSON object. */
export type Json = Record<string, unknown>;

/** Whether a value is a JSON object, neither null nor an array. */
export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Whether a value is nested deeper than `JSON_DEPTH_MAX`, so that reading or writing it would take too long.
 */
export const isTooDeep = (value: unknown): boolean => nestedDeeper(value, JSON_DEPTH_MAX);

/** Parses JSON. Returns undefined when the text is not JSON or is nested deeper than `JSON_DEPTH_MAX`. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    // Each level takes two characters, so a short text cannot be too deep.
    return text.length > 2 * JSON_DEPTH_MAX && isTooDeep(value) ? undefined : value;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
