// Translates a messages provider's stream for a chat client:
//
//   provider sends                          client receives
//   message_start, or any first event       the chunk with the role, once
//   text, thinking                          `content`, `reasoning_content`
//   the start of a call, its input          `tool_calls`, numbered among the calls only
//   the end of a call without input deltas  its arguments: the input at its start, otherwise `{}`
//   ping                                    a comment
//   message_delta                           nothing yet: its stop reason is kept for the end
//   message_stop, or a good end             finish reason, usage if requested and [DONE], after the charge
//   signatures, citations, anything else    nothing

import { CHAT_DONE } from "../chat/chat-stream.ts";
import type { StreamOptions } from "../dialect.ts";
import { isObject, type Json } from "../json.ts";
import { createMessagesStream } from "../messages/messages-stream.ts";
import { callHead, completionHead } from "./messages-to-chat-answer.ts";
import { finishReasonOf } from "./stop-reasons.ts";
import { argumentsOf } from "./tool-arguments.ts";
import { type EventSink, type Rewriter, translatedStream } from "./translated-stream.ts";
import type { AnswerContext, StreamTranslation } from "./translation.ts";
import { chatUsageOf } from "./usage-translation.ts";

/** Creates a machine that reads a messages provider's events and writes a chat client's. */
export const chatStreamOf: StreamTranslation = (context, options) =>
  translatedStream(
    (listener) => createMessagesStream(options, listener),
    (outbox) => createRewriter(context, options, outbox),
  );

/** A call whose block is open; `k` is its index among the calls. */
interface OpenCall {
  readonly k: number;
  /** The arguments if no input delta arrives. */
  readonly otherwise: string;
  given: boolean;
}

const DONE = new TextDecoder().decode(CHAT_DONE);

function createRewriter(
  context: AnswerContext,
  { includeUsage, fingerprint }: StreamOptions,
  outbox: EventSink,
): Rewriter {
  const head = JSON.stringify({
    ...completionHead(context, "chat.completion.chunk"),
    ...(fingerprint === null ? {} : { system_fingerprint: fingerprint }),
  }).slice(0, -1);
  const usageTail = includeUsage ? ',"usage":null' : "";
  const beforeDelta = `data: ${head},"choices":[{"index":0,"delta":`;
  const afterDelta = `,"logprobs":null,"finish_reason":null}]${usageTail}}\n\n`;
  const beforeSaid = {
    content: `${beforeDelta}{"content":`,
    reasoning_content: `${beforeDelta}{"reasoning_content":`,
  };
  const afterSaid = `}${afterDelta}`;
  const open = new Map<unknown, OpenCall>();
  let begun = false;
  let calls = 0;
  let stopReason: unknown = null;
  /** The field in which the last pattern's string is sent; null means that it is not sent. */
  let alike: Said | null = null;

  type Said = keyof typeof beforeSaid;

  function begin(): void {
    if (begun) return;
    begun = true;
    outbox.write(`${beforeDelta}{"role":"assistant","content":""}${afterDelta}`);
  }

  function say(field: Said, words: unknown): Said | null {
    if (typeof words !== "string" || words === "") return null;
    outbox.content(beforeSaid[field] + JSON.stringify(words) + afterSaid);
    return field;
  }

  function tellCall(k: number, call: Json): void {
    outbox.content(`${beforeDelta}${JSON.stringify({ tool_calls: [{ index: k, ...call }] })}${afterDelta}`);
  }

  function startBlock(index: unknown, block: Json): void {
    if (block.type === "text") say("content", block.text);
    else if (block.type === "thinking") say("reasoning_content", block.thinking);
    else if (block.type === "tool_use" && typeof block.name === "string" && block.name !== "") {
      endCall(index);
      const k = calls++;
      const { id, name } = callHead(context, block, k);
      open.set(index, { k, otherwise: argumentsOf(block.input), given: false });
      tellCall(k, { id, type: "function", function: { name, arguments: "" } });
    }
  }

  function takeDelta(index: unknown, delta: Json): Said | null {
    switch (delta.type) {
      case "text_delta":
        return say("content", delta.text);
      case "thinking_delta":
        return say("reasoning_content", delta.thinking);
      case "input_json_delta":
        giveInput(open.get(index), delta.partial_json);
        return null;
      default:
        return null;
    }
  }

  function giveInput(call: OpenCall | undefined, json: unknown): void {
    if (call === undefined || typeof json !== "string" || json === "") return;
    call.given = true;
    tellCall(call.k, { function: { arguments: json } });
  }

  function endCall(index: unknown): void {
    const call = open.get(index);
    if (call !== undefined && !call.given) giveInput(call, call.otherwise);
    open.delete(index);
  }

  return {
    event(event, type, pattern) {
      if (type === "ping") return outbox.write(": ping\n\n");
      begin();
      if (type === "content_block_start" && isObject(event.content_block))
        startBlock(event.index, event.content_block);
      else if (type === "content_block_delta" && isObject(event.delta)) {
        const said = takeDelta(event.index, event.delta);
        if (pattern) alike = said;
      } else if (type === "content_block_stop") endCall(event.index);
      else if (type === "message_delta" && isObject(event.delta))
        stopReason = event.delta.stop_reason ?? stopReason;
    },
    again(words) {
      if (alike !== null) say(alike, words);
    },
    finished: false,
    fault: null,
    close(usage, chars) {
      begin();
      for (const index of [...open.keys()]) endCall(index);
      const finish = JSON.stringify(finishReasonOf(stopReason, calls > 0));
      outbox.write(`${beforeDelta}{},"logprobs":null,"finish_reason":${finish}}]${usageTail}}\n\n`);
      if (includeUsage) {
        const counted = chatUsageOf(usage, { promptTokens: context.promptTokens, chars });
        outbox.write(`data: ${head},"choices":[],"usage":${JSON.stringify(counted)}}\n\n`);
      }
      outbox.write(DONE);
    },
  };
}
