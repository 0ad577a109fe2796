// Schemas of texts whose length counts characters, as JSON Schema defines it. TypeBox's own strings count UTF-16 code units.
// The document shows them like any other string.

import { FormatRegistry, Kind, type TSchema, type TUnsafe, Type, TypeRegistry } from "@sinclair/typebox";
import { codePoints, isLonger } from "../../actors/code-points.ts";

interface Characters {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** A name in TypeBox's registry of formats. */
  readonly format?: string;
  /** The rule that an error repeats. */
  readonly description: string;
}

const KIND = "Characters";

const expressions = new WeakMap<object, RegExp>();

TypeRegistry.Set<TSchema & Characters>(KIND, (schema, value) => {
  const { minLength = 0, maxLength, pattern, format } = schema;
  if (typeof value !== "string" || (maxLength !== undefined && isLonger(value, maxLength))) return false;
  if (value.length < 2 * minLength && codePoints(value) < minLength) return false;
  if (format !== undefined && FormatRegistry.Get(format)?.(value) !== true) return false;
  if (pattern === undefined) return true;
  const expression = expressions.get(schema) ?? new RegExp(pattern);
  expressions.set(schema, expression);
  return expression.test(value);
});

/**
 * A string of `minLength` to `maxLength` characters that matches the pattern, each where it is given. Bodies use it for
 * every text: an error of Elysia about a plain string breaks on an object whose `toString` is no function.
 */
export const characters = (rules: Characters): TUnsafe<string> =>
  Type.Unsafe<string>({ type: "string", ...rules, [Kind]: KIND });
