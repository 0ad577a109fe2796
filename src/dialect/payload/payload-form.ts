// The payload of a multipart form: text fields are decoded, files are views that are never copied. Edits are
// made in place, with the same boundary.

import { type Form, type FormPart, formType, readForm } from "./form-parts.ts";
import { type BodyBytes, type BytePatch, patchedBytes } from "./patched-bytes.ts";
import type { FieldEdits, FormFile, Payload } from "./payload.ts";

/** The payload of a form with its parts, or the reason why there is none. */
export type FormPayload =
  | { readonly ok: true; readonly payload: Payload; readonly form: Form }
  /** `fault` is the rest of a sentence that begins with "The body". */
  | { readonly ok: false; readonly fault: string };

/** A text field longer than this is refused; prompts fit. */
const TEXT_BYTES_MAX = 1_000_000;

const encoder = new TextEncoder();

/** Creates the payload of a form, which owns the buffer from then on. */
export function formPayload(body: BodyBytes, contentType: string): FormPayload {
  const bytes = Buffer.from(body.buffer.buffer, body.buffer.byteOffset + body.from, body.to - body.from);
  const read = readForm(bytes, contentType);
  if (!read.ok) return read;
  const { form } = read;
  if (
    form.parts.some((part) => part.fileName === null && part.contentTo - part.contentFrom > TEXT_BYTES_MAX)
  ) {
    return { ok: false, fault: `must have text fields of at most ${TEXT_BYTES_MAX} bytes` };
  }
  const value = textsOf(bytes, form.parts);
  const patched = patchedBytes(body);

  const fileOf = (part: FormPart): FormFile => ({
    field: part.field,
    fileName: part.fileName!,
    type: part.type,
    // The bytes are located at each access, because an edit may move them.
    get bytes() {
      return patched.original(part.contentFrom, part.contentTo);
    },
  });

  const payload: Payload = {
    value,
    files: form.parts.filter((part) => part.fileName !== null).map(fileOf),
    lengthOf: (string) => Buffer.byteLength(string),
    mentions: (words) =>
      patched.isPatched ||
      patched
        .pieces()
        .some((piece) => Buffer.from(piece.buffer, piece.byteOffset, piece.length).includes(words)),
    contentType: formType(form.boundary),
    edited: (edits) => patched.patch(formPatchesOf(form, edits)),
    without: () => payload,
    withFields: () => payload,
    whole: () => null,
    hash: (prefix) => hashOf(prefix, form.parts, patched.original),
  };
  return { ok: true, payload, form };
}

/**
 * Returns the text fields; several with one name become a list. A name such as `__proto__` is treated like
 * any other.
 */
function textsOf(bytes: Buffer, parts: readonly FormPart[]): Record<string, string | string[]> {
  const texts = new Map<string, string | string[]>();
  for (const { field, fileName, contentFrom, contentTo } of parts) {
    if (fileName !== null) continue;
    const text = bytes.toString("utf8", contentFrom, contentTo);
    const earlier = texts.get(field);
    if (earlier === undefined) texts.set(field, text);
    else if (typeof earlier === "string") texts.set(field, [earlier, text]);
    else earlier.push(text);
  }
  return Object.fromEntries(texts);
}

/** A field that is set keeps its first place; all other parts with its name are removed, including files. */
export function formPatchesOf({ parts, boundary, close }: Form, edits: FieldEdits): BytePatch[] {
  const patches: BytePatch[] = [];
  const done = new Set<string>();
  const set = (name: string) => (Object.hasOwn(edits, name) ? edits[name] : undefined);
  for (const { field, fileName, from, next, contentFrom, contentTo } of parts) {
    const value = set(field);
    if (value === undefined) continue;
    if (value === null || fileName !== null || done.has(field)) {
      patches.push({ from, to: next, into: encoder.encode("") });
    } else {
      done.add(field);
      patches.push({ from: contentFrom, to: contentTo, into: encoder.encode(textOf(value)) });
    }
  }
  const added = Object.keys(edits)
    .filter((name) => (edits[name] ?? null) !== null && !done.has(name))
    .map((name) => partOf(boundary, name, textOf(edits[name])));
  if (added.length > 0) patches.push({ from: close, to: close, into: encoder.encode(added.join("")) });
  return patches;
}

/** Returns a value as text without line ends, so that it cannot contain a boundary. */
const textOf = (value: unknown): string =>
  (typeof value === "object" ? JSON.stringify(value) : String(value)).replace(/[\r\n]+/g, " ");

const partOf = (boundary: string, name: string, value: string): string => {
  const field = name.replace(/\r/g, "%0D").replace(/\n/g, "%0A").replaceAll('"', "%22");
  return `--${boundary}\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`;
};

/** Hashes the parts instead of the bytes, because a client that repeats a form uses another boundary. */
function hashOf(
  prefix: string,
  parts: readonly FormPart[],
  content: (from: number, to: number) => Uint8Array,
): string {
  const hasher = new Bun.CryptoHasher("sha256").update(prefix);
  for (const { field, fileName, type, contentFrom, contentTo } of parts) {
    hasher.update(`${JSON.stringify([field, fileName, type, contentTo - contentFrom])}\n`);
    hasher.update(content(contentFrom, contentTo));
  }
  return hasher.digest("hex");
}
