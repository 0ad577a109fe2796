// What all stream machines have in common. A machine is one object per stream with its state in fields.
// Constant steps are created once, since most events give one of them. `EventStream` handles an event before
// its dialect reads it: it drops events after the end, fails on events that are too large, passes comments,
// and completes an event that the end of the stream cut off. It does not interpret data.

import type { SseEvent } from "../sse/sse-reader.ts";
import { frame } from "../sse/sse-writer.ts";
import type { StreamMachine, StreamStep } from "./dialect.ts";
import { TextBuffer } from "./text-buffer.ts";

/** Sends nothing for the event. */
export const DROP_EVENT: StreamStep = { kind: "withheld" };
/** Passes the event's own bytes, which carry nothing generated. */
export const PASS_EVENT: StreamStep = { kind: "pass", bytes: null, content: false };
/** Passes the event's own bytes, which carry something generated. */
export const PASS_CONTENT_EVENT: StreamStep = { kind: "pass", bytes: null, content: true };

/** A stream machine that reads one event after the other; a dialect implements `read` and `outcome`. */
export abstract class EventStream implements StreamMachine {
  abstract readonly usage: unknown;
  abstract readonly serviceTier: string | null;
  delivered = false;
  /** How the stream ended; null while it runs. */
  protected ended: "done" | "error" | null = null;
  /** The generated text. */
  protected readonly generated = new TextBuffer();
  readonly #namesNeedData: boolean;

  /** `namesNeedData`: clients throw on an event that has a name and no data, so such events are dropped. */
  constructor(namesNeedData: boolean) {
    this.#namesNeedData = namesNeedData;
  }

  /** Reads an event. `raw` are its own bytes; null means that `frame` must make them. */
  protected abstract read(name: string, data: string, cut: boolean, raw: Uint8Array | null): StreamStep;

  abstract outcome(clean: boolean): "complete" | "broken" | "empty";

  feed(event: SseEvent): StreamStep {
    if (this.ended !== null) return DROP_EVENT;
    const { data, name, raw } = event;
    const cut = event.fault === "cut";
    if (event.fault === "too_large") return this.fail("the event is too large");
    if (data === null) return cut || (this.#namesNeedData && name !== "") ? DROP_EVENT : PASS_EVENT;
    const step = this.read(name, data, cut, cut ? null : raw);
    // A cut event lacks its blank line.
    return cut && step.kind === "pass" && step.bytes === null ? { ...step, bytes: frame(name, data) } : step;
  }

  feedData(data: string, name: string): StreamStep {
    return this.ended === null ? this.read(name, data, false, null) : DROP_EVENT;
  }

  get chars(): number {
    return this.generated.chars;
  }

  texts(): readonly string[] {
    return this.generated.texts();
  }

  /** Ends the stream with its closing event. */
  protected finish(bytes: Uint8Array): StreamStep {
    this.ended = "done";
    return { kind: "done", bytes };
  }

  /** Ends the stream with the provider's error. */
  protected fail(text: string): StreamStep {
    this.ended = "error";
    return { kind: "error", text };
  }
}
