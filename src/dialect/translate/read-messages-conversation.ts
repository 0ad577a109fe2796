// Reads the messages of a messages request as turns. It must not change their order; `inOrder` does.

import { isObject, type Json } from "../json.ts";
import {
  type AssistantTurn,
  type ConversationTurn,
  type SystemTurn,
  type TextPart,
  type ToolCall,
  type ToolResult,
  textPart,
  type UserTurn,
} from "./conversation.ts";
import type { ToolNames } from "./identifiers.ts";
import { partsOf, textsOf } from "./read-messages-content.ts";
import { inputOf } from "./tool-arguments.ts";
import type { Refusals } from "./translation-errors.ts";

/**
 * Start of a billing line that some clients send, different in each request. It is removed so that prompts
 * can be cached.
 */
const BILLING_LINE = "x-anthropic-billing-header:";

/** Returns all turns of a request, beginning with its `system`. */
export function turnsOfMessages(body: Json, names: ToolNames, refusals: Refusals): ConversationTurn[] {
  const texts = textsOf(body.system).filter((part) => !part.text.startsWith(BILLING_LINE));
  const messages: readonly unknown[] = Array.isArray(body.messages) ? body.messages : [];
  const turns = messages.map((message, i): ConversationTurn | null => {
    if (!isObject(message)) return null;
    if (message.role === "assistant") return assistantTurn(message.content, names);
    if (message.role === "system") return { role: "system", texts: textsOf(message.content) };
    return userTurn(message.content, `messages.${i}.content`, refusals);
  });
  const system: SystemTurn = { role: "system", texts };
  return [system, ...turns.filter((turn) => turn !== null)];
}

function userTurn(content: unknown, at: string, refusals: Refusals): UserTurn {
  const parts = partsOf(content, at, refusals);
  if (!Array.isArray(content)) return { role: "user", results: [], parts };
  const results = content.flatMap((block: unknown, i): ToolResult[] => {
    if (!isObject(block) || block.type !== "tool_result") return [];
    return [
      {
        of: typeof block.tool_use_id === "string" ? block.tool_use_id : "",
        parts: partsOf(block.content, `${at}.${i}.content`, refusals),
        failed: block.is_error === true,
      },
    ];
  });
  return { role: "user", results, parts };
}

function assistantTurn(content: unknown, names: ToolNames): AssistantTurn {
  if (!Array.isArray(content)) return assistantOf([], textsOf(content), []);
  const reasoning: string[] = [];
  const texts: TextPart[] = [];
  const calls: ToolCall[] = [];
  // Adjacent texts are one text that was split at citations.
  let pieces: string[] = [];
  const pack = (): void => {
    if (pieces.length > 0) texts.push(textPart(pieces.join("")));
    pieces = [];
  };
  for (const block of content as readonly unknown[]) {
    if (!isObject(block)) continue;
    if (block.type === "text") {
      pieces.push(...textsOf([block]).map((part) => part.text));
      continue;
    }
    pack();
    if (block.type === "thinking" && typeof block.thinking === "string") reasoning.push(block.thinking);
    if (block.type === "tool_use") calls.push(...callOf(block, names));
  }
  pack();
  return assistantOf(reasoning, texts, calls);
}

const assistantOf = (
  reasoning: readonly string[],
  texts: readonly TextPart[],
  calls: readonly ToolCall[],
): AssistantTurn => ({ role: "assistant", thoughts: [], reasoning: reasoning.join("\n"), texts, calls });

function callOf(block: Json, names: ToolNames): ToolCall[] {
  if (typeof block.name !== "string" || block.name === "") return [];
  return [
    {
      id: typeof block.id === "string" ? block.id : "",
      name: names.sent(block.name),
      input: inputOf(block.input),
      ...(block.extra_content === undefined ? {} : { extra: block.extra_content }),
    },
  ];
}
