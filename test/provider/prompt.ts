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

/** Tokens of the messages and of the tools they may call; markers are not part of what was said. */
export const countPrompt = (messages: readonly Message[], tools: unknown): number =>
  messages.reduce(
    (sum, message) => sum + MESSAGE_TOKENS + countWords(readMarkers(textOf(message.content)).said),
    MESSAGE_TOKENS + (Array.isArray(tools) && tools.length > 0 ? countWords(JSON.stringify(tools)) : 0),
  );
