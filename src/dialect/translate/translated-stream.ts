// A stream in one dialect out of a stream in another: the provider's machine reads, a rewriter that listens to it writes.
// This is what the two directions share: batches of bytes, what counts as content, and exactly one ending.
//
// How it ended is judged by the provider's machine, as for a client of its own dialect: an answer that is cut off without
// saying why it stopped is broken, and gets the error event instead of a closing one. `[DONE]` says that it was meant so.

import type { StreamListener, StreamMachine, StreamStep } from "../dialect.ts";
import { DROP_EVENT, PASS_EVENT } from "../stream-machine.ts";

/** Writes the client's events. */
export interface Rewriter extends StreamListener {
  /** The provider has said all that a client waits for, though not its closing event. */
  readonly finished: boolean;
  /** Why this cannot go on; null: it can. */
  readonly fault: string | null;
  /** Writes what closes the stream. */
  close(usage: unknown, chars: number): void;
}

/** Where a rewriter writes. */
export interface EventSink {
  write(text: string): void;
  /** The same for anything generated. */
  content(text: string): void;
}

const encoder = new TextEncoder();

/** The machine. `read` makes the provider's, with a listener. */
export function translatedStream(
  read: (listener: StreamListener) => StreamMachine,
  rewrite: (outbox: EventSink) => Rewriter,
): StreamMachine {
  let out = "";
  let content = false;
  let delivered = false;
  let over: "done" | "error" | null = null;
  const rewriter = rewrite({
    write: (text) => {
      out += text;
    },
    content: (text) => {
      out += text;
      content = true;
    },
  });
  // What comes after the end is still metered, and written nowhere.
  const machine = read({
    event: (event, type, pattern) => {
      if (over === null) rewriter.event(event, type, pattern);
    },
    again: (words) => {
      if (over === null) rewriter.again(words);
    },
  });

  function taken(): Uint8Array {
    const bytes = encoder.encode(out);
    if (content) delivered = true;
    out = "";
    content = false;
    return bytes;
  }

  function stepOf(step: StreamStep): StreamStep {
    if (over !== null) return DROP_EVENT;
    if (step.kind === "error" || rewriter.fault !== null) {
      over = "error";
      return step.kind === "error" ? step : { kind: "error", text: rewriter.fault ?? "" };
    }
    if (step.kind === "done" || rewriter.finished) return { kind: "done", bytes: closing() };
    return out === "" ? DROP_EVENT : { kind: "pass", content, bytes: taken() };
  }

  function closing(): Uint8Array {
    if (over !== null) return taken();
    over = "done";
    rewriter.close(machine.usage, machine.chars);
    return taken();
  }

  return {
    feed(event) {
      const step = stepOf(machine.feed(event));
      // A comment alone means the same everywhere.
      const comment = event.data === null && event.name === "" && event.fault === undefined;
      return comment && over === null && step.kind === "withheld" ? PASS_EVENT : step;
    },
    feedData: (data, name) => stepOf(machine.feedData(data, name)),
    feedRun(text, from) {
      const run = over === null ? (machine.feedRun?.(text, from) ?? null) : null;
      return run === null ? null : { step: stepOf(run.step), end: run.end };
    },
    closing,
    outcome(clean) {
      if (over === "error") return "broken";
      const outcome = machine.outcome(clean);
      return over === "done" && outcome === "broken" ? "complete" : outcome;
    },
    get usage() {
      return machine.usage;
    },
    get serviceTier() {
      return machine.serviceTier;
    },
    get model() {
      return machine.model ?? null;
    },
    get measured() {
      return machine.measured ?? {};
    },
    get delivered() {
      return delivered;
    },
    get chars() {
      return machine.chars;
    },
    texts: machine.texts,
  };
}
