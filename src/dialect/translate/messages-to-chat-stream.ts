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
import { plainEvents } from "./block-writer.ts";
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
    (sink) => new ChatRewriter(context, options, sink),
  );

/** A call whose block is open; `k` is its index among the calls. */
interface OpenCall {
  readonly k: number;
  /** The arguments if no input delta arrives. */
  readonly otherwise: string;
  given: boolean;
}

const DONE = new TextDecoder().decode(CHAT_DONE);

/** The fields of a delta that carry text. */
type TextField = "content" | "reasoning_content";

class ChatRewriter implements Rewriter {
  readonly finished = false;
  readonly fault = null;
  readonly #context: AnswerContext;
  readonly #sink: EventSink;
  readonly #includeUsage: boolean;
  /** An event up to its choices, and the constant texts around a delta and around its text. */
  readonly #head: string;
  readonly #usageTail: string;
  readonly #beforeDelta: string;
  readonly #afterDelta: string;
  readonly #beforeText: Readonly<Record<TextField, string>>;
  readonly #afterText: string;
  /** The calls whose blocks are open, by the index of the block. */
  readonly #open = new Map<unknown, OpenCall>();
  #begun = false;
  #calls = 0;
  #stopReason: unknown = null;
  /** The field in which the last pattern's string is sent; null means that it is not sent. */
  #patternField: TextField | null = null;

  constructor(context: AnswerContext, { includeUsage, fingerprint }: StreamOptions, sink: EventSink) {
    this.#context = context;
    this.#sink = sink;
    this.#includeUsage = includeUsage;
    this.#head = JSON.stringify({
      ...completionHead(context, "chat.completion.chunk"),
      ...(fingerprint === null ? {} : { system_fingerprint: fingerprint }),
    }).slice(0, -1);
    this.#usageTail = includeUsage ? ',"usage":null' : "";
    this.#beforeDelta = `data: ${this.#head},"choices":[{"index":0,"delta":`;
    this.#afterDelta = `,"logprobs":null,"finish_reason":null}]${this.#usageTail}}\n\n`;
    this.#beforeText = {
      content: `${this.#beforeDelta}{"content":`,
      reasoning_content: `${this.#beforeDelta}{"reasoning_content":`,
    };
    this.#afterText = `}${this.#afterDelta}`;
  }

  event(event: Json, type: string, pattern: boolean): void {
    if (type === "ping") {
      this.#sink.write(": ping\n\n");
      return;
    }
    this.#begin();
    if (type === "content_block_start" && isObject(event.content_block)) {
      this.#startBlock(event.index, event.content_block);
    } else if (type === "content_block_delta" && isObject(event.delta)) {
      const field = this.#writeDelta(event.index, event.delta);
      if (pattern) this.#patternField = field;
    } else if (type === "content_block_stop") this.#endCall(event.index);
    else if (type === "message_delta" && isObject(event.delta)) {
      this.#stopReason = event.delta.stop_reason ?? this.#stopReason;
    }
  }

  repeated(texts: readonly string[]): void {
    if (this.#patternField === null) return;
    this.#sink.content(plainEvents(this.#beforeText[this.#patternField], texts, this.#afterText));
  }

  close(usage: unknown, chars: number): void {
    this.#begin();
    for (const index of [...this.#open.keys()]) this.#endCall(index);
    const finish = JSON.stringify(finishReasonOf(this.#stopReason, this.#calls > 0));
    this.#sink.write(
      `${this.#beforeDelta}{},"logprobs":null,"finish_reason":${finish}}]${this.#usageTail}}\n\n`,
    );
    if (this.#includeUsage) {
      const counted = chatUsageOf(usage, { promptTokens: this.#context.promptTokens, chars });
      this.#sink.write(`data: ${this.#head},"choices":[],"usage":${JSON.stringify(counted)}}\n\n`);
    }
    this.#sink.write(DONE);
  }

  #begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    this.#sink.write(`${this.#beforeDelta}{"role":"assistant","content":""}${this.#afterDelta}`);
  }

  /** Writes a text, and returns its field; null when there is no text. */
  #writeText(field: TextField, text: unknown): TextField | null {
    if (typeof text !== "string" || text === "") return null;
    this.#sink.content(this.#beforeText[field] + JSON.stringify(text) + this.#afterText);
    return field;
  }

  #writeCall(index: number, call: Json): void {
    const delta = JSON.stringify({ tool_calls: [{ index, ...call }] });
    this.#sink.content(`${this.#beforeDelta}${delta}${this.#afterDelta}`);
  }

  #startBlock(index: unknown, block: Json): void {
    if (block.type === "text") this.#writeText("content", block.text);
    else if (block.type === "thinking") this.#writeText("reasoning_content", block.thinking);
    else if (block.type === "tool_use" && typeof block.name === "string" && block.name !== "") {
      this.#endCall(index);
      const k = this.#calls++;
      const { id, name } = callHead(this.#context, block, k);
      this.#open.set(index, { k, otherwise: argumentsOf(block.input), given: false });
      this.#writeCall(k, { id, type: "function", function: { name, arguments: "" } });
    }
  }

  #writeDelta(index: unknown, delta: Json): TextField | null {
    switch (delta.type) {
      case "text_delta":
        return this.#writeText("content", delta.text);
      case "thinking_delta":
        return this.#writeText("reasoning_content", delta.thinking);
      case "input_json_delta":
        this.#writeInput(this.#open.get(index), delta.partial_json);
        return null;
      default:
        return null;
    }
  }

  #writeInput(call: OpenCall | undefined, json: unknown): void {
    if (call === undefined || typeof json !== "string" || json === "") return;
    call.given = true;
    this.#writeCall(call.k, { function: { arguments: json } });
  }

  #endCall(index: unknown): void {
    const call = this.#open.get(index);
    if (call !== undefined && !call.given) this.#writeInput(call, call.otherwise);
    this.#open.delete(index);
  }
}
