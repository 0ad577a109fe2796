// Reads a provider's event stream in batches: the bytes to pass on, whether they hold content, and how it ended.
// Silence beyond the idle limit ends it like a cut. It sends nothing and settles nothing.

import type { StreamMachine } from "../dialect/dialect.ts";
import type { Clock } from "../runtime/clock.ts";
import { cutBy, type Signal } from "../upstream/signal.ts";
import { createStepper, type Said } from "./stream-steps.ts";

export type End =
  | Said
  /** The connection ended in order, without a closing event. */
  | { readonly kind: "eof" }
  /** The connection broke, fell silent, or the client went. */
  | { readonly kind: "cut"; readonly signal: Signal };

export interface Batch {
  readonly bytes: readonly Uint8Array[];
  readonly content: boolean;
  readonly end: End | null;
}

export interface StreamSource {
  readonly machine: StreamMachine;
  next(): Promise<Batch>;
  /** Gives the connection up. */
  stop(): void;
}

export function streamSource(parts: {
  body: ReadableStream<Uint8Array>;
  machine: StreamMachine;
  clock: Clock;
  idleMs: number;
  abort: AbortController;
  /** An error's text without the provider key. */
  scrub: (text: string) => string;
}): StreamSource {
  const { machine, clock, idleMs, abort, scrub } = parts;
  const reader = parts.body.getReader();
  const stepper = createStepper(machine, scrub);
  let lastAt = clock.mono();
  let cancelTimer = clock.after(idleMs, watch);

  function watch(): void {
    const silentMs = clock.mono() - lastAt;
    if (silentMs >= idleMs) abort.abort(new DOMException("the provider fell silent", "TimeoutError"));
    else cancelTimer = clock.after(idleMs - silentMs, watch);
  }

  return {
    machine,
    async next() {
      try {
        const { done, value } = await reader.read();
        lastAt = clock.mono();
        if (!done) return stepper.read(value);
        const last = stepper.finish();
        return { ...last, end: last.end ?? { kind: "eof" } };
      } catch (error) {
        return { bytes: [], content: false, end: { kind: "cut", signal: cutBy(abort.signal, error) } };
      }
    },
    stop() {
      cancelTimer();
      // The connection may have gone already; either way nobody reads on.
      reader.cancel().catch(() => undefined);
    },
  };
}
