// Translates a stream to another dialect: the machine of the provider's dialect reads events, and a rewriter
// that listens to it writes the client's. This file owns what both directions share: batches of bytes, what
// counts as content, and exactly one end.
//
// The provider's machine decides how the stream ended, as for a client of its own dialect: an answer that
// stops without a stop reason is broken and gets an error event instead of a closing one. After `[DONE]` it
// counts as complete.

import type { SseEvent } from "../../sse/sse-reader.ts";
import type { NonTokenUsage, StreamListener, StreamMachine, StreamStep } from "../dialect.ts";
import type { Json } from "../json.ts";
import { NO_NON_TOKEN_USAGE } from "../non-token-usage.ts";
import { DROP_EVENT, PASS_EVENT } from "../stream-machine.ts";

/** Writes the client's events. */
export interface Rewriter extends StreamListener {
  /** Whether the client has received everything but the closing event. */
  readonly finished: boolean;
  /** Why the translation must stop; null while it can continue. */
  readonly fault: string | null;
  /** Writes the closing events, given the provider's usage and the number of generated characters. */
  close(usage: unknown, chars: number): void;
}

/** The output of a rewriter. */
export interface EventSink {
  write(text: string): void;
  /** Writes a text that carries generated content. */
  content(text: string): void;
}

const encoder = new TextEncoder();

/**
 * Creates the machine. `read` creates the provider's machine with a listener; `rewrite` creates the rewriter.
 */
export const translatedStream = (
  read: (listener: StreamListener) => StreamMachine,
  rewrite: (sink: EventSink) => Rewriter,
): StreamMachine => new TranslatedStream(read, rewrite);

class TranslatedStream implements StreamMachine, StreamListener, EventSink {
  readonly #machine: StreamMachine;
  readonly #rewriter: Rewriter;
  /** What the rewriter has written since the last step, and whether it carries generated content. */
  #output = "";
  #hasContent = false;
  #ended: "done" | "error" | null = null;
  delivered = false;

  constructor(read: (listener: StreamListener) => StreamMachine, rewrite: (sink: EventSink) => Rewriter) {
    this.#rewriter = rewrite(this);
    this.#machine = read(this);
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
    this.#rewriter.close(this.#machine.usage, this.#machine.chars);
    return this.#takeOutput();
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
    if (this.#ended === null) this.#rewriter.event(event, type, pattern);
  }

  repeated(texts: readonly string[]): void {
    if (this.#ended === null) this.#rewriter.repeated(texts);
  }

  /** Receives a text from the rewriter. */
  write(text: string): void {
    this.#output += text;
  }

  content(text: string): void {
    this.#output += text;
    this.#hasContent = true;
  }

  #stepOf(step: StreamStep): StreamStep {
    if (this.#ended !== null) return DROP_EVENT;
    const { fault, finished } = this.#rewriter;
    if (step.kind === "error" || fault !== null) {
      this.#ended = "error";
      return step.kind === "error" ? step : { kind: "error", text: fault ?? "" };
    }
    if (step.kind === "done" || finished) return { kind: "done", bytes: this.closing() };
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
