// Reads content blocks of the messages dialect for a chat provider. Content that only the messages provider
// can access is refused; blocks of its own tools are dropped.

import { isObject, type Json } from "../json.ts";
import { type ContentPart, type TextPart, textPart } from "./conversation.ts";
import type { Refusals } from "./translation-errors.ts";

type ReadBlock = (block: Json, at: string, refusals: Refusals) => readonly ContentPart[];

const BLOCKS: ReadonlyMap<unknown, ReadBlock> = new Map<string, ReadBlock>([
  ["text", (block) => textOf(block.text)],
  ["image", readImage],
  ["document", readDocument],
  ["search_result", (block, at, refusals) => titled(block, partsOf(block.content, at, refusals))],
]);

/** Returns the parts of a string or of blocks. `at` is the path of the content, for refusals. */
export function partsOf(content: unknown, at: string, refusals: Refusals): ContentPart[] {
  if (typeof content === "string") return textOf(content);
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: unknown, i) =>
    isObject(block) ? (BLOCKS.get(block.type)?.(block, `${at}.${i}`, refusals) ?? []) : [],
  );
}

/** Returns the texts of a string or of blocks; other blocks are dropped. */
export function textsOf(content: unknown): TextPart[] {
  if (typeof content === "string") return textOf(content);
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: unknown) =>
    isObject(block) && block.type === "text" ? textOf(block.text) : [],
  );
}

const textOf = (words: unknown): TextPart[] =>
  typeof words === "string" && words !== "" ? [textPart(words)] : [];

function readImage(block: Json, at: string, refusals: Refusals): ContentPart[] {
  const source = isObject(block.source) ? block.source : {};
  if (source.type === "url" && typeof source.url === "string") {
    return [{ kind: "image", source: { kind: "url", url: source.url } }];
  }
  if (isBase64(source)) {
    return [{ kind: "image", source: { kind: "data", mediaType: source.media_type, data: source.data } }];
  }
  refusals.add(`${at}.source`, "must be base64 data or a URL: this model's provider reads no others");
  return [];
}

function readDocument(block: Json, at: string, refusals: Refusals): ContentPart[] {
  const source = isObject(block.source) ? block.source : {};
  if (source.type === "text") return titled(block, textOf(source.data));
  if (source.type === "content") {
    return titled(block, partsOf(source.content, `${at}.source.content`, refusals));
  }
  if (isBase64(source)) {
    const { media_type: mediaType, data } = source;
    const title = typeof block.title === "string" && block.title !== "" ? block.title : null;
    return [{ kind: "document", source: { kind: "data", mediaType, data }, title }];
  }
  refusals.add(`${at}.source`, "must be base64 data or text: this model's provider reads no others");
  return [];
}

const isBase64 = (source: Json): source is { type: "base64"; media_type: string; data: string } =>
  source.type === "base64" && typeof source.media_type === "string" && typeof source.data === "string";

/** Writes the title and the source of a block as text before its parts. */
function titled(block: Json, parts: readonly ContentPart[]): ContentPart[] {
  const heading = [block.title, block.source, block.context].filter(
    (words): words is string => typeof words === "string" && words !== "",
  );
  const [first, ...rest] = parts;
  if (heading.length === 0 || first === undefined) return [...parts];
  const words = heading.join("\n");
  return first.kind === "text" ? [textPart(`${words}\n${first.text}`), ...rest] : [textPart(words), ...parts];
}
