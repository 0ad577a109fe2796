// Measures a prompt and collects its texts, for all dialects, whose content parts differ only in name.
// Images and files are counted as pieces, never as text.

import { isObject, type Json } from "./json.ts";
import type { Payload } from "./payload/payload.ts";

/** The top-level fields of a request that the model reads. */
export interface ReadFields {
  /** Fields whose content parts may be images and files. */
  readonly withParts: readonly string[];
  /** Fields that count as text, including field names; a schema's {type: "file"} is not a file. */
  readonly asText?: readonly string[];
}

const NO_FIELDS: readonly string[] = [];

/** The size of a prompt: UTF-8 bytes of text, and numbers of images and files. */
export interface PromptSize {
  readonly bytes: number;
  readonly images: number;
  readonly files: number;
}

/** Returns the size of a prompt. The payload's value must be an object. */
export function promptSizeOf(payload: Payload, { withParts, asText = NO_FIELDS }: ReadFields): PromptSize {
  const body = payload.value as Json;
  const sum: Sum = { bytes: 0, images: 0, files: 0, payload };
  for (const field of withParts) weigh(body[field], sum, true);
  for (const field of asText) weigh(body[field], sum, false);
  return sum;
}

/**
 * Returns all text that the model reads, for counting when the provider reports no usage; images and files
 * are omitted.
 */
export function promptTextsOf(payload: Payload, fields: ReadFields): string[] {
  const texts = textsIn(payload.value as Json, fields);
  const isLeftOut = (text: string) => payload.lengthOf(text) > Buffer.byteLength(text);
  return texts.some(isLeftOut) ? textsIn(payload.whole() as Json, fields) : texts;
}

function textsIn(body: Json, { withParts, asText = NO_FIELDS }: ReadFields): string[] {
  const texts: string[] = [];
  for (const field of withParts) gather(body[field], texts, true);
  for (const field of asText) gather(body[field], texts, false);
  return texts;
}

/** Types of content parts that count as an image or a file instead of text. */
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

/** Types of document sources that hold text or parts rather than a file's bytes. */
const READ_SOURCES: ReadonlySet<unknown> = new Set(["text", "content"]);

/** Returns what a part counts as; undefined means text. */
function pieceOf(part: Json): "images" | "files" | undefined {
  const read = isObject(part.source) && READ_SOURCES.has(part.source.type);
  return read ? undefined : HEAVY.get(part.type);
}

/**
 * Fields of an image or file part that hold or identify it. Other fields count as text, since a host may read
 * them.
 */
const HELD: ReadonlySet<string> = new Set([
  ...["type", "id", "status", "detail", "cache_control"],
  ...["image_url", "image", "input_audio", "audio", "video_url", "file", "source", "data", "result"],
  ...["file_id", "file_url", "file_data", "filename"],
]);

/** Whether a field of a part counts as text. */
const isRead = (key: string, isPiece: boolean): boolean => !isPiece || !HELD.has(key);

/** Whether a field may hold parts. The arguments of a call are text, whatever their fields are called. */
const isPart = (key: string): boolean => key !== "input";

/** Estimated bytes of the marks that a provider puts around a message or a field. */
const FRAME_BYTES = 4;

interface Sum {
  bytes: number;
  images: number;
  files: number;
  readonly payload: Pick<Payload, "lengthOf">;
}

/** Adds the size of a value. If `parts` is true, objects of a type in `HEAVY` count as images or files. */
function weigh(value: unknown, sum: Sum, parts: boolean): void {
  if (typeof value === "string") {
    sum.bytes += sum.payload.lengthOf(value);
  } else if (typeof value === "number" || typeof value === "boolean") {
    sum.bytes += FRAME_BYTES;
  } else if (Array.isArray(value)) {
    for (const item of value) weigh(item, sum, parts);
  } else if (isObject(value)) {
    const heavy = parts ? pieceOf(value) : undefined;
    if (heavy !== undefined) sum[heavy]++;
    for (const key in value) {
      if (!isRead(key, heavy !== undefined)) continue;
      sum.bytes += sum.payload.lengthOf(key) + FRAME_BYTES;
      weigh(value[key], sum, parts && isPart(key));
    }
  }
}

/** Adds every text of a value; `parts` is as in `weigh`. */
function gather(value: unknown, into: string[], parts: boolean): void {
  if (typeof value === "string") {
    if (value !== "") into.push(value);
  } else if (Array.isArray(value)) {
    for (const item of value) gather(item, into, parts);
  } else if (isObject(value)) {
    const isPiece = parts && pieceOf(value) !== undefined;
    for (const key in value) {
      if (!isRead(key, isPiece)) continue;
      // The model reads a schema's field names; those of a message are framing.
      if (!parts) into.push(key);
      gather(value[key], into, parts && isPart(key));
    }
  }
}
