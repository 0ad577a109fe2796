// Writing the fields of a request: what is not known is not written.

import type { Json } from "../json.ts";

/** The fields that have a value. */
export const written = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));

/** A number of tokens. */
export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

export const isFigure = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value);
