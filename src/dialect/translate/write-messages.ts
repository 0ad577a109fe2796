// Writes ordered turns as messages of the messages dialect. It requires that the user begins, that no text is
// blank, and that a partial answer at the end has no trailing white space.

import type { Json } from "../json.ts";
import {
  type AssistantPart,
  type AssistantTurn,
  type ContentPart,
  type ConversationTurn,
  FILLER,
  isTextPart,
  type Source,
  type TextPart,
  type ToolResult,
  textPart,
  type UserTurn,
  userTurn,
} from "./conversation.ts";
import { inputOf } from "./tool-arguments.ts";

/**
 * Returns the messages of a conversation; if there are no turns, the system texts become the user's message.
 */
export function messagesOf(turns: readonly ConversationTurn[], system: readonly TextPart[]): Json[] {
  if (turns.length === 0) return [messageOf(userTurn(system.length > 0 ? system : [textPart(FILLER)]))];
  const begun = turns[0]!.role === "user" ? turns : [userTurn([textPart(FILLER)]), ...turns];
  return begun.map(messageOf);
}

/**
 * Prepares a partial answer at the end to be continued, or asks for its continuation if the model has no
 * prefill.
 */
export function withPrefill(
  turns: readonly ConversationTurn[],
  continues: boolean,
): readonly ConversationTurn[] {
  const last = turns.at(-1);
  if (last?.role !== "assistant") return turns;
  if (!continues) return [...turns, userTurn([textPart("Continue.")])];
  const end = last.parts.findLastIndex(isTextPart);
  const parts = last.parts.map((part, i) =>
    i === end && isTextPart(part) ? { ...part, text: part.text.trimEnd() } : part,
  );
  return [...turns.slice(0, -1), { ...last, parts }];
}

function messageOf(turn: ConversationTurn): Json {
  switch (turn.role) {
    case "system":
      return { role: "system", content: turn.texts.map(blockOf) };
    case "user":
      return userMessage(turn);
    case "assistant":
      return assistantMessage(turn);
  }
}

const userMessage = ({ results, parts }: UserTurn): Json => ({
  role: "user",
  content: contentOf([...results.map(resultBlock), ...parts.map(blockOf)], parts),
});

function assistantMessage({ parts }: AssistantTurn): Json {
  // A message must not end with thinking. An answer that was cut there goes back without it.
  const end = parts.findLastIndex(({ kind }) => kind === "text" || kind === "call") + 1;
  const blocks = parts.slice(0, end).flatMap(assistantBlocks);
  return { role: "assistant", content: contentOf(blocks, parts.filter(isTextPart)) };
}

/** Returns a part of the assistant's as a content block; reasoning as text is none. */
function assistantBlocks(part: AssistantPart): readonly Json[] {
  switch (part.kind) {
    case "thinking":
      return [part.block];
    case "reasoning":
      return [];
    case "text":
      return [blockOf(part)];
    case "call":
      return [{ type: "tool_use", id: part.id, name: part.name, input: inputOf(part.arguments) }];
  }
}

/** Returns a single plain text as a string, and anything else as blocks. */
function contentOf(blocks: readonly Json[], parts: readonly ContentPart[]): unknown {
  const [only] = parts;
  const plain = blocks.length === 1 && only?.kind === "text" && only.cache === undefined;
  return plain ? only.text : blocks;
}

function resultBlock({ of, parts, failed }: ToolResult): Json {
  return {
    type: "tool_result",
    tool_use_id: of,
    ...(parts.length === 0 ? {} : { content: contentOf(parts.map(blockOf), parts) }),
    ...(failed ? { is_error: true } : {}),
  };
}

/** Returns a part as a content block. */
export function blockOf(part: ContentPart): Json {
  const mark = part.cache === undefined ? {} : { cache_control: part.cache };
  switch (part.kind) {
    case "text":
      return { type: "text", text: part.text, ...mark };
    case "image":
      return { type: "image", source: sourceOf(part.source), ...mark };
    case "document":
      return {
        type: "document",
        source: sourceOf(part.source),
        ...(part.title === null ? {} : { title: part.title }),
        ...mark,
      };
  }
}

const sourceOf = (source: Source): Json =>
  source.kind === "url"
    ? { type: "url", url: source.url }
    : { type: "base64", media_type: source.mediaType, data: source.data };
