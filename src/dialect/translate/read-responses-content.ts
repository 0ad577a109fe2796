// Reads content parts of the responses dialect for a provider of another style. What lies at a provider and cannot be
// reached by another one is refused. Unknown parts are dropped.

import { isObject, type Json } from "../json.ts";
import type { ContentPart, TextPart } from "./conversation.ts";
import { filePart, imageSource, isWeb, textOf } from "./read-chat-content.ts";
import type { ReadingContext } from "./request-form.ts";

type ContentContext = Pick<ReadingContext, "refusals" | "hasDocumentUrls">;
type ReadPart = (part: Json, at: string, context: ContentContext) => readonly ContentPart[];

const readText: ReadPart = (part) => textOf(part.text);

const readImage: ReadPart = ({ image_url: url, detail }, at, { refusals }) => {
  const source = typeof url === "string" ? imageSource(url) : null;
  if (source !== null) {
    return [{ kind: "image", source, ...(typeof detail === "string" ? { detail } : {}) }];
  }
  const rule = "must be a web address, or a base64 data URL of a JPEG, PNG, GIF or WebP image";
  refusals.add(`${at}.image_url`, rule);
  return [];
};

const readFile: ReadPart = (part, at, { refusals, hasDocumentUrls }) => {
  const { filename, file_data: data, file_url: url } = part;
  const title = typeof filename === "string" && filename.trim() !== "" ? filename : null;
  if (typeof url === "string" && isWeb(url)) {
    if (hasDocumentUrls) return [{ kind: "document", source: { kind: "url", url }, title }];
    refusals.add(`${at}.file_url`, "must be file_data: this model's provider reads no addresses of files");
    return [];
  }
  const read = typeof data === "string" && !isWeb(data) ? filePart(data, title) : null;
  if (read !== null) return [read];
  refusals.add(`${at}.file_data`, "must be a PDF, a text or an image: file ids are not known here");
  return [];
};

const readAudio: ReadPart = (_part, at, { refusals }) => {
  refusals.add(at, "must not be audio: it is not translated");
  return [];
};

const PARTS: ReadonlyMap<unknown, ReadPart> = new Map<string, ReadPart>([
  ["input_text", readText],
  ["output_text", readText],
  ["text", readText],
  ["refusal", (part) => textOf(part.refusal)],
  ["input_image", readImage],
  ["input_file", readFile],
  ["input_audio", readAudio],
]);

/** Returns the parts of a string or an array. `at` is the path of the content, for refusals. */
export function responsesParts(content: unknown, at: string, context: ContentContext): ContentPart[] {
  if (!Array.isArray(content)) return textOf(content);
  return content.flatMap((part: unknown, i) =>
    isObject(part) ? (PARTS.get(part.type)?.(part, `${at}.${i}`, context) ?? []) : [],
  );
}

const TEXTS: ReadonlySet<unknown> = new Set(["input_text", "output_text", "text"]);

/** Returns the texts of a string or an array; other parts are dropped. */
export function responsesTexts(content: unknown): TextPart[] {
  if (!Array.isArray(content)) return textOf(content);
  return content.flatMap((part: unknown) => {
    if (!isObject(part)) return [];
    return TEXTS.has(part.type) ? textOf(part.text) : part.type === "refusal" ? textOf(part.refusal) : [];
  });
}
