// Reads the messages of a chat request as turns. It must not change their order; `inOrder` does.

import { isObject, type Json } from "../json.ts";
import type { AssistantTurn, Cacheable, ConversationTurn, ToolCall } from "./conversation.ts";
import { isNotBlank } from "./defined-fields.ts";
import type { ToolNames } from "./identifiers.ts";
import { cacheOf, chatParts, chatTexts } from "./read-chat-content.ts";
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
  return messages.flatMap((message: unknown, i) => {
    if (!isObject(message)) return [];
    const read = READERS.get(message.role) ?? user;
    return [read(message, `messages.${i}.content`, names, refusals)];
  });
}

const idOf = (id: unknown): string => (typeof id === "string" ? id : "");

/** Moves the cache mark of a message to its last part. */
function marked<P extends Cacheable>(parts: readonly P[], message: Json): P[] {
  const mark = cacheOf(message);
  return parts.map((part, i) => (i === parts.length - 1 ? { ...part, ...mark } : part));
}

function assistantTurn(message: Json, names: ToolNames): AssistantTurn {
  const content = chatTexts(message.content);
  const texts = content.length > 0 ? content : chatTexts(message.refusal);
  const calls: readonly unknown[] = Array.isArray(message.tool_calls)
    ? message.tool_calls
    : [{ function: message.function_call }];
  return {
    role: "assistant",
    // This style keeps no order between them.
    parts: [
      ...signedBlocks(message.thinking_blocks).map((block) => ({ kind: "thinking", block }) as const),
      ...marked(texts, message),
      ...calls.flatMap((call) => (isObject(call) ? callOf(call, names) : [])),
    ],
  };
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
