// Reads a provider's event stream in batches: the bytes to pass on, whether they hold content, and how it ended.
// Silence beyond the idle limit ends it like a cut. It sends nothing and settles nothing.

import type { ChatStep, ChatStream } from "../dialect/chat-stream.ts";
import type { Clock } from "../runtime/clock.ts";
import { fromError, type Signal } from "../upstream/signal.ts";
import { createSseReader, type SseEvent } from "../upstream/sse.ts";
import { type PlainChunk, plainChunk, plainLength } from "../upstream/sse-plain.ts";

/** One event may be so large: an image in base64 fits. */
const EVENT_MOST_BYTES = 16 * 1024 * 1024;

export type End =
  /** The provider's closing event, to be sent after the charge. */
  | { readonly kind: "done"; readonly bytes: Uint8Array }
  /** The connection ended in order, without a closing event. */
  | { readonly kind: "eof" }
  /** The connection broke, fell silent, or the client went. */
  | { readonly kind: "cut"; readonly signal: Signal }
  /** The provider's error event. */
  | { readonly kind: "error"; readonly text: string };

export interface Batch {
  readonly bytes: readonly Uint8Array[];
  readonly content: boolean;
  readonly end: End | null;
}

export interface StreamSource {
  readonly machine: ChatStream;
  next(): Promise<Batch>;
  /** Gives the connection up. */
  stop(): void;
}

export function streamSource(parts: {
  body: ReadableStream<Uint8Array>;
  machine: ChatStream;
  clock: Clock;
  idleMs: number;
  abort: AbortController;
  /** An error's text without the provider key. */
  scrub: (text: string) => string;
}): StreamSource {
  const { machine, clock, idleMs, abort, scrub } = parts;
  const reader = parts.body.getReader();
  const sse = createSseReader({ maxEventBytes: EVENT_MOST_BYTES });
  let lastAt = clock.mono();
  let cancelTimer = clock.after(idleMs, watch);

  function watch(): void {
    const silentMs = clock.mono() - lastAt;
    if (silentMs >= idleMs) abort.abort(new DOMException("the provider fell silent", "TimeoutError"));
    else cancelTimer = clock.after(idleMs - silentMs, watch);
  }

  type Read = { content: boolean; end: End | null };

  function endOf(step: ChatStep): End | null {
    if (step.kind === "done") return { kind: "done", bytes: step.bytes };
    return step.kind === "error" ? { kind: "error", text: scrub(step.text) } : null;
  }

  function steps(events: readonly SseEvent[], bytes: Uint8Array[]): Read {
    let content = false;
    for (const event of events) {
      const step = machine.feed(event);
      const end = endOf(step);
      if (end !== null) return { content, end };
      if (step.kind !== "pass") continue;
      bytes.push(step.bytes ?? event.raw);
      if (step.content) content = true;
    }
    return { content, end: null };
  }

  /** Events that pass as they came leave together, as the bytes that came. */
  function plainSteps({ text, data }: PlainChunk, chunk: Uint8Array, bytes: Uint8Array[]): Read {
    const ascii = text.length === chunk.length;
    let content = false;
    let from = 0;
    let at = 0;
    const passRun = () => {
      if (at > from) bytes.push(ascii ? chunk.subarray(from, at) : Buffer.from(text.slice(from, at)));
    };
    for (const one of data) {
      const step = machine.feedData(one);
      const next = at + plainLength(one);
      if (step.kind === "pass" && step.content) content = true;
      if (step.kind === "pass" && step.bytes === null) {
        at = next;
        continue;
      }
      passRun();
      from = next;
      at = next;
      const end = endOf(step);
      if (end !== null) return { content, end };
      if (step.kind === "pass" && step.bytes !== null) bytes.push(step.bytes);
    }
    passRun();
    return { content, end: null };
  }

  function read(chunk: Uint8Array, bytes: Uint8Array[]): Read {
    const plain = sse.idle() ? plainChunk(chunk) : null;
    return plain === null ? steps(sse.push(chunk), bytes) : plainSteps(plain, chunk, bytes);
  }

  return {
    machine,
    async next() {
      const bytes: Uint8Array[] = [];
      try {
        const { done, value } = await reader.read();
        lastAt = clock.mono();
        if (!done) return { bytes, ...read(value, bytes) };
        const last = steps(sse.end(), bytes);
        return { bytes, content: last.content, end: last.end ?? { kind: "eof" } };
      } catch (error) {
        return { bytes, content: false, end: { kind: "cut", signal: cutBy(abort.signal, error) } };
      }
    },
    stop() {
      cancelTimer();
      // The connection may have gone already; either way nobody reads on.
      reader.cancel().catch(() => undefined);
    },
  };
}

/** Why reading stopped: our own abort says by its reason whether it was a deadline or the client. */
export function cutBy(signal: AbortSignal, error: unknown): Signal {
  if (!signal.aborted) return fromError(error);
  const reason: unknown = signal.reason;
  return reason instanceof Error && reason.name === "TimeoutError"
    ? fromError(reason)
    : { name: "client_gone", status: 0, note: "the client has gone" };
}
