// What a prompt weighs and what of it can be read: shared by the dialects, whose parts differ only in name.
// Payloads of images and files are counted by piece, never as text.

import type { Json } from "./dialect.ts";
import { isObject } from "./json.ts";

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
]);

/** Sources of a document that are text, or parts, rather than a file's bytes. */
const READ_SOURCES: ReadonlySet<unknown> = new Set(["text", "content"]);

/** What a part weighs as a piece; undefined: as its text. */
function pieceOf(part: Json): "images" | "files" | undefined {
  const read = isObject(part.source) && READ_SOURCES.has(part.source.type);
  return read ? undefined : HEAVY.get(part.type);
}

/** What a call was given is text, whatever its fields are called. */
const isPart = (key: string): boolean => key !== "input";

/** For the marks that a provider puts around a message or a field. */
const FRAME_BYTES = 4;

export interface Weight {
  bytes: number;
  images: number;
  files: number;
}

/** Adds the weight of a value; `parts`: objects of a heavy type are pieces, not text. */
export function weigh(value: unknown, sum: Weight, parts: boolean): void {
  if (typeof value === "string") {
    sum.bytes += Buffer.byteLength(value);
  } else if (typeof value === "number" || typeof value === "boolean") {
    sum.bytes += FRAME_BYTES;
  } else if (Array.isArray(value)) {
    for (const item of value) weigh(item, sum, parts);
  } else if (isObject(value)) {
    const heavy = parts ? pieceOf(value) : undefined;
    if (heavy !== undefined) {
      sum[heavy]++;
      return;
    }
    for (const key of Object.keys(value)) {
      sum.bytes += key.length + FRAME_BYTES;
      weigh(value[key], sum, parts && isPart(key));
    }
  }
}

export const noWeight = (): Weight => ({ bytes: 0, images: 0, files: 0 });

/** Adds every text of a value; `parts` as in `weigh`. */
export function gather(value: unknown, into: string[], parts: boolean): void {
  if (typeof value === "string") {
    if (value !== "") into.push(value);
  } else if (Array.isArray(value)) {
    for (const item of value) gather(item, into, parts);
  } else if (isObject(value) && !(parts && pieceOf(value) !== undefined)) {
    for (const key of Object.keys(value)) {
      // A schema's field names are read too; those of a message are the provider's framing.
      if (!parts) into.push(key);
      gather(value[key], into, parts && isPart(key));
    }
  }
}
