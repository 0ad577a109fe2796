// Writes ordered turns as messages of the chat dialect. A tool message holds text only, so images and files
// of a result follow in a user message.

import { signedExtra } from "../chat/call-signatures.ts";
import type { Json } from "../json.ts";
import {
  type AssistantTurn,
  type ContentPart,
  type ConversationTurn,
  FILLER,
  isReasoningPart,
  isTextPart,
  isToolCall,
  type Source,
  type TextPart,
  type ToolCall,
  type ToolResult,
  textPart,
  type UserTurn,
  userTurn,
} from "./conversation.ts";
import type { ModelFacts } from "./translation.ts";

/** What the model's provider reads of earlier answers. */
type Reader = Pick<ModelFacts, "readsReasoning" | "signsCalls">;

/** Returns the messages, with the system texts first. */
export function chatMessages(
  system: readonly TextPart[],
  turns: readonly ConversationTurn[],
  reader: Reader,
): readonly Json[] {
  const messages = turns.flatMap((turn) => messagesOf(turn, reader));
  const leading = system.length === 0 ? [] : [systemMessage(system)];
  return messages.length + leading.length === 0
    ? userMessages(userTurn([textPart(FILLER)]))
    : [...leading, ...messages];
}

function messagesOf(turn: ConversationTurn, reader: Reader): Json[] {
  switch (turn.role) {
    case "system":
      return [systemMessage(turn.texts)];
    case "user":
      return userMessages(turn);
    case "assistant":
      return [assistantMessage(turn, reader)];
  }
}

const joined = (texts: readonly { readonly text: string }[]): string =>
  texts.map((part) => part.text).join("\n");

const systemMessage = (texts: readonly TextPart[]): Json => ({ role: "system", content: joined(texts) });

function assistantMessage({ parts }: AssistantTurn, { readsReasoning, signsCalls }: Reader): Json {
  const texts = parts.filter(isTextPart);
  const calls = parts.filter(isToolCall);
  const reasoning = readsReasoning ? parts.filter(isReasoningPart) : [];
  return {
    role: "assistant",
    content: texts.length === 0 ? null : joined(texts),
    ...(reasoning.length > 0 ? { reasoning_content: joined(reasoning) } : {}),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map((call, nth) => callOf(call, signsCalls && nth === 0)),
        }),
  };
}

function callOf({ id, name, arguments: given, extra }: ToolCall, isSigned: boolean): Json {
  const attached = isSigned ? signedExtra(extra) : extra;
  return {
    id,
    type: "function",
    function: { name, arguments: given },
    ...(attached === undefined ? {} : { extra_content: attached }),
  };
}

function userMessages({ results, parts }: UserTurn): Json[] {
  const shown = [...results.flatMap(attachments), ...parts];
  const user = shown.length === 0 ? [] : [{ role: "user", content: contentOf(shown) }];
  return [...results.map(toolMessage), ...user];
}

function toolMessage({ of, parts, failed }: ToolResult): Json {
  const words = parts.map((part) =>
    part.kind === "text" ? part.text : `[${part.kind}: see the next user message]`,
  );
  const content = words.join("\n");
  return { role: "tool", tool_call_id: of, content: failed ? `Error: ${content}` : content };
}

/** Returns the parts of a result that a tool message cannot hold. */
function attachments({ of, parts }: ToolResult): ContentPart[] {
  const held = parts.filter((part) => part.kind !== "text");
  return held.length === 0 ? [] : [textPart(`From the result of ${of}:`), ...held];
}

const contentOf = (parts: readonly ContentPart[]): unknown =>
  parts.length === 1 && parts[0]!.kind === "text" ? parts[0]!.text : parts.map(partOf);

function partOf(part: ContentPart): Json {
  switch (part.kind) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
      return { type: "image_url", image_url: imageOf(part.source, part.detail) };
    case "document":
      return {
        type: "file",
        file: { filename: part.title ?? "document.pdf", file_data: addressOf(part.source) },
      };
  }
}

const imageOf = (source: Source, detail: string | undefined): Json => ({
  url: addressOf(source),
  ...(detail === undefined ? {} : { detail }),
});

const addressOf = (source: Source): string =>
  source.kind === "url" ? source.url : `data:${source.mediaType};base64,${source.data}`;
