// Reads content parts of the chat dialect for a messages provider. Audio and video are refused, because the
// messages dialect does not support them. Unknown parts are dropped.

import { isObject, type Json } from "../json.ts";
import { type ContentPart, type Source, type TextPart, type ThinkingPart, textPart } from "./conversation.ts";
import { dataOf, imageTypeOf } from "./data-url.ts";
import { signedBlocks } from "./reasoning-item.ts";
import type { Refusals } from "./translation-errors.ts";

type ReadPart = (part: Json, at: string, refusals: Refusals) => readonly ContentPart[];

const refused =
  (rule: string): ReadPart =>
  (_part, at, refusals) => {
    refusals.add(at, rule);
    return [];
  };

/** Returns a text as a part, or nothing if it is blank, because messages providers refuse blank texts. */
export const textOf = (words: unknown): TextPart[] =>
  typeof words === "string" && /\S/.test(words) ? [textPart(words)] : [];

const readText = (part: Json): TextPart[] => textOf(part.text).map((one) => ({ ...one, ...cacheOf(part) }));

/** Returns the cache mark of a part. Some clients send it, although it is not part of the chat dialect. */
export function cacheOf(marked: Json): { readonly cache?: Json } {
  const mark = marked.cache_control;
  if (!isObject(mark) || mark.type !== "ephemeral") return {};
  const lives = mark.ttl === "5m" || mark.ttl === "1h" ? { ttl: mark.ttl } : {};
  return { cache: { type: "ephemeral", ...lives } };
}

/** Whether a text is a web address. */
export const isWeb = (url: string): boolean => /^https?:\/\//i.test(url);

function readImage(part: Json, at: string, refusals: Refusals): ContentPart[] {
  const url = isObject(part.image_url) ? part.image_url.url : part.image_url;
  const source = typeof url === "string" ? imageSource(url) : null;
  if (source !== null) return [{ kind: "image", source, ...cacheOf(part) }];
  refusals.add(
    `${at}.image_url`,
    "must be a web address, or a base64 data URL of a JPEG, PNG, GIF or WebP image",
  );
  return [];
}

/** Returns the source of an image by its address, or null when providers do not accept it. */
export function imageSource(url: string): Source | null {
  if (isWeb(url)) return { kind: "url", url };
  const held = dataOf(url);
  if (held === null) return null;
  const mediaType = imageTypeOf(held.mediaType, held.data);
  return mediaType === null ? null : { kind: "data", mediaType, data: held.data };
}

function readFile(part: Json, at: string, refusals: Refusals): ContentPart[] {
  const file = isObject(part.file) ? part.file : {};
  const title = typeof file.filename === "string" && file.filename.trim() !== "" ? file.filename : null;
  const read = typeof file.file_data === "string" ? filePart(file.file_data, title) : null;
  if (read !== null) return [{ ...read, ...cacheOf(part) }];
  refusals.add(
    `${at}.file`,
    "must have file_data with a PDF, a text or an image: file ids are not known here",
  );
  return [];
}

/** Returns the content of a file: a document, a text or an image. Returns null when it is none of these. */
export function filePart(data: string, title: string | null): ContentPart | null {
  if (isWeb(data)) return { kind: "document", source: { kind: "url", url: data }, title };
  const held = data.startsWith("data:") ? dataOf(data) : { mediaType: "application/pdf", data };
  if (held === null || held.data.trim() === "") return null;
  if (held.mediaType === "application/pdf") {
    return { kind: "document", source: { kind: "data", ...held }, title };
  }
  if (held.mediaType.startsWith("text/")) {
    const words = Buffer.from(held.data, "base64").toString("utf8");
    return words.trim() === "" ? null : textPart(title === null ? words : `${title}\n${words}`);
  }
  const source = imageSource(data);
  return source === null ? null : { kind: "image", source };
}

const PARTS: ReadonlyMap<unknown, ReadPart> = new Map<string, ReadPart>([
  ["text", readText],
  ["refusal", (part) => textOf(part.refusal)],
  ["image_url", readImage],
  ["file", readFile],
  ["input_audio", refused("must not be audio: this model's provider takes none")],
  ["video_url", refused("must not be video: this model's provider takes none")],
]);

/** Returns the parts of a string or an array. `at` is the path of the content, for refusals. */
export function chatParts(content: unknown, at: string, refusals: Refusals): ContentPart[] {
  if (!Array.isArray(content)) return textOf(content);
  return content.flatMap((part: unknown, i) => {
    if (typeof part === "string") return textOf(part);
    return isObject(part) ? (PARTS.get(part.type)?.(part, `${at}.${i}`, refusals) ?? []) : [];
  });
}

/** Returns the texts of a string or an array; other parts are dropped. */
export function chatTexts(content: unknown): TextPart[] {
  if (!Array.isArray(content)) return textOf(content);
  return content.flatMap((part: unknown) => {
    if (typeof part === "string") return textOf(part);
    if (!isObject(part)) return [];
    return part.type === "text" ? readText(part) : part.type === "refusal" ? textOf(part.refusal) : [];
  });
}

/**
 * Returns the texts and the signed thinking of an answer in the order in which a client returns them. Thinking inside the
 * content is not part of the chat dialect, but some clients send it.
 */
export function chatAnswer(content: unknown): (ThinkingPart | TextPart)[] {
  if (!Array.isArray(content)) return textOf(content);
  return content.flatMap((part: unknown): (ThinkingPart | TextPart)[] => [
    ...signedBlocks([part]).map((block) => ({ kind: "thinking", block }) as const),
    ...chatTexts([part]),
  ]);
}
