// Writes the content blocks of a messages stream: one after the other, at most one open, numbered without
// gaps. A block is opened only when it has content.

import type { CallHead, TextKind } from "./answer.ts";
import type { BlockWriter } from "./block-order.ts";
import { event, plainEvents } from "./event-text.ts";
import { callBlock, callSignature, textBlock } from "./message-envelope.ts";
import type { EventSink } from "./translated-stream.ts";
import type { AnswerContext } from "./translation.ts";

const DELTAS = {
  text: ["text_delta", "text"],
  thinking: ["thinking_delta", "thinking"],
  call: ["input_json_delta", "partial_json"],
} as const;

const AFTER_DELTA = "}}\n\n";

/** Writes the content blocks of one stream. */
export class ContentBlocks implements BlockWriter {
  readonly #context: AnswerContext;
  readonly #sink: EventSink;
  #open: keyof typeof DELTAS | null = null;
  /** The text of a delta event before its string, in which alone the deltas of a block differ. */
  #beforeDelta = "";
  /** The signature of the open block of thinking, of characters that JSON does not escape. */
  #signature = "";
  /** Number of blocks opened so far. */
  count = 0;
  /** Number of calls among them. */
  calls = 0;
  /** Whether a refusal was written, which is a text of this style. */
  refused = false;

  constructor(context: AnswerContext, sink: EventSink) {
    this.#context = context;
    this.#sink = sink;
  }

  text(kind: TextKind, text: string): void {
    this.#openText(kind);
    this.#delta(text);
  }

  plainTexts(kind: TextKind, texts: readonly string[]): void {
    this.#openText(kind);
    this.#sink.content(plainEvents(this.#beforeDelta, texts, AFTER_DELTA));
  }

  openCall(call: CallHead): void {
    const signature = callSignature(this.#context, this.calls, call);
    if (signature !== null) {
      this.#begin("thinking", textBlock("thinking", ""));
      this.#signature = signature;
    }
    this.#begin("call", callBlock(this.#context, this.calls++, call, {}));
  }

  input(json: string): void {
    if (json !== "") this.#delta(json);
  }

  endBlock(): void {
    if (this.#open === null) return;
    const index = this.count - 1;
    // Clients require a signature at the end of thinking, so an empty one is sent if there is none.
    if (this.#open === "thinking") {
      const signature = `{"type":"content_block_delta","index":${index},"delta":{"type":"signature_delta","signature":"${this.#signature}"}}`;
      this.#sink.write(event("content_block_delta", signature));
    }
    this.#sink.write(event("content_block_stop", `{"type":"content_block_stop","index":${index}}`));
    this.#open = null;
    this.#signature = "";
  }

  /** Writes an empty text block, for an answer without content. */
  empty(): void {
    this.#begin("text", textBlock("text", ""));
    this.endBlock();
  }

  #openText(kind: TextKind): void {
    if (kind === "refusal") this.refused = true;
    const block = kind === "refusal" ? "text" : kind;
    if (this.#open !== block) this.#begin(block, textBlock(block, ""));
  }

  #begin(kind: keyof typeof DELTAS, block: unknown): void {
    this.endBlock();
    const index = this.count++;
    const [type, field] = DELTAS[kind];
    this.#beforeDelta = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${field}":`;
    this.#open = kind;
    const start = { type: "content_block_start", index, content_block: block };
    const text = event("content_block_start", JSON.stringify(start));
    if (kind === "call") this.#sink.content(text);
    else this.#sink.write(text);
  }

  #delta(text: string): void {
    this.#sink.content(this.#beforeDelta + JSON.stringify(text) + AFTER_DELTA);
  }
}
