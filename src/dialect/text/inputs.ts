// Reads the input of completions and embeddings: one text, several texts, or the same as arrays of tokens.

import type { FieldRule } from "../validation.ts";

/** The size of an input. */
export interface Inputs {
  /** Number of independent inputs. */
  readonly count: number;
  /** Number of tokens of all inputs together; null when they are texts. */
  readonly tokens: number | null;
}

/** Reads an input. Returns null when the value has none of the forms. */
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

/** Returns the rule of a field that must be an input. */
export const inputs = (field: string): FieldRule => {
  const rule = "must be a string, an array of strings, an array of tokens or an array of such arrays";
  return { field, rule, holds: (v) => inputsOf(v) !== null };
};
