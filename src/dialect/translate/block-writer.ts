// Writes the content blocks of a messages stream: one after the other, at most one open, numbered without
// gaps. A block is opened only when it has content.

import { callBlock, sayingBlock } from "./message-envelope.ts";
import type { CallFragment, SayingKind } from "./read-chat-message.ts";
import type { EventSink } from "./translated-stream.ts";
import type { AnswerContext } from "./translation.ts";

/** Returns an event as it is sent; `json` must be one line. */
export const event = (type: string, json: string): string => `event: ${type}\ndata: ${json}\n\n`;

const DELTAS = {
  text: ["text_delta", "text"],
  thinking: ["thinking_delta", "thinking"],
  call: ["input_json_delta", "partial_json"],
} as const;

const AFTER_DELTA = "}}\n\n";

/** Returns events that differ in one string only; the strings must have no character that JSON escapes. */
export const plainEvents = (before: string, texts: readonly string[], after: string): string =>
  texts.length === 1
    ? `${before}"${texts[0]}"${after}`
    : `${before}"${texts.join(`"${after}${before}"`)}"${after}`;

/** Writes the content blocks of one stream. */
export class ContentBlocks {
  readonly #context: AnswerContext;
  readonly #sink: EventSink;
  #open: SayingKind | "call" | null = null;
  /** The text of a delta event before its string, in which alone the deltas of a block differ. */
  #beforeDelta = "";
  /** Number of blocks opened so far. */
  count = 0;
  /** Number of calls among them. */
  calls = 0;

  constructor(context: AnswerContext, sink: EventSink) {
    this.#context = context;
    this.#sink = sink;
  }

  /** Appends text to the open block if it has this kind, otherwise to a new one. */
  text(kind: SayingKind, text: string): void {
    if (this.#open !== kind) this.#begin(kind, sayingBlock(kind, ""));
    this.#delta(text);
  }

  /** Does the same for texts of one event each, which have no character that JSON escapes. */
  plainTexts(kind: SayingKind, texts: readonly string[]): void {
    if (this.#open !== kind) this.#begin(kind, sayingBlock(kind, ""));
    this.#sink.content(plainEvents(this.#beforeDelta, texts, AFTER_DELTA));
  }

  /** Opens the block of a call, to which `input` then appends. */
  call(call: Pick<CallFragment, "id" | "name">): void {
    this.#begin("call", callBlock(this.#context, this.calls++, call, {}));
  }

  input(json: string): void {
    if (json !== "") this.#delta(json);
  }

  /** Closes the open block, if any. */
  close(): void {
    if (this.#open === null) return;
    const index = this.count - 1;
    // Clients require a signature at the end of thinking, so an empty one is sent.
    if (this.#open === "thinking") {
      const signature = `{"type":"content_block_delta","index":${index},"delta":{"type":"signature_delta","signature":""}}`;
      this.#sink.write(event("content_block_delta", signature));
    }
    this.#sink.write(event("content_block_stop", `{"type":"content_block_stop","index":${index}}`));
    this.#open = null;
  }

  /** Writes an empty text block, for an answer without content. */
  empty(): void {
    this.#begin("text", sayingBlock("text", ""));
    this.close();
  }

  #begin(kind: SayingKind | "call", block: unknown): void {
    this.close();
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
