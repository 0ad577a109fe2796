// The signatures of function calls, which Gemini makes from version 3 on and demands back with the history. Calls that another
// provider made have none; Google accepts a fixed text in their place. Signatures that are there are never changed, and what
// they mean is not read.

import { isObject, type Json } from "../json.ts";
import type { Payload } from "../payload/payload.ts";

/**
 * What Google documents for calls that were not made by its own models: the call passes without a check of its signature.
 * Source: ai.google.dev, "Thought signatures", FAQ.
 */
const UNCHECKED = "skip_thought_signature_validator";

/** Whether what is attached to a call has a signature, whichever of Google's products made it. */
const isSigned = (extra: unknown): boolean =>
  isObject(extra) &&
  Object.values(extra).some(
    (of) => isObject(of) && typeof of.thought_signature === "string" && of.thought_signature !== "",
  );

/**
 * Returns what is attached to the first call of a step, with the text that takes the place of a signature where it has
 * none. Of calls that were made at once only the first is signed.
 */
export function signedExtra(extra: unknown): unknown {
  if (isSigned(extra)) return extra;
  const given = isObject(extra) ? extra : {};
  const google = isObject(given.google) ? given.google : {};
  return { ...given, google: { ...google, thought_signature: UNCHECKED } };
}

/**
 * Returns the payload of a chat request in which the first call of each assistant message is signed; the same payload where
 * all of them are already. Earlier turns are not demanded but signed all the same: the beginning of a conversation must not
 * change from turn to turn, or the provider's cache would miss it.
 */
export function withSignedCalls(payload: Payload): Payload {
  const { messages } = payload.value as Json;
  const edits = (Array.isArray(messages) ? messages : []).flatMap((message: unknown, i) => {
    const first = firstCallOf(message);
    if (first === null || isSigned(first.extra_content)) return [];
    const value = signedExtra(first.extra_content);
    return [{ at: ["messages", i, "tool_calls", 0], field: "extra_content", value }];
  });
  return edits.length === 0 ? payload : payload.withFields(edits);
}

function firstCallOf(message: unknown): Json | null {
  const calls = isObject(message) && message.role === "assistant" ? message.tool_calls : null;
  const first: unknown = Array.isArray(calls) ? calls[0] : null;
  return isObject(first) ? first : null;
}
