// Translates the output format that a client requires: a JSON schema or any JSON. If the model does not
// support structured outputs, a system instruction asks for the format instead.

import { isObject, type Json } from "../json.ts";
import type { ModelFacts } from "./translation.ts";

/** A translated output format. */
export interface OutputFormat {
  /** The value of `response_format` or `output_config.format`; null when there is none. */
  readonly format: Json | null;
  /** The system instruction that replaces the format; null when there is none. */
  readonly instruction: string | null;
}

const FREE: OutputFormat = { format: null, instruction: null };
const OBJECT: OutputFormat = {
  format: null,
  instruction: "Answer with one JSON object and nothing else: no words around it, no code fence.",
};

const inWords = (schema: Json): OutputFormat => ({
  format: null,
  instruction:
    "Answer with JSON that fits the following schema and nothing else: no words around it, no code fence." +
    `\n${JSON.stringify(schema)}`,
});

/**
 * Returns the format for a chat provider, from `output_config.format` or its earlier name `output_format`.
 */
export function chatFormat(body: Json, { structured }: ModelFacts): OutputFormat {
  const config = isObject(body.output_config) ? body.output_config : {};
  const format = config.format ?? body.output_format;
  if (!isObject(format) || format.type !== "json_schema" || !isObject(format.schema)) return FREE;
  const { schema } = format;
  if (!structured) return inWords(schema);
  const named = { name: "response", schema, strict: true };
  return { format: { type: "json_schema", json_schema: named }, instruction: null };
}

/** Returns the format for a messages provider, from `response_format`. */
export function messagesFormat(body: Json, { structured }: ModelFacts): OutputFormat {
  const format = isObject(body.response_format) ? body.response_format : {};
  if (format.type === "json_object") return OBJECT;
  if (format.type !== "json_schema" || !isObject(format.json_schema)) return FREE;
  const { schema } = format.json_schema;
  // Without a schema any object is valid.
  if (!isObject(schema)) return OBJECT;
  return structured ? { format: { type: "json_schema", schema }, instruction: null } : inWords(schema);
}
