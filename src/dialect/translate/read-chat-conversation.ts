// Reads the messages of a chat request as turns, and says where the thinking of an answer stands: before its texts and calls,
// as its provider demands. Otherwise it must not change their order; `inOrder` does.

import { isObject, type Json } from "../json.ts";
import {
  type AssistantPart,
  type AssistantTurn,
  type Cacheable,
  type ConversationTurn,
  isTextPart,
  isToolCall,
  type TextPart,
  type ThinkingPart,
  type ToolCall,
} from "./conversation.ts";
import { isNotBlank } from "./defined-fields.ts";
import type { ToolNames } from "./identifiers.ts";
import { cacheOf, chatAnswer, chatParts, chatTexts } from "./read-chat-content.ts";
import { signedBlocks } from "./reasoning-item.ts";
import { argumentsOf } from "./tool-arguments.ts";
import type { Refusals } from "./translation-errors.ts";

type ReadMessage = (message: Json, at: string, names: ToolNames, refusals: Refusals) => ConversationTurn;

const system: ReadMessage = (message) => ({
  role: "system",
  texts: marked(chatTexts(message.content), message),
});

const result: ReadMessage = (message, at, _names, refusals) => ({
  role: "user",
  results: [
    {
      of: idOf(message.tool_call_id),
      parts: marked(chatParts(message.content, at, refusals), message),
      failed: false,
    },
  ],
  parts: [],
});

const user: ReadMessage = (message, at, _names, refusals) => ({
  role: "user",
  results: [],
  parts: marked(chatParts(message.content, at, refusals), message),
});

const READERS: ReadonlyMap<unknown, ReadMessage> = new Map<string, ReadMessage>([
  ["system", system],
  ["developer", system],
  ["assistant", (message, _at, names) => assistantTurn(message, names)],
  ["tool", result],
  // The old form names a function instead of a call, because only one could be called at a time.
  ["function", result],
]);

/** Returns all turns of a request. An unknown role counts as the user's. */
export function turnsOfChat(messages: unknown, names: ToolNames, refusals: Refusals): ConversationTurn[] {
  if (!Array.isArray(messages)) return [];
  const turns: ConversationTurn[] = [];
  /** The messages of the answer that is being read. */
  let answer: AssistantTurn[] = [];
  for (const [i, message] of (messages as unknown[]).entries()) {
    if (!isObject(message)) continue;
    const read = READERS.get(message.role) ?? user;
    const turn = read(message, `messages.${i}.content`, names, refusals);
    if (turn.role === "assistant") {
      answer.push(turn);
      if (!turn.parts.some(isToolCall)) continue;
    }
    turns.push(...joined(answer));
    answer = [];
    if (turn.role !== "assistant") turns.push(turn);
  }
  return [...turns, ...joined(answer)];
}

/**
 * Joins an answer that a client split into several messages, of which only the last one has calls. Thinking at the beginning
 * of any of them comes first.
 */
function joined(answer: readonly AssistantTurn[]): readonly AssistantTurn[] {
  if (answer.length < 2) return answer;
  const thinking = answer.flatMap((turn) => turn.parts.slice(0, beginOf(turn)));
  const others = answer.flatMap((turn) => turn.parts.slice(beginOf(turn)));
  return [{ role: "assistant", parts: [...thinking, ...others] }];
}

/** Returns the index of the first part that is not thinking. */
function beginOf({ parts }: AssistantTurn): number {
  const begin = parts.findIndex(({ kind }) => kind !== "thinking");
  return begin === -1 ? parts.length : begin;
}

const idOf = (id: unknown): string => (typeof id === "string" ? id : "");

/** Moves the cache mark of a message to its last part. */
function marked<P extends Cacheable>(parts: readonly P[], message: Json): P[] {
  const mark = cacheOf(message);
  return parts.map((part, i) => (i === parts.length - 1 ? { ...part, ...mark } : part));
}

function assistantTurn(message: Json, names: ToolNames): AssistantTurn {
  const content = chatAnswer(message.content);
  const said = content.some(isTextPart) ? content : [...content, ...chatTexts(message.refusal)];
  const calls: readonly unknown[] = Array.isArray(message.tool_calls)
    ? message.tool_calls
    : [{ function: message.function_call }];
  return {
    role: "assistant",
    // This style keeps no order between texts and calls, nor where `thinking_blocks` stood.
    parts: [
      ...thinkingBeside(message.thinking_blocks, content),
      ...markedAtEnd(said, message),
      ...calls.flatMap((call) => (isObject(call) ? callOf(call, names) : [])),
    ],
  };
}

/** Returns the thinking that stands beside the content, without what the content has as well. */
function thinkingBeside(blocks: unknown, content: readonly AssistantPart[]): ThinkingPart[] {
  const known = new Set(
    content.flatMap((part) => (part.kind === "thinking" ? [JSON.stringify(part.block)] : [])),
  );
  return signedBlocks(blocks)
    .filter((block) => !known.has(JSON.stringify(block)))
    .map((block) => ({ kind: "thinking", block }));
}

/** Moves the cache mark of a message to its last text. */
function markedAtEnd(parts: readonly (ThinkingPart | TextPart)[], message: Json) {
  const end = parts.findLastIndex(isTextPart);
  const mark = cacheOf(message);
  return parts.map((part, i) => (i === end ? { ...part, ...mark } : part));
}

function callOf(call: Json, names: ToolNames): ToolCall[] {
  const id = idOf(call.id);
  if (isObject(call.custom) && isNotBlank(call.custom.name)) {
    return [
      {
        kind: "call",
        id,
        name: names.sent(call.custom.name),
        arguments: argumentsOf({ input: call.custom.input ?? "" }),
      },
    ];
  }
  if (!isObject(call.function) || !isNotBlank(call.function.name)) return [];
  return [
    {
      kind: "call",
      id,
      name: names.sent(call.function.name),
      arguments: argumentsOf(call.function.arguments),
    },
  ];
}
