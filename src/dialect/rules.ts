// Checking the few fields of a request that the gateway must understand: one row per field, the first broken rule answers.

import type { Parsed, RequestRefusal } from "./dialect.ts";
import { isObject } from "./json.ts";

export interface FieldRule {
  readonly field: string;
  readonly rule: string;
  readonly holds: (value: unknown) => boolean;
}

/** The refusal of the first rule that the body breaks; null when it keeps them all. The body's depth is bounded before. */
export function broken(
  body: unknown,
  required: readonly FieldRule[],
  optional: readonly FieldRule[],
): Extract<Parsed, { ok: false }> | null {
  if (!isObject(body)) return refuse("invalid_parameter", "body", "must be a JSON object");
  for (const { field, rule, holds } of required) {
    if (body[field] === undefined) return refuse("missing_parameter", field, "is required");
    if (!holds(body[field])) return refuse("invalid_parameter", field, rule);
  }
  for (const { field, rule, holds } of optional) {
    const value = body[field];
    if (value !== undefined && value !== null && !holds(value))
      return refuse("invalid_parameter", field, rule);
  }
  return null;
}

const refuse = (
  code: RequestRefusal["code"],
  field: string,
  rule: string,
): Extract<Parsed, { ok: false }> => ({
  ok: false,
  refusal: { code, field, message: `${field} ${rule}` },
});

const isName = (value: unknown): boolean =>
  typeof value === "string" && value.trim() !== "" && value.length <= 256;
export const isPositive = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;
const hasRole = (value: unknown): boolean =>
  isObject(value) && typeof value.role === "string" && value.role !== "";

export const MODEL: FieldRule = {
  field: "model",
  rule: "must be a non-empty string of at most 256 characters",
  holds: isName,
};
export const MESSAGES: FieldRule = {
  field: "messages",
  rule: "must be a non-empty array of objects with a string role",
  holds: (v) => Array.isArray(v) && v.length > 0 && v.every(hasRole),
};

/** These would change the price, or the answer's time, unseen. */
export const NOT_OFFERED: readonly FieldRule[] = [
  { field: "speed", rule: 'must not be "fast": it is not offered here', holds: (v) => v !== "fast" },
  { field: "inference_geo", rule: "is not offered here", holds: () => false },
  { field: "background", rule: "must not be true: it is not offered here", holds: (v) => v !== true },
];
