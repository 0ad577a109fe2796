// The same fields from JSON and from a form: a form writes everything as text, so numbers and yes or no are read from it.

import type { ParsedRequest } from "../dialect.ts";
import { isForm } from "../payload/form-parts.ts";
import type { Payload } from "../payload/payload.ts";

/** Fields that a form can only spell. */
export type Spelt = Readonly<Record<string, "number" | "boolean">>;

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);
const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/;

/** The body's value, a form's spelt fields read. What cannot be read stays text, for the rules to refuse. */
export function fieldsIn(payload: Payload, spelt: Spelt): unknown {
  if (!isForm(payload.contentType)) return payload.value;
  const fields: Record<string, unknown> = { ...(payload.value as Record<string, unknown>) };
  for (const [name, kind] of Object.entries(spelt)) {
    const text = fields[name];
    if (typeof text === "string") fields[name] = READ[kind](text);
  }
  return fields;
}

const READ: Readonly<Record<Spelt[string], (text: string) => unknown>> = {
  number: (text) => (NUMBER.test(text) ? Number(text) : text),
  boolean: (text) => BOOLEANS.get(text.toLowerCase()) ?? text,
};

/** The refusal of a file under the name of a field that we read: the provider might read it, and we would not. */
export function fileAsField(
  payload: Payload,
  names: readonly string[],
): Extract<ParsedRequest, { ok: false }> | null {
  const field = payload.files.find((file) => names.includes(file.field))?.field;
  if (field === undefined) return null;
  return {
    ok: false,
    refusal: {
      code: "invalid_parameter",
      field,
      message: `${field} must be a text field of the form, not a file`,
    },
  };
}
