// Helpers to write request fields: a field without a value is omitted.

import type { Json } from "../json.ts";

/** Returns the fields that have a value. */
export const definedFields = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));

/** Whether a value is a valid number of tokens. */
export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

/** Whether a value is a valid number. */
export const isFigure = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value);

/** Whether a value is a text of more than white space. */
export const isNotBlank = (value: unknown): value is string => typeof value === "string" && /\S/.test(value);
