// Reads the messages of a messages request as turns. It must not change their order; `inOrder` does.

import { isBillingLine } from "../billing-line.ts";
import { isObject, type Json } from "../json.ts";
import {
  type AssistantPart,
  type AssistantTurn,
  type ConversationTurn,
  type SystemTurn,
  type ToolCall,
  type ToolResult,
  textPart,
  type UserTurn,
} from "./conversation.ts";
import type { ToolNames } from "./identifiers.ts";
import { partsOf, textsOf } from "./read-messages-content.ts";
import { CarriedCalls, carriedInSignature } from "./reasoning-item.ts";
import type { ReadingContext } from "./request-form.ts";
import { argumentsOf } from "./tool-arguments.ts";
import type { Refusals } from "./translation-errors.ts";

/** Returns all turns of a request, beginning with its `system` without billing lines, so that prompts can be cached. */
export function turnsOfMessages(
  body: Json,
  { names, refusals, provider }: ReadingContext,
): ConversationTurn[] {
  const carried = new CarriedCalls(provider);
  const texts = textsOf(body.system).filter((part) => !isBillingLine(part.text));
  const messages: readonly unknown[] = Array.isArray(body.messages) ? body.messages : [];
  const turns = messages.map((message, i): ConversationTurn | null => {
    if (!isObject(message)) return null;
    if (message.role === "assistant") return assistantTurn(message.content, names, carried);
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

function assistantTurn(content: unknown, names: ToolNames, carried: CarriedCalls): AssistantTurn {
  if (!Array.isArray(content)) return { role: "assistant", parts: textsOf(content) };
  const parts: AssistantPart[] = [];
  // Adjacent texts are one text that was split at citations.
  let pieces: string[] = [];
  const pack = (): void => {
    if (pieces.length > 0) parts.push(textPart(pieces.join("")));
    pieces = [];
  };
  for (const block of content as readonly unknown[]) {
    if (!isObject(block)) continue;
    if (block.type === "text") {
      pieces.push(...textsOf([block]).map((part) => part.text));
      continue;
    }
    pack();
    if (block.type === "thinking") {
      const found = carriedInSignature(block.signature);
      if (found !== null) carried.add(found);
      else if (typeof block.thinking === "string" && block.thinking !== "")
        parts.push({ kind: "reasoning", text: block.thinking });
    }
    if (block.type === "tool_use") parts.push(...callOf(block, names, carried));
  }
  pack();
  return { role: "assistant", parts };
}

function callOf(block: Json, names: ToolNames, carried: CarriedCalls): ToolCall[] {
  if (typeof block.name !== "string" || block.name === "") return [];
  return [
    {
      kind: "call",
      id: typeof block.id === "string" ? block.id : "",
      name: names.sent(block.name),
      arguments: argumentsOf(block.input),
      ...carried.extraOf(block.id, block.extra_content),
    },
  ];
}
