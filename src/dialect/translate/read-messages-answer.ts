// Reads a messages provider's whole answer into the common form. Citations and uses of the provider's own tools have
// no equivalent and are dropped. It never throws.

import { isObject, type Json } from "../json.ts";
import { type Answer, type AnswerPart, charsOf } from "./answer.ts";
import { endingOfMessage } from "./stop-reasons.ts";
import { argumentsOf } from "./tool-arguments.ts";
import { figuresOf } from "./usage-translation.ts";

/** Returns the answer of a body that `readMessage` has accepted. */
export function answerOfMessage(message: Json): Answer {
  const blocks = Array.isArray(message.content) ? (message.content as unknown[]).filter(isObject) : [];
  const parts: AnswerPart[] = [];
  for (const block of blocks) {
    const part = partOf(block);
    const last = parts.at(-1);
    // Hosts cut a text into blocks where they cite.
    if (part?.kind === "text" && last?.kind === "text")
      parts[parts.length - 1] = { kind: "text", text: last.text + part.text };
    else if (part !== null) parts.push(part);
  }
  return {
    parts,
    ending: endingOfMessage(message),
    usage: figuresOf("messages", message.usage),
    chars: charsOf(parts),
  };
}

function partOf(block: Json): AnswerPart | null {
  const { type, id, name } = block;
  if (type === "text") return isFilled(block.text) ? { kind: "text", text: block.text } : null;
  if (type === "thinking" || type === "redacted_thinking") {
    const text = type === "thinking" && isFilled(block.thinking) ? block.thinking : "";
    return { kind: "thinking", text, block };
  }
  if (type !== "tool_use" || !isFilled(name)) return null;
  return { kind: "call", id: isFilled(id) ? id : "", name, arguments: argumentsOf(block.input) };
}

const isFilled = (value: unknown): value is string => typeof value === "string" && value !== "";
