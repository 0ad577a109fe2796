// Selects the payload for a small body: a form by its content type, otherwise JSON as text. Large bodies are read by
// worker threads, as bytes.

import { isForm } from "./form-parts.ts";
import type { BodyBytes } from "./patched-bytes.ts";
import type { Payload } from "./payload.ts";
import { formPayload } from "./payload-form.ts";
import { jsonPayload } from "./payload-json.ts";

/** The payload of a body, or the rest of a sentence that begins with "The body". */
export type BodyPayload =
  | { readonly ok: true; readonly payload: Payload }
  | { readonly ok: false; readonly fault: string };

/** Creates the payload of a body, which owns the buffer from then on. Throws what `parse` throws. */
export function payloadOf(
  body: BodyBytes,
  contentType: string,
  parse: (text: string) => unknown,
): BodyPayload {
  if (isForm(contentType)) return formPayload(body, contentType);
  const text = new TextDecoder().decode(body.buffer.subarray(body.from, body.to));
  return { ok: true, payload: jsonPayload(text, parse) };
}
