// Translates a stream to another dialect: the machine of the provider's dialect reads events, and a rewriter
// that listens to it writes the client's. This file owns what both directions share: batches of bytes, what
// counts as content, and exactly one end.
//
// The provider's machine decides how the stream ended, as for a client of its own dialect: an answer that
// stops without a stop reason is broken and gets an error event instead of a closing one. After `[DONE]` it
// counts as complete.

import type { StreamListener, StreamMachine, StreamStep } from "../dialect.ts";
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
  // Events after the end are still metered, but not written.
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
      // A comment means the same in every dialect, so it passes.
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
