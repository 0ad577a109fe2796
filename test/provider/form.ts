// Reads multipart/form-data: text fields and files, in the order they came. It knows of no endpoint.
// A form that is not one is null, never a guess.

import { createHash } from "node:crypto";
import type { Headers } from "./wire.ts";

/** A request's fields by name: of a JSON body, or the texts of a form; of a repeated field the list. */
export type Fields = Readonly<Record<string, unknown>>;

export interface FilePart {
  /** The field it came in. */
  readonly field: string;
  /** The file's own name; empty without one. */
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** What is remembered of a file. */
export interface FileSeen extends Omit<FilePart, "bytes"> {
  readonly sizeBytes: number;
  /** In hex. */
  readonly sha256: string;
}

export interface Form {
  readonly fields: Fields;
  readonly files: readonly FilePart[];
}

export const isForm = (headers: Headers): boolean =>
  /^multipart\/form-data\b/i.test(headers["content-type"] ?? "");

export const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export const seen = ({ field, name, type, bytes }: FilePart): FileSeen => ({
  field,
  name,
  type,
  sizeBytes: bytes.length,
  sha256: sha256Of(bytes),
});

/** The parts of a form; null when it is broken: no boundary, no close, a part without a name. */
export function readForm(bytes: Buffer, headers: Headers): Form | null {
  const found = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(headers["content-type"] ?? "");
  const boundary = found?.[1] ?? found?.[2];
  if (boundary === undefined) return null;
  const parts = partsOf(bytes, `--${boundary}`);
  if (parts === null) return null;
  const fields: Record<string, unknown> = {};
  const files: FilePart[] = [];
  for (const part of parts) {
    const end = part.indexOf("\r\n\r\n");
    const head = part.toString("utf8", 0, Math.max(0, end));
    const field = parameter(head, "name");
    if (end < 0 || field === null) return null;
    const content = part.subarray(end + 4);
    const name = parameter(head, "filename");
    if (name !== null) files.push({ field, name, type: typeOf(head), bytes: content });
    else fields[field] = Object.hasOwn(fields, field) ? [fields[field], `${content}`].flat() : `${content}`;
  }
  return { fields, files };
}

/** What stands between the boundaries; null without the closing one. */
function partsOf(bytes: Buffer, delimiter: string): Buffer[] | null {
  const parts: Buffer[] = [];
  let at = bytes.indexOf(delimiter);
  while (at >= 0) {
    const start = at + delimiter.length;
    if (bytes.toString("latin1", start, start + 2) === "--") return parts;
    const next = bytes.indexOf(`\r\n${delimiter}`, start);
    if (next < 0) return null;
    parts.push(bytes.subarray(start + 2, next));
    at = next + 2;
  }
  return null;
}

function parameter(head: string, name: string): string | null {
  const found = new RegExp(`^content-disposition:[^\\r\\n]*;\\s*${name}=(?:"([^"]*)"|([^;\\s]+))`, "im").exec(
    head,
  );
  return found?.[1] ?? found?.[2] ?? null;
}

const typeOf = (head: string): string =>
  /^content-type:\s*([^\r\n]+)/im.exec(head)?.[1]?.trim() ?? "application/octet-stream";
