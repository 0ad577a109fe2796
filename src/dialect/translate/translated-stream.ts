// Translates a stream to another dialect: the machine of the provider's dialect reads events, a reader that listens to
// it reports what they say, and a writer writes the client's events. This file owns what all pairs share: batches of
// bytes, what counts as content, and exactly one end.
//
// The provider's machine decides how the stream ended, as for a client of its own dialect: an answer that
// stops without a stop reason is broken and gets an error event instead of a closing one. After `[DONE]` it
// counts as complete.

import type { SseEvent } from "../../sse/sse-reader.ts";
import type {
  NonTokenUsage,
  StreamError,
  StreamListener,
  StreamMachine,
  StreamOptions,
  StreamStep,
} from "../dialect.ts";
import type { Json } from "../json.ts";
import { NO_NON_TOKEN_USAGE } from "../non-token-usage.ts";
import { DROP_EVENT, PASS_EVENT } from "../stream-machine.ts";
import type { UsageDialect } from "../usage.ts";
import type { AnswerReader, AnswerWriter } from "./answer.ts";
import { figuresOf } from "./usage-translation.ts";

/** How the streams of a provider's style are read. */
export interface AnswerSource {
  readonly usage: UsageDialect;
  machine(options: StreamOptions, listener: StreamListener): StreamMachine;
  reader(writer: AnswerWriter, sink: EventSink): AnswerReader;
}

/** The output of a stream. */
export interface EventSink {
  write(text: string): void;
  /** Writes a text that carries generated content. */
  content(text: string): void;
}

const encoder = new TextEncoder();

/** Creates the machine that reads the source's events; `writerOf` creates the writer of the client's. */
export const translatedStream = (
  source: AnswerSource,
  options: StreamOptions,
  writerOf: (sink: EventSink) => AnswerWriter,
): StreamMachine => new TranslatedStream(source, options, writerOf);

class TranslatedStream implements StreamMachine, StreamListener, EventSink {
  readonly #usageDialect: UsageDialect;
  readonly #machine: StreamMachine;
  readonly #reader: AnswerReader;
  readonly #writer: AnswerWriter;
  /** What the writer has written since the last step, and whether it carries generated content. */
  #output = "";
  #hasContent = false;
  #ended: "done" | "error" | null = null;
  /** The closing events, which the client receives after the charge; empty before. */
  #closing: Uint8Array = new Uint8Array(0);
  delivered = false;
  /** Present if the client's style has a failed end that depends on earlier events. */
  readonly streamError?: (error: StreamError) => Uint8Array;

  constructor(source: AnswerSource, options: StreamOptions, writerOf: (sink: EventSink) => AnswerWriter) {
    this.#usageDialect = source.usage;
    this.#writer = writerOf(this);
    this.#reader = source.reader(this.#writer, this);
    this.#machine = source.machine(options, this);
    if (this.#writer.fail !== undefined) this.streamError = (error) => this.#fail(error);
  }

  feed(event: SseEvent): StreamStep {
    const step = this.#stepOf(this.#machine.feed(event));
    // A comment means the same in every dialect, so it passes.
    const isComment = event.data === null && event.name === "" && event.fault === undefined;
    return isComment && this.#ended === null && step.kind === "withheld" ? PASS_EVENT : step;
  }

  feedData(data: string, name: string): StreamStep {
    return this.#stepOf(this.#machine.feedData(data, name));
  }

  feedRun(text: string, from: number): { readonly step: StreamStep; readonly end: number } | null {
    const run = this.#ended === null ? (this.#machine.feedRun?.(text, from) ?? null) : null;
    return run === null ? null : { step: this.#stepOf(run.step), end: run.end };
  }

  closing(): Uint8Array {
    if (this.#ended !== null) return this.#takeOutput();
    this.#ended = "done";
    const ending = this.#reader.end();
    this.#writer.close({ ending, ...this.#counted });
    this.#closing = this.#takeOutput();
    return this.#closing;
  }

  outcome(clean: boolean): "complete" | "broken" | "empty" {
    if (this.#ended === "error") return "broken";
    const outcome = this.#machine.outcome(clean);
    return this.#ended === "done" && outcome === "broken" ? "complete" : outcome;
  }

  get usage(): unknown {
    return this.#machine.usage;
  }

  get serviceTier(): string | null {
    return this.#machine.serviceTier;
  }

  get model(): string | null {
    return this.#machine.model ?? null;
  }

  get measured(): NonTokenUsage {
    return this.#machine.measured ?? NO_NON_TOKEN_USAGE;
  }

  get chars(): number {
    return this.#machine.chars;
  }

  texts(): readonly string[] {
    return this.#machine.texts();
  }

  /** Receives an event of the provider. Events after the end are still metered, but not written. */
  event(event: Json, type: string, pattern: boolean): void {
    if (this.#ended === null) this.#reader.event(event, type, pattern);
  }

  repeated(texts: readonly string[]): void {
    if (this.#ended === null) this.#reader.repeated(texts);
  }

  /** Receives a text from the writer. */
  write(text: string): void {
    this.#output += text;
  }

  content(text: string): void {
    this.#output += text;
    this.#hasContent = true;
  }

  /**
   * Returns the failed end, after all that the client has not received: also when the stream had ended well and only
   * its charge failed.
   */
  #fail(error: StreamError): Uint8Array {
    this.#ended = "error";
    this.#writer.fail?.(error, this.#counted);
    return Buffer.concat([withoutLastEvent(this.#closing), this.#takeOutput()]);
  }

  get #counted() {
    const { usage, chars } = this.#machine;
    return { usage: figuresOf(this.#usageDialect, usage), chars };
  }

  #stepOf(step: StreamStep): StreamStep {
    if (this.#ended !== null) return DROP_EVENT;
    const { fault } = this.#writer;
    if (step.kind === "error" || fault !== null) {
      this.#ended = "error";
      return step.kind === "error" ? step : { kind: "error", text: fault ?? "" };
    }
    if (step.kind === "done" || this.#reader.finished) return { kind: "done", bytes: this.closing() };
    if (this.#output === "") return DROP_EVENT;
    return { kind: "pass", content: this.#hasContent, bytes: this.#takeOutput() };
  }

  #takeOutput(): Uint8Array {
    const bytes = encoder.encode(this.#output);
    if (this.#hasContent) this.delivered = true;
    this.#output = "";
    this.#hasContent = false;
    return bytes;
  }
}

const withoutLastEvent = (bytes: Uint8Array): Uint8Array => {
  const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).lastIndexOf("\n\n", -3);
  return bytes.subarray(0, at === -1 ? 0 : at + 2);
};
