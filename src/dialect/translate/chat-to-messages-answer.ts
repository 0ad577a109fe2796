// Translates a chat provider's whole answer for a messages client. Annotations, log probabilities and further
// choices have no equivalent and are dropped. It never throws.

import { isObject, type Json } from "../json.ts";
import { callBlock, messageHead, sayingBlock } from "./message-envelope.ts";
import { callsIn, onlyChoice, reportTexts, type SayingKind } from "./read-chat-message.ts";
import { matchedStop, stopReasonOf } from "./stop-reasons.ts";
import { inputOf } from "./tool-arguments.ts";
import type { AnswerContext } from "./translation.ts";
import { messagesUsageOf } from "./usage-translation.ts";

/** Returns the message for a body that `readChatAnswer` has accepted. */
export function messagesAnswerOf(chat: Json, context: AnswerContext): Json {
  const choice = onlyChoice(chat.choices) ?? {};
  const message = isObject(choice.message) ? choice.message : {};
  const texts: { readonly kind: SayingKind; text: string }[] = [];
  const refused = reportTexts(message, (kind, text) => {
    const last = texts.at(-1);
    if (last?.kind === kind) last.text += text;
    else texts.push({ kind, text });
  });
  // A client cannot answer a call without a name.
  const calls = callsIn(message).filter(({ name }) => name !== "");
  const content = [
    ...texts.map(({ kind, text }) => sayingBlock(kind, text)),
    ...calls.map((call, nth) => callBlock(context, nth, call, inputOf(call.arguments))),
  ];
  const ending = {
    finish: choice.finish_reason,
    matched: matchedStop(choice),
    called: calls.length > 0,
    refused,
  };
  const chars =
    texts.reduce((sum, { text }) => sum + text.length, 0) +
    calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0);
  return {
    ...messageHead(context),
    // Clients fail on an answer without any block.
    content: content.length > 0 ? content : [sayingBlock("text", "")],
    ...stopReasonOf(ending),
    usage: messagesUsageOf(chat.usage, { promptTokens: context.promptTokens, chars }),
  };
}
