// The payload of a large JSON body as bytes. Long base64, mostly images, is never decoded and is shortened in
// the parsed value, so that a body of 20 MB with an image costs little more than its own bytes. Edits are
// made in place. What only looks at a value may have it with a character for each byte, which takes half the time.

import { isUtf8 } from "node:buffer";
import { isObject } from "../json.ts";
import { type LongString, longStrings } from "./base64-strings.ts";
import { hasAsciiEscapes, intoTexts, textOfBytes } from "./byte-strings.ts";
import { type JsonFields, patchesOf, rewritten, topLevelFields } from "./json-fields.ts";
import { withInsertions } from "./json-insertion.ts";
import { withoutPlaces } from "./json-removal.ts";
import {
  type BodyBytes,
  type BytePatch,
  makeRoom,
  type PatchedBytes,
  patchedBytes,
} from "./patched-bytes.ts";
import type { FieldEdits, FieldInsertion, FormFile, JsonPath, Payload } from "./payload.ts";
import { jsonPayload } from "./payload-json.ts";
import { mayMention } from "./text-search.ts";

const encoder = new TextEncoder();

/**
 * Returns the body as it is read and sent: without a byte order mark, and decoded and encoded again if it is not
 * valid UTF-8, so that the provider receives what the gateway has read.
 */
export function readableBytes(body: BodyBytes): BodyBytes {
  const { buffer, from, to } = body;
  const isMarked = buffer[from] === 0xef && buffer[from + 1] === 0xbb && buffer[from + 2] === 0xbf;
  const marked = isMarked ? { buffer, from: from + 3, to } : body;
  const bytes = asBuffer(buffer.subarray(marked.from, to));
  if (isUtf8(bytes)) return marked;
  const text = encoder.encode(bytes.toString("utf8"));
  const room = makeRoom(text.length);
  room.buffer.set(text, room.from);
  return room;
}

/**
 * How the strings of a value are made of bytes: as UTF-8, or with one character (U+0000 to U+00FF) for each byte. JSON's own
 * characters are ASCII, so the two differ in the content of strings alone.
 */
export type Reading = "utf8" | "latin1";

/** Whether a body can be read with a character for each byte. */
export const hasByteStrings = (body: BodyBytes): boolean => hasAsciiEscapes(bytesOf(body));

const bytesOf = ({ buffer, from, to }: BodyBytes): Buffer => asBuffer(buffer.subarray(from, to));

/** Returns the bytes of a text by how it was read. */
const SIZES: { readonly [R in Reading]: (text: string) => number } = {
  utf8: (text) => Buffer.byteLength(text),
  latin1: (text) => text.length,
};

/**
 * Creates the payload of a readable body, which owns the buffer from then on. Read as Latin-1, strings in ASCII are as they should
 * be, and of others only the length is right. Throws what `parse` throws.
 */
export function jsonBytesPayload(
  body: BodyBytes,
  parse: (text: string) => unknown = JSON.parse,
  reading: Reading = "utf8",
): JsonBytesPayload {
  const bytes = bytesOf(body);
  const long = longStrings(bytes);
  const { value, fields } = readShortened(bytes, long, parse, reading);
  return new JsonBytesPayload(patchedBytes(body), parse, {
    value,
    fields,
    reading,
    lengths: lengthsOf(long),
  });
}

/** The lengths of shortened strings by what is left of them; null where none was shortened. */
function lengthsOf(long: readonly LongString[]): ReadonlyMap<string, number> | null {
  if (long.length === 0) return null;
  const lengths = new Map<string, number>();
  for (const { beginning, length } of long) {
    lengths.set(beginning, Math.max(length, lengths.get(beginning) ?? 0));
  }
  return lengths;
}

const NO_FILES: readonly FormFile[] = [];

/** What was read of a body. */
interface ReadValue {
  readonly value: unknown;
  readonly fields: JsonFields | null;
  readonly reading: Reading;
  readonly lengths: ReadonlyMap<string, number> | null;
}

/** A payload, its bytes, and the top-level fields of its body by byte position; null for one that cannot be patched. */
export class JsonBytesPayload implements Payload {
  readonly contentType = "application/json";
  readonly files = NO_FILES;
  readonly value: unknown;
  readonly fields: JsonFields | null;
  readonly textOf: ((string: string) => string) | undefined;

  constructor(
    readonly bytes: PatchedBytes,
    private readonly parse: (text: string) => unknown,
    private readonly read: ReadValue,
  ) {
    this.value = read.value;
    this.fields = read.fields;
    this.textOf = read.reading === "latin1" ? textOfBytes : undefined;
  }

  /** Whether all strings of the value are text and none is shortened. */
  private get isComplete(): boolean {
    return this.read.lengths === null && this.read.reading === "utf8";
  }

  lengthOf(string: string): number {
    const { lengths, reading } = this.read;
    return lengths?.get(string) ?? SIZES[reading](string);
  }

  mentions(words: string): boolean {
    const { bytes } = this;
    // After an edit the search would have to cross the seams between pieces, so the answer is true.
    return bytes.isPatched || mayMention(words, (spelt) => asBuffer(bytes.pieces()[0]!).includes(spelt));
  }

  edited(edits: FieldEdits): string | Uint8Array {
    const { bytes, value, fields } = this;
    if (!isObject(value)) return bytes.patch([]);
    if (fields === null) return rewritten(this.whole() as object, edits);
    return bytes.patch(bytePatchesOf(fields, edits));
  }

  // This and the next are rare, so a second copy in memory is acceptable.
  without(places: readonly JsonPath[]): Payload {
    return jsonPayload(withoutPlaces(originalText(this.bytes), places), this.parse);
  }

  withFields(insertions: readonly FieldInsertion[]): Payload {
    return jsonPayload(withInsertions(originalText(this.bytes), insertions), this.parse);
  }

  whole(): unknown {
    return this.isComplete ? this.value : this.parse(originalText(this.bytes));
  }

  /**
   * Returns the payload of the same bytes whose strings are complete text. It changes the value of this one, which must not be
   * used any more.
   */
  intoText(): JsonBytesPayload {
    if (this.isComplete) return this;
    const { bytes, parse, read } = this;
    const value = read.lengths === null ? intoTexts(read.value) : this.whole();
    return new JsonBytesPayload(bytes, parse, { ...read, value, reading: "utf8", lengths: null });
  }

  hash(prefix: string): string {
    return hashOf(this.bytes, prefix);
  }
}

/** Returns the text of a body without its patches. */
export const originalText = (bytes: PatchedBytes): string =>
  bytes.pieces().reduce((text, piece) => text + asBuffer(piece).toString("utf8"), "");

/** Returns the SHA-256 of `prefix` and a body without its patches, in hex. */
export function hashOf(bytes: PatchedBytes, prefix: string): string {
  const hasher = new Bun.CryptoHasher("sha256").update(prefix);
  for (const piece of bytes.pieces()) hasher.update(piece);
  return hasher.digest("hex");
}

/** Returns the patches of edits to a body whose fields are known by byte position. */
export const bytePatchesOf = (fields: JsonFields, edits: FieldEdits): BytePatch[] =>
  patchesOf(fields, edits).map(({ from, to, into }) => ({ from, to, into: encoder.encode(into) }));

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Parses the body with shortened strings, and returns its fields by byte position. The text is not kept. */
function readShortened(
  bytes: Buffer,
  long: readonly LongString[],
  parse: (text: string) => unknown,
  reading: Reading,
): { value: unknown; fields: JsonFields | null } {
  const stretches: { readonly text: string; readonly from: number }[] = [];
  let from = 0;
  for (const { keptTo, to } of long) {
    stretches.push({ text: bytes.toString(reading, from, keptTo), from });
    from = to;
  }
  stretches.push({ text: bytes.toString(reading, from), from });
  const text = stretches.map((one) => one.text).join("");
  const value = parse(text);
  const fields = topLevelFields(text);
  return { value, fields: fields === null ? null : placed(fields, stretches, reading) };
}

/** Converts text positions to byte positions in one pass, which needs them in ascending order. */
function placed(
  { open, fields }: JsonFields,
  stretches: readonly { readonly text: string; readonly from: number }[],
  reading: Reading,
): JsonFields {
  let stretch = 0;
  /** Text position of the current stretch; `walked` (characters) and `byte` are the progress in it. */
  let textFrom = 0;
  let walked = 0;
  let byte = stretches[0]!.from;
  const byteAt = (at: number): number => {
    while (at > textFrom + stretches[stretch]!.text.length) {
      textFrom += stretches[stretch]!.text.length;
      stretch++;
      walked = 0;
      byte = stretches[stretch]!.from;
    }
    byte += SIZES[reading](stretches[stretch]!.text.slice(walked, at - textFrom));
    walked = at - textFrom;
    return byte;
  };
  return {
    open: byteAt(open),
    fields: fields.map(({ name, nameFrom, from, to }) => {
      return { name, nameFrom: byteAt(nameFrom), from: byteAt(from), to: byteAt(to) };
    }),
  };
}
