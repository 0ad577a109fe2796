// Writes an answer for a responses client, as a whole. It never throws.

import type { Json } from "../json.ts";
import type { Answer, AnswerPart } from "./answer.ts";
import { ResponseEnvelope } from "./response-envelope.ts";
import {
  CallHeads,
  callItem,
  callReasoningItem,
  callText,
  carriedOf,
  type ItemStatus,
  itemId,
  messageItem,
  reasoningItem,
  responsePart,
} from "./response-items.ts";
import { incompleteReasonOf } from "./stop-reasons.ts";
import type { AnswerContext } from "./translation.ts";
import { responsesUsageOf } from "./usage-translation.ts";

/** Returns the response of an answer. */
export function responseFrom({ parts, ending, usage, chars }: Answer, context: AnswerContext): Json {
  const incomplete = incompleteReasonOf(ending);
  const status = incomplete === null ? "completed" : "incomplete";
  return new ResponseEnvelope(context).object({
    status,
    incomplete,
    output: outputOf(parts, context, status),
    usage: responsesUsageOf(usage, { promptTokens: context.promptTokens, chars }),
  });
}

/** Returns the items; `last` is the status of the last one. */
function outputOf(parts: readonly AnswerPart[], context: AnswerContext, last: ItemStatus): Json[] {
  const heads = new CallHeads(context);
  const output: Json[] = [];
  let content: Json[] = [];
  const endMessage = (status: ItemStatus): void => {
    if (content.length > 0)
      output.push(messageItem(itemId(context, "message", output.length), content, status));
    content = [];
  };
  for (const [nth, part] of parts.entries()) {
    const status = nth === parts.length - 1 ? last : "completed";
    if (part.kind === "thinking") {
      endMessage("completed");
      const carried = carriedOf(context, part.text, part.block);
      if (carried !== null || part.text !== "")
        output.push(reasoningItem(itemId(context, "reasoning", output.length), part.text, carried));
    } else if (part.kind === "call") {
      endMessage("completed");
      const { extra } = part;
      const index = output.length;
      const head = heads.next(part, extra === undefined ? index : index + 1);
      if (extra !== undefined) output.push(callReasoningItem(context, index, head, extra));
      // A whole answer of a messages provider has an empty object where a call was cut before its first argument.
      const given = status === "incomplete" && part.arguments === "{}" ? "" : part.arguments;
      output.push(callItem(head, callText(head, given, status), status));
    } else content.push(responsePart(part.kind, part.text));
  }
  endMessage(last);
  // Clients look for a message.
  return output.length > 0 || last !== "completed" ? output : [emptyMessage(context)];
}

/** Returns the message of an answer without content. */
const emptyMessage = (context: AnswerContext): Json =>
  messageItem(itemId(context, "message", 0), [responsePart("text", "")], "completed");
