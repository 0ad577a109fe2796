// What a client may send to be completed or embedded: a text, several, or the same as tokens that it has counted itself.

import type { FieldRule } from "../validation.ts";

export interface Inputs {
  /** How many there are: each stands for itself. */
  readonly count: number;
  /** Tokens of all of them together; null: they are texts. */
  readonly tokens: number | null;
}

/** Reads them; null where the value is none of the forms. */
export function inputsOf(value: unknown): Inputs | null {
  if (typeof value === "string") return { count: 1, tokens: null };
  if (!Array.isArray(value) || value.length === 0) return null;
  const all: readonly unknown[] = value;
  const count = all.length;
  if (all.every((one) => typeof one === "string")) return { count, tokens: null };
  if (isTokens(all)) return { count: 1, tokens: count };
  return all.every(isTokens) ? { count, tokens: all.reduce((sum, one) => sum + one.length, 0) } : null;
}

const isTokens = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => Number.isSafeInteger(one) && one >= 0);

export const inputs = (field: string): FieldRule => {
  const rule = "must be a string, an array of strings, an array of tokens or an array of such arrays";
  return { field, rule, holds: (v) => inputsOf(v) !== null };
};
