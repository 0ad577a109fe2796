// A request's body as fields and files, and its reading in a dialect.

import type { Dialect } from "./dialect.ts";
import { type Fields, type FilePart, isForm, readForm } from "./form.ts";
import { badRequest } from "./refusal.ts";
import type { Incoming } from "./request-reader.ts";
import { ScriptMistake } from "./script.ts";
import type { Headers } from "./wire.ts";

export const NOTHING_SENT: Sending = { fields: null, files: [] };

interface Sending {
  /** Parsed; a text where it is neither JSON nor a form that this dialect takes. */
  readonly fields: unknown;
  readonly files: readonly FilePart[];
}

/** The fields and files of a body. */
export function sentBy(request: Incoming, dialect: Dialect | undefined): Sending {
  const form = dialect?.forms === true && isForm(request.headers);
  const read = form ? readForm(request.bytes, request.headers) : null;
  return read ?? { fields: form ? request.body : parsed(request.body), files: [] };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

/** The dialect's reading; a mistake in a script becomes a refusal that names it. */
export function readIn(dialect: Dialect, body: Fields, headers: Headers, files: readonly FilePart[]) {
  try {
    return dialect.read(body, headers, files);
  } catch (error) {
    if (!(error instanceof ScriptMistake)) throw error;
    return { ok: false, refusal: badRequest(error.message, null, "bad_script") } as const;
  }
}
