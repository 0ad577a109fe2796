// Writes the output format that a client requires: a JSON schema or any JSON. If the model does not support structured
// outputs, a system instruction asks for the format instead.

import type { Json } from "../json.ts";
import type { FormatForm } from "./request-form.ts";
import type { ModelFacts } from "./translation.ts";

/** A written output format. */
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

/** Returns the format for a chat provider. */
export function chatFormat(form: FormatForm, { structured }: ModelFacts): OutputFormat {
  if (form.kind === "text") return FREE;
  if (form.kind === "object") return { format: { type: "json_object" }, instruction: null };
  const { name, description, schema, strict } = form;
  if (!structured) return inWords(schema);
  const named = {
    name,
    ...(description === null ? {} : { description }),
    schema,
    ...(strict ? { strict } : {}),
  };
  return { format: { type: "json_schema", json_schema: named }, instruction: null };
}

/** Returns the format for a messages provider. */
export function messagesFormat(form: FormatForm, { structured }: ModelFacts): OutputFormat {
  if (form.kind === "text") return FREE;
  if (form.kind === "object") return OBJECT;
  const { schema } = form;
  return structured ? { format: { type: "json_schema", schema }, instruction: null } : inWords(schema);
}
