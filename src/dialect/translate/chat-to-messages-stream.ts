// Translates a chat provider's stream for a messages client:
//
//   provider sends                          client receives
//   the first event                         message_start, once, with the estimated prompt tokens
//   reasoning, text                         a block of its kind; a block of another kind is closed first
//   a call with id and name                 its block; the arguments of the first call are streamed
//   other calls, text during a call         nothing yet: they are queued until the open block is closed
//   finish_reason                           the end of the open block, then all queued blocks
//   usage after it, [DONE], or a good end   message_delta and message_stop, after the charge

import { createChatStream } from "../chat/chat-stream.ts";
import { isObject, type Json } from "../json.ts";
import { BlockQueue } from "./block-queue.ts";
import { ContentBlocks, event } from "./block-writer.ts";
import { messageHead } from "./message-envelope.ts";
import {
  type CallFragment,
  callsIn,
  isOnlyChoice,
  reportTexts,
  type SayingKind,
} from "./read-chat-message.ts";
import { matchedStop, stopReasonOf } from "./stop-reasons.ts";
import { CallFinder, type ToolCallDraft } from "./tool-call-assembler.ts";
import { type EventSink, type Rewriter, translatedStream } from "./translated-stream.ts";
import type { AnswerContext, StreamTranslation } from "./translation.ts";
import { messagesUsageOf, openingUsage } from "./usage-translation.ts";

/** Creates a machine that reads a chat provider's events and writes a messages client's. */
export const messagesStreamOf: StreamTranslation = (context) =>
  translatedStream(
    // `includeUsage` keeps usage in the provider's events, because it is metered even if the client does not
    // see it.
    (listener) => createChatStream({ includeUsage: true, fingerprint: null }, listener),
    (sink) => new MessagesRewriter(context, sink),
  );

class MessagesRewriter implements Rewriter {
  finished = false;
  readonly #context: AnswerContext;
  readonly #sink: EventSink;
  readonly #blocks: ContentBlocks;
  readonly #queue = new BlockQueue();
  readonly #calls = new CallFinder();
  #started = false;
  /** The call whose block is open. */
  #writing: ToolCallDraft | null = null;
  #finishReason: unknown = null;
  #matchedStop: string | null = null;
  #refused = false;
  /** Whether the last pattern belongs to the choice that the client receives. */
  #writesPattern = false;

  constructor(context: AnswerContext, sink: EventSink) {
    this.#context = context;
    this.#sink = sink;
    this.#blocks = new ContentBlocks(context, sink);
  }

  get fault(): string | null {
    return this.#queue.full ? "the calls are too large to be put in order" : null;
  }

  event(chunk: Json, _type: string, pattern: boolean): void {
    this.#start();
    const choices: readonly unknown[] = Array.isArray(chunk.choices) ? chunk.choices : [];
    const ours = choices.filter(isObject).filter(isOnlyChoice);
    if (pattern) this.#writesPattern = ours.length > 0;
    for (const choice of ours) this.#readChoice(choice);
    // Usage after the finish reason ends the answer, because some hosts never close their streams.
    if (choices.length === 0 && isObject(chunk.usage) && this.#finishReason !== null) this.finished = true;
  }

  repeated(texts: readonly string[]): void {
    if (!this.#writesPattern) return;
    if (this.#writing === null) this.#blocks.plainTexts("text", texts);
    else this.#queue.text("text", texts.join(""));
  }

  close(usage: unknown, chars: number): void {
    this.#start();
    this.#flush();
    if (this.#blocks.count === 0) this.#blocks.empty();
    const ending = {
      finish: this.#finishReason,
      matched: this.#matchedStop,
      called: this.#blocks.calls > 0,
      refused: this.#refused,
    };
    const counted = messagesUsageOf(usage, { promptTokens: this.#context.promptTokens, chars });
    const delta = { type: "message_delta", delta: stopReasonOf(ending), usage: counted };
    this.#sink.write(event("message_delta", JSON.stringify(delta)));
    this.#sink.write(event("message_stop", '{"type":"message_stop"}'));
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    const message = {
      ...messageHead(this.#context),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: openingUsage(this.#context.promptTokens),
    };
    this.#sink.write(event("message_start", JSON.stringify({ type: "message_start", message })));
  }

  #writeText(kind: SayingKind, text: string): void {
    if (this.#writing === null) this.#blocks.text(kind, text);
    else this.#queue.text(kind, text);
  }

  #readFragment(fragment: CallFragment): void {
    const call = this.#calls.callOf(fragment);
    if (call === this.#writing) this.#blocks.input(fragment.arguments);
    // A closed block cannot be opened again, so further fragments of its call are dropped.
    else if (!call.written) {
      this.#queue.call(call, fragment);
      if (this.#writing === null && isReady(call) && this.#queue.takeFirst(call)) {
        this.#writing = call;
        this.#openCall(call);
      }
    }
  }

  #openCall(call: ToolCallDraft): void {
    call.written = true;
    this.#blocks.call(call);
    this.#blocks.input(call.held);
    call.held = "";
  }

  /** Closes the open block and writes all queued blocks. */
  #flush(): void {
    this.#blocks.close();
    this.#writing = null;
    for (const block of this.#queue.takeAll()) {
      if (block.kind !== "call") this.#blocks.text(block.kind, block.text);
      else if (block.name !== "") this.#openCall(block);
    }
    this.#blocks.close();
  }

  #readChoice(choice: Json): void {
    if (isObject(choice.delta)) {
      if (reportTexts(choice.delta, (kind, text) => this.#writeText(kind, text))) this.#refused = true;
      for (const fragment of callsIn(choice.delta)) this.#readFragment(fragment);
    }
    if (typeof choice.finish_reason !== "string" || choice.finish_reason === "") return;
    this.#finishReason = choice.finish_reason;
    this.#matchedStop = matchedStop(choice);
    this.#flush();
  }
}

const isReady = ({ id, name }: ToolCallDraft): boolean => id !== "" && name !== "";
