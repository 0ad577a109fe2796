// Selects the payload for a body: a form by its content type, otherwise JSON as bytes if it is large, or as
// text.

import { isForm } from "./form-parts.ts";
import type { BodyBytes } from "./patched-bytes.ts";
import { type FormPayload, formPayload } from "./payload-form.ts";
import { jsonPayload } from "./payload-json.ts";
import { jsonBytesPayload } from "./payload-json-bytes.ts";

/** JSON below this size is cheaper as text. */
const LARGE_BYTES = 1_000_000;

/** Creates the payload of a body, which owns the buffer from then on. Throws what `parse` throws. */
export function payloadOf(
  body: BodyBytes,
  contentType: string,
  parse: (text: string) => unknown,
): FormPayload {
  if (isForm(contentType)) return formPayload(body, contentType);
  if (body.to - body.from >= LARGE_BYTES) return { ok: true, payload: jsonBytesPayload(body, parse) };
  const text = new TextDecoder().decode(body.buffer.subarray(body.from, body.to));
  return { ok: true, payload: jsonPayload(text, parse) };
}
