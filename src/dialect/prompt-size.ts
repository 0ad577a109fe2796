// What a prompt weighs and what of it can be read: shared by the dialects, whose parts differ only in name.
// Payloads of images and files are counted by piece, never as text.

import { isObject, type Json } from "./json.ts";
import type { Payload } from "./payload/payload.ts";

/** The top-level fields of a request that the model reads. */
export interface ReadFields {
  /** Their parts may be images and files. */
  readonly withParts: readonly string[];
  /** Text all of it, names of fields included: a schema in there may say {type: "file"} and means no file. */
  readonly asText?: readonly string[];
}

export interface PromptSize {
  readonly bytes: number;
  readonly images: number;
  readonly files: number;
}

/** What the model reads of a body that is an object. */
export function promptSizeOf(payload: Payload, { withParts, asText = [] }: ReadFields): PromptSize {
  const body = payload.value as Json;
  const sum = { bytes: 0, images: 0, files: 0, lengthOf: payload.lengthOf };
  for (const field of withParts) weigh(body[field], sum, true);
  for (const field of asText) weigh(body[field], sum, false);
  return sum;
}

/** All text that the model reads, for counting a prompt whose usage nobody gave. Payloads of images and files are left out. */
export function promptTextsOf(payload: Payload, fields: ReadFields): string[] {
  const texts = textsIn(payload.value as Json, fields);
  const isLeftOut = (text: string) => payload.lengthOf(text) > Buffer.byteLength(text);
  return texts.some(isLeftOut) ? textsIn(payload.whole() as Json, fields) : texts;
}

function textsIn(body: Json, { withParts, asText = [] }: ReadFields): string[] {
  const texts: string[] = [];
  for (const field of withParts) gather(body[field], texts, true);
  for (const field of asText) gather(body[field], texts, false);
  return texts;
}

/** Parts of messages whose weight is not their text. */
const HEAVY: ReadonlyMap<unknown, "images" | "files"> = new Map([
  ["image_url", "images"],
  ["image", "images"],
  ["input_image", "images"],
  ["input_audio", "files"],
  ["audio", "files"],
  ["video_url", "files"],
  ["file", "files"],
  ["input_file", "files"],
  ["document", "files"],
  ["computer_screenshot", "images"],
  ["image_generation_call", "images"],
]);

/** Sources of a document that are text, or parts, rather than a file's bytes. */
const READ_SOURCES: ReadonlySet<unknown> = new Set(["text", "content"]);

/** What a part weighs as a piece; undefined: as its text. */
function pieceOf(part: Json): "images" | "files" | undefined {
  const read = isObject(part.source) && READ_SOURCES.has(part.source.type);
  return read ? undefined : HEAVY.get(part.type);
}

/** Fields of a piece that hold it, or say which it is. Whatever else stands there is read, by whoever minds no type. */
const HELD: ReadonlySet<string> = new Set([
  ...["type", "id", "status", "detail", "cache_control"],
  ...["image_url", "image", "input_audio", "audio", "video_url", "file", "source", "data", "result"],
  ...["file_id", "file_url", "file_data", "filename"],
]);

const readIn = (part: Json, isPiece: boolean): readonly string[] =>
  isPiece ? Object.keys(part).filter((key) => !HELD.has(key)) : Object.keys(part);

/** What a call was given is text, whatever its fields are called. */
const isPart = (key: string): boolean => key !== "input";

/** For the marks that a provider puts around a message or a field. */
const FRAME_BYTES = 4;

interface Sum {
  bytes: number;
  images: number;
  files: number;
  readonly lengthOf: (text: string) => number;
}

/** Adds the weight of a value; `parts`: objects of a heavy type are pieces, and what holds them is no text. */
function weigh(value: unknown, sum: Sum, parts: boolean): void {
  if (typeof value === "string") {
    sum.bytes += sum.lengthOf(value);
  } else if (typeof value === "number" || typeof value === "boolean") {
    sum.bytes += FRAME_BYTES;
  } else if (Array.isArray(value)) {
    for (const item of value) weigh(item, sum, parts);
  } else if (isObject(value)) {
    const heavy = parts ? pieceOf(value) : undefined;
    if (heavy !== undefined) sum[heavy]++;
    for (const key of readIn(value, heavy !== undefined)) {
      sum.bytes += sum.lengthOf(key) + FRAME_BYTES;
      weigh(value[key], sum, parts && isPart(key));
    }
  }
}

/** Adds every text of a value; `parts` as in `weigh`. */
function gather(value: unknown, into: string[], parts: boolean): void {
  if (typeof value === "string") {
    if (value !== "") into.push(value);
  } else if (Array.isArray(value)) {
    for (const item of value) gather(item, into, parts);
  } else if (isObject(value)) {
    for (const key of readIn(value, parts && pieceOf(value) !== undefined)) {
      // A schema's field names are read too; those of a message are the provider's framing.
      if (!parts) into.push(key);
      gather(value[key], into, parts && isPart(key));
    }
  }
}
