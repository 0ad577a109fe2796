// Finds thinking blocks with an empty signature in a messages request. Clients received them through a
// translation from the chat dialect, which has no signatures, and send them back to any provider. A messages
// provider refuses them.

import { isObject } from "../json.ts";
import type { JsonPath } from "../payload/payload.ts";

/**
 * Returns the paths of unsigned thinking. A turn without other content is returned whole, as it would be
 * empty.
 */
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
