// Writes a messages client's stream:
//
//   said by the provider                    client receives
//   anything                                message_start, once, with the estimated prompt tokens
//   reasoning, text                         a block of its kind; a block of another kind is closed first
//   a call with id and name                 its block; the arguments of the first call are streamed
//   other calls, text during a call         nothing yet: they are queued until the open block is closed
//   the end of calls                        the end of the open block, then all queued blocks
//   the end                                 message_delta and message_stop, after the charge

import type { AnswerEnd, AnswerWriter } from "./answer.ts";
import { BlockOrder } from "./block-order.ts";
import { event } from "./event-text.ts";
import { messageHead } from "./message-envelope.ts";
import { ContentBlocks } from "./messages-blocks.ts";
import { stopReasonOf } from "./stop-reasons.ts";
import type { EventSink } from "./translated-stream.ts";
import type { AnswerContext } from "./translation.ts";
import { messagesUsageOf, openingUsage } from "./usage-translation.ts";

/** Writes one stream for a messages client. */
export class MessagesStreamWriter implements AnswerWriter {
  readonly content: BlockOrder;
  readonly #context: AnswerContext;
  readonly #sink: EventSink;
  readonly #blocks: ContentBlocks;
  #begun = false;

  constructor(context: AnswerContext, sink: EventSink) {
    this.#context = context;
    this.#sink = sink;
    this.#blocks = new ContentBlocks(context, sink);
    this.content = new BlockOrder(this.#blocks);
  }

  get fault(): string | null {
    return this.content.fault;
  }

  begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    const message = {
      ...messageHead(this.#context),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: openingUsage(this.#context.promptTokens),
    };
    this.#sink.write(event("message_start", JSON.stringify({ type: "message_start", message })));
  }

  close({ ending, usage, chars }: AnswerEnd): void {
    const { calls, refused } = this.#blocks;
    if (this.#blocks.count === 0) this.#blocks.empty();
    const counted = messagesUsageOf(usage, { promptTokens: this.#context.promptTokens, chars });
    const delta = {
      type: "message_delta",
      delta: stopReasonOf(ending, calls > 0, refused),
      usage: counted,
    };
    this.#sink.write(event("message_delta", JSON.stringify(delta)));
    this.#sink.write(event("message_stop", '{"type":"message_stop"}'));
  }
}
