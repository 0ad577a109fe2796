// Thinking in a messages request that no provider of the dialect has signed: clients had it from a host of the other style,
// whose thinking has no signature, and send it back wherever they go. A real provider refuses a signature that is empty.

import { isObject } from "../json.ts";
import type { JsonPath } from "../payload/payload.ts";

/** Where it stands in a body. A turn that says nothing else goes with it, for an empty one would be refused as well. */
export function unsignedThoughts(body: unknown): JsonPath[] {
  const messages: unknown = isObject(body) ? body.messages : null;
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((message: unknown, m): JsonPath[] => {
    if (!isObject(message) || message.role !== "assistant" || !Array.isArray(message.content)) return [];
    const content: readonly unknown[] = message.content;
    const places = content.flatMap((block, b) => (isUnsigned(block) ? [["messages", m, "content", b]] : []));
    return places.length > 0 && places.length === content.length ? [["messages", m]] : places;
  });
}

const isUnsigned = (block: unknown): boolean =>
  isObject(block) && block.type === "thinking" && block.signature === "";
