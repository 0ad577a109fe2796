// The form of an answer that a client demands: a JSON schema, or JSON at all. Where a provider cannot be held to it, the
// model is asked for it in words.

import { isObject, type Json } from "../json.ts";
import type { ModelFacts } from "./translation.ts";

export interface OutputFormat {
  /** `response_format`, or `output_config.format`; null without one. */
  readonly format: Json | null;
  /** What the system says instead; null: nothing. */
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

/** For a chat provider, from `output_config.format` or its earlier name `output_format`. */
export function chatFormat(body: Json, { structured }: ModelFacts): OutputFormat {
  const config = isObject(body.output_config) ? body.output_config : {};
  const format = config.format ?? body.output_format;
  if (!isObject(format) || format.type !== "json_schema" || !isObject(format.schema)) return FREE;
  const { schema } = format;
  if (!structured) return inWords(schema);
  const named = { name: "response", schema, strict: true };
  return { format: { type: "json_schema", json_schema: named }, instruction: null };
}

/** For a messages provider, from `response_format`. */
export function messagesFormat(body: Json, { structured }: ModelFacts): OutputFormat {
  const format = isObject(body.response_format) ? body.response_format : {};
  if (format.type === "json_object") return OBJECT;
  if (format.type !== "json_schema" || !isObject(format.json_schema)) return FREE;
  const { schema } = format.json_schema;
  // A schema may be left out: then any object will do.
  if (!isObject(schema)) return OBJECT;
  return structured ? { format: { type: "json_schema", schema }, instruction: null } : inWords(schema);
}
