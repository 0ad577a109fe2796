// A form of several parts as a body: its text fields read, its files looked at where they lie and never copied. Edits are
// made in place, in the same boundary.

import { type Form, type FormPart, formType, readForm } from "./form-parts.ts";
import { type BodyBytes, type BytePatch, patchedBytes } from "./patched-bytes.ts";
import type { FieldEdits, FormFile, Payload } from "./payload.ts";

export type FormPayload =
  | { readonly ok: true; readonly payload: Payload }
  /** What is wrong with the form, as a sentence's end: `The body …`. */
  | { readonly ok: false; readonly fault: string };

/** A longer text is no field. Prompts of models fit. */
const TEXT_BYTES_MAX = 1_000_000;

const encoder = new TextEncoder();

/** The payload of a form; its buffer is the payload's from here on. */
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
    // An edit may move them.
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
    edited: (edits) => patched.patch(patchesOf(form, edits)),
    without: () => payload,
    whole: () => null,
    hash: (prefix) => hashOf(prefix, form.parts, patched.original),
  };
  return { ok: true, payload };
}

/** The text fields; several of one name become a list. A name such as `__proto__` is one like any other. */
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

/** A field that is set stands once, where it first stood; all other parts of its name go, files included. */
function patchesOf({ parts, boundary, close }: Form, edits: FieldEdits): BytePatch[] {
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

/** Without line ends no value can pass for a boundary. */
const textOf = (value: unknown): string =>
  (typeof value === "object" ? JSON.stringify(value) : String(value)).replace(/[\r\n]+/g, " ");

const partOf = (boundary: string, name: string, value: string): string => {
  const field = name.replace(/\r/g, "%0D").replace(/\n/g, "%0A").replaceAll('"', "%22");
  return `--${boundary}\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`;
};

/** Of what the parts are and hold: a client that sends the same form once more takes another boundary. */
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
