// Reads a provider's event stream in batches: the bytes to pass on, whether they hold content, and how it ended.
// Silence beyond the idle limit ends it like a cut; so does nobody reading on for as long, but that is no fault of the
// provider. It sends nothing and settles nothing.

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

const SILENT = new DOMException("the provider fell silent", "TimeoutError");
/** Not named as a timeout: it counts as the client's doing (see `cutBy`), or slow readers would put keys to sleep. */
const UNREAD = new Error("the client stopped reading");

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
  /** When a read began or ended last. */
  let lastAt = clock.mono();
  let reading = false;
  let cancelTimer = clock.after(idleMs, watch);

  function watch(): void {
    const silentMs = clock.mono() - lastAt;
    if (silentMs >= idleMs) abort.abort(reading ? SILENT : UNREAD);
    else cancelTimer = clock.after(idleMs - silentMs, watch);
  }

  return {
    machine,
    async next() {
      lastAt = clock.mono();
      reading = true;
      try {
        const { done, value } = await reader.read();
        if (!done) return stepper.read(value);
        const last = stepper.finish();
        return { ...last, end: last.end ?? { kind: "eof" } };
      } catch (error) {
        return { bytes: [], content: false, end: { kind: "cut", signal: cutBy(abort.signal, error) } };
      } finally {
        lastAt = clock.mono();
        reading = false;
      }
    },
    stop() {
      cancelTimer();
      // The connection may have gone already; either way nobody reads on.
      reader.cancel().catch(() => undefined);
    },
  };
}
