// Reads the same fields from JSON and from a form. A form holds only text, so numbers and booleans are parsed
// from it.

import type { ParsedRequest } from "../dialect.ts";
import { isForm } from "../payload/form-parts.ts";
import type { Payload } from "../payload/payload.ts";

/** The fields that a form holds as text, with their types. */
export type Spelt = Readonly<Record<string, "number" | "boolean">>;

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);
const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/;

/**
 * Returns the value of a body with a form's fields parsed. Unreadable fields stay text, so that the rules
 * refuse them.
 */
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

/**
 * Returns the refusal of a file under the name of a known field, which the provider might read and the
 * gateway not.
 */
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
