// Writes a responses client's stream:
//
//   said by the provider                    client receives
//   anything                                response.created, response.in_progress, once
//   text, refusals, thinking, calls         items, as response-blocks.ts says; calls in turn, as block-order.ts says
//   the end                                 the end of the open item, then response.completed or .incomplete with the
//                                           whole response and its usage, after the charge
//   an error, or no end                     response.failed with the response so far

import { completionTokens } from "../../../actors/pricing/usage.ts";
import type { StreamError } from "../dialect.ts";
import type { AnswerEnd, AnswerWriter } from "./answer.ts";
import { BlockOrder } from "./block-order.ts";
import { responseErrorOf } from "./error-translation.ts";
import { ResponseBlocks } from "./response-blocks.ts";
import { ResponseEnvelope } from "./response-envelope.ts";
import { ResponseEvents } from "./response-events.ts";
import { incompleteReasonOf } from "./stop-reasons.ts";
import type { EventSink } from "./translated-stream.ts";
import type { AnswerContext } from "./translation.ts";
import { responsesUsageOf } from "./usage-translation.ts";

/** Writes one stream for a responses client. */
export class ResponsesStreamWriter implements AnswerWriter {
  readonly content: BlockOrder;
  readonly #context: AnswerContext;
  readonly #envelope: ResponseEnvelope;
  readonly #events: ResponseEvents;
  readonly #blocks: ResponseBlocks;
  #begun = false;
  #closed = false;

  constructor(context: AnswerContext, sink: EventSink) {
    this.#context = context;
    this.#envelope = new ResponseEnvelope(context);
    this.#events = new ResponseEvents(sink);
    this.#blocks = new ResponseBlocks(context, this.#events);
    this.content = new BlockOrder(this.#blocks);
  }

  get fault(): string | null {
    return this.#blocks.full ? "the answer is too large to be repeated at its end" : this.content.fault;
  }

  begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    const json = this.#envelope.text({ status: "in_progress", output: [], usage: null });
    this.#events.response("response.created", json);
    this.#events.response("response.in_progress", json);
  }

  close({ ending, usage, chars }: AnswerEnd): void {
    this.#closed = true;
    const incomplete = incompleteReasonOf(ending);
    const status = incomplete === null ? "completed" : "incomplete";
    if (incomplete === null) this.#blocks.fill();
    this.#blocks.end(status);
    const counted = responsesUsageOf(usage, { promptTokens: this.#context.promptTokens, chars });
    const output = this.#blocks.output();
    this.#events.response(
      `response.${status}`,
      this.#envelope.text({ status, incomplete, output, usage: counted }),
    );
  }

  fail(error: StreamError, { usage, chars }: Omit<AnswerEnd, "ending">): void {
    this.begin();
    // It replaces the last event.
    if (this.#closed) this.#events.next--;
    // Most providers report output at the end only.
    const reported = usage !== null && completionTokens(usage) > 0 ? usage : null;
    const counted =
      chars === 0 ? null : responsesUsageOf(reported, { promptTokens: this.#context.promptTokens, chars });
    const output = this.#blocks.output();
    const json = this.#envelope.text({
      status: "failed",
      output,
      usage: counted,
      error: responseErrorOf(error),
    });
    this.#events.response("response.failed", json);
  }
}
