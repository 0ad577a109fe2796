// Reads a chat provider's whole answer into the common form. Annotations, log probabilities and further choices have
// no equivalent and are dropped. It never throws.

import { isObject, type Json } from "../json.ts";
import { type Answer, type AnswerPart, charsOf, type TextKind } from "./answer.ts";
import { callsIn, onlyChoice, reportTexts } from "./read-chat-message.ts";
import { endingOfChoice } from "./stop-reasons.ts";
import { figuresOf } from "./usage-translation.ts";

/** Returns the answer of a body that `readChatAnswer` has accepted. */
export function answerOfCompletion(chat: Json): Answer {
  const choice = onlyChoice(chat.choices) ?? {};
  const message = isObject(choice.message) ? choice.message : {};
  const texts: { readonly kind: TextKind; text: string }[] = [];
  reportTexts(message, (kind, text) => {
    const last = texts.at(-1);
    if (last?.kind === kind) last.text += text;
    else texts.push({ kind, text });
  });
  const parts: AnswerPart[] = texts.map(({ kind, text }) =>
    kind === "thinking" ? { kind, text, block: null } : { kind, text },
  );
  // A client cannot answer a call without a name.
  for (const { index: _, ...call } of callsIn(message))
    if (call.name !== "") parts.push({ kind: "call", ...call });
  return {
    parts,
    ending: endingOfChoice(choice),
    usage: figuresOf("chat", chat.usage),
    chars: charsOf(parts),
  };
}
