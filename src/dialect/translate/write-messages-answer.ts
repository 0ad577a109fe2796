// Writes an answer for a messages client, as a whole. It never throws.

import type { Json } from "../json.ts";
import type { Answer, AnswerPart } from "./answer.ts";
import { callBlock, callSignature, messageHead, textBlock } from "./message-envelope.ts";
import { stopReasonOf } from "./stop-reasons.ts";
import { inputOf } from "./tool-arguments.ts";
import type { AnswerContext } from "./translation.ts";
import { messagesUsageOf } from "./usage-translation.ts";

/** Returns the message of an answer. */
export function messageFrom({ parts, ending, usage, chars }: Answer, context: AnswerContext): Json {
  const content: Json[] = [];
  let calls = 0;
  let open: "text" | "thinking" | null = null;
  let text = "";
  const endText = (): void => {
    if (open !== null) content.push(textBlock(open, text));
    [open, text] = [null, ""];
  };
  for (const part of parts) {
    const kind = blockOf(part);
    if (kind !== open) endText();
    if (part.kind === "call") {
      const signature = callSignature(context, calls, part);
      if (signature !== null) content.push({ ...textBlock("thinking", ""), signature });
      content.push(callBlock(context, calls++, part, inputOf(part.arguments)));
    } else [open, text] = [kind, text + part.text];
  }
  endText();
  const refused = parts.some(({ kind }) => kind === "refusal");
  return {
    ...messageHead(context),
    // Clients fail on an answer without any block.
    content: content.length > 0 ? content : [textBlock("text", "")],
    ...stopReasonOf(ending, calls > 0, refused),
    usage: messagesUsageOf(usage, { promptTokens: context.promptTokens, chars }),
  };
}

/** The kind of block in which a text is written; a refusal is a text of this style. */
const blockOf = ({ kind }: AnswerPart): "text" | "thinking" | null =>
  kind === "call" ? null : kind === "refusal" ? "text" : kind;
