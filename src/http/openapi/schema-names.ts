// Writes TypeBox schemas as the OpenAPI document has them: named ones once, under their names, and a few keywords in the form
// that readers of the document show better. The written schema accepts the same values.

import type { TSchema } from "@sinclair/typebox";
import { OPTIONAL_BODY, PURPOSE } from "../schemas.ts";

type Json = Record<string, unknown>;

/** Writes the schemas of one document. */
export interface SchemaWriter {
  /** Returns the schema as the document has it: itself, or a reference to its name. */
  write(schema: TSchema): Json;
  /** All named schemas written so far. */
  readonly named: Readonly<Record<string, Json>>;
}

/** Creates the writer of one document. */
export function schemaWriter(): SchemaWriter {
  const written: Record<string, Json> = {};
  const write = (schema: TSchema): Json => {
    const { $id: name, ...plain } = schema;
    if (name === undefined) return spelled(plain);
    if (!Object.hasOwn(written, name)) {
      // The name is taken before the schema is written, because a schema may refer to itself.
      written[name] = {};
      written[name] = spelled(plain);
    }
    return { $ref: `#/components/schemas/${name}` };
  };
  const spelled = (plain: Json): Json => {
    const { patternProperties, anyOf, ...rest } = plain;
    // A copy by keys leaves out the symbols of TypeBox.
    const copy: Json = Object.fromEntries(
      Object.entries(rest)
        .filter(([key]) => !EDGE_KEYWORDS.has(key))
        .map(([key, value]) => [key, inner(key, value)]),
    );
    if (isJson(patternProperties)) Object.assign(copy, mapOf(patternProperties));
    if (Array.isArray(anyOf)) Object.assign(copy, choiceOf(anyOf));
    return copy;
  };
  const inner = (key: string, value: unknown): unknown => {
    if (key === "properties" && isJson(value)) {
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, write(one as TSchema)]));
    }
    return key === "items" || key === "additionalProperties" ? within(value) : value;
  };
  const within = (value: unknown): unknown => (isJson(value) ? write(value as TSchema) : value);
  /** Writes a map from any text as `additionalProperties`, as readers of documents know it. */
  const mapOf = (patterns: Json): Json => {
    const [only, ...others] = Object.entries(patterns);
    return only?.[0] === ANY_TEXT && others.length === 0
      ? { additionalProperties: within(only[1]) }
      : {
          patternProperties: Object.fromEntries(
            Object.entries(patterns).map(([pattern, one]) => [pattern, within(one)]),
          ),
        };
  };
  /** Writes a choice of constants as an enumeration. */
  const choiceOf = (choices: readonly Json[]): Json => {
    const constant = choices.every((one) => Object.hasOwn(one, "const"));
    return constant
      ? { type: choices[0]?.type, enum: choices.map((one) => one.const) }
      : { anyOf: choices.map((one) => within(one)) };
  };
  return { write, named: written };
}

/** Keywords of a schema that only this service reads. */
const EDGE_KEYWORDS: ReadonlySet<string> = new Set(["noValidate", PURPOSE, OPTIONAL_BODY]);

const ANY_TEXT = "^(.*)$";

const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
