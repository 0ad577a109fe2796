// The prompt of a request: the text inside its messages, and how many tokens that is. One rule for every dialect.

import { countWords } from "./answer.ts";
import { readMarkers } from "./script.ts";

export interface Message {
  readonly role?: unknown;
  readonly content?: unknown;
}

/** What a message adds to its words, and the answer's start to the whole. */
const MESSAGE_TOKENS = 3;

/** The text of a message's content: of its text parts, and of the results of tools. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const parts: readonly { readonly text?: unknown; readonly content?: unknown }[] = content;
  return parts.map((part) => (typeof part.text === "string" ? part.text : textOf(part.content))).join(" ");
}

const IMAGE_KINDS: readonly unknown[] = ["image_url", "input_image", "image"];
/** An image is inside the prompt, at one size. */
const IMAGE_TOKENS = 85;

interface Part {
  readonly type?: unknown;
  readonly content?: unknown;
  readonly image_url?: unknown;
}

const partsOf = (content: unknown): readonly Part[] =>
  Array.isArray(content) ? content.filter((part) => typeof part === "object" && part !== null) : [];

const imagesIn = (content: unknown): number =>
  partsOf(content).reduce(
    (sum, part) => sum + (IMAGE_KINDS.includes(part.type) ? 1 : imagesIn(part.content)),
    0,
  );

/** Whether a part shows an image that is neither written out nor at an address. */
export const hasBadImage = (content: unknown): boolean =>
  partsOf(content).some(({ type, image_url }) => {
    if (type !== "image_url" && !(type === "input_image" && image_url != null)) return false;
    const url = typeof image_url === "string" ? image_url : (image_url as { url?: unknown } | undefined)?.url;
    return typeof url !== "string" || !/^(data:image\/[a-z+.-]+;base64,[A-Za-z0-9+/]|https?:\/\/)/.test(url);
  });

/** Tokens of the messages and of the tools they may call; markers are not part of what was said. */
export const countPrompt = (messages: readonly Message[], tools: unknown): number =>
  messages.reduce(
    (sum, { content }) =>
      sum + MESSAGE_TOKENS + imagesIn(content) * IMAGE_TOKENS + countWords(readMarkers(textOf(content)).said),
    MESSAGE_TOKENS + (Array.isArray(tools) && tools.length > 0 ? countWords(JSON.stringify(tools)) : 0),
  );
