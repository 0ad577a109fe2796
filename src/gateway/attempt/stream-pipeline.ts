// Turns a provider's chunks into the client's: splits events, feeds the dialect's state machine, and collects
// the bytes to pass on. Complete events of one data line, named or not, take the fast path of
// sse-fast-path.ts, also between a buffered beginning and an unfinished end; everything else is parsed byte
// by byte by sse-reader.ts. It does no I/O and charges nothing.

import type { StreamMachine, StreamStep } from "../../dialect/dialect.ts";
import { plainEvent, plainText } from "../../sse/sse-fast-path.ts";
import { type SseEvent, SseReader } from "../../sse/sse-reader.ts";

/** How the provider ended its stream. */
export type ProviderEnd =
  /** The provider's closing event, which is sent after the charge. */
  | { readonly kind: "done"; readonly bytes: Uint8Array }
  /** The provider's error event. */
  | { readonly kind: "error"; readonly text: string };

/** What one chunk contains. */
export interface Steps {
  readonly bytes: Uint8Array[];
  content: boolean;
  end: ProviderEnd | null;
}

/** Reads the chunks of one stream. */
export interface Stepper {
  /** Reads the next chunk. */
  read(chunk: Uint8Array): Steps;
  /** Returns what is left after the connection has ended. */
  finish(): Steps;
}

/** The largest event in bytes; an image in base64 fits. */
const EVENT_BYTES_MAX = 16 * 1024 * 1024;
const BREAK = "\n\n";
const LF = 10;

/** Returns whether the chunk ends with an event, as most chunks do. */
const endsEvent = (chunk: Uint8Array): boolean =>
  chunk[chunk.length - 1] === LF && chunk[chunk.length - 2] === LF;

/** Returns the end of the last complete event of the chunk; 0 when no event ends in it. */
function lastBreakIn(chunk: Uint8Array): number {
  const at = viewOf(chunk).lastIndexOf(BREAK);
  return at === -1 ? 0 : at + BREAK.length;
}

const viewOf = (chunk: Uint8Array): Buffer => Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);

/** Creates the reader of one stream. `scrub` removes the provider key from an error's text. */
export function createStepper(machine: StreamMachine, scrub: (text: string) => string): Stepper {
  const sse = new SseReader({ maxEventBytes: EVENT_BYTES_MAX });

  /** Applies one step. Returns whether the stream goes on. */
  function take(step: StreamStep, into: Steps): boolean {
    if (step.kind === "done") into.end = { kind: "done", bytes: step.bytes };
    else if (step.kind === "error") into.end = { kind: "error", text: scrub(step.text) };
    else if (step.kind === "pass" && step.content) into.content = true;
    return into.end === null;
  }

  function long(events: readonly SseEvent[], into: Steps): void {
    for (const event of events) {
      const step = machine.feed(event);
      if (!take(step, into)) return;
      if (step.kind === "pass") into.bytes.push(step.bytes ?? event.raw);
    }
  }

  /**
   * Reads plain events out of `chunk[from..to)`, which ends with an event. Consecutive events that pass
   * unchanged are passed on as the original bytes. Returns where it stopped: at `to`, at the end of the
   * stream, or at an event that is not plain.
   */
  function short(chunk: Uint8Array, from: number, to: number, into: Steps): number {
    const bytes = from === 0 && to === chunk.length ? chunk : chunk.subarray(from, to);
    const text = plainText(bytes);
    if (text === null) return from;
    const ascii = text.length === bytes.length;
    let kept = 0;
    let at = 0;
    const passKept = () => {
      if (at === kept) return;
      if (kept === 0 && at === text.length) into.bytes.push(bytes);
      else into.bytes.push(ascii ? bytes.subarray(kept, at) : Buffer.from(text.slice(kept, at)));
    };
    while (at < text.length && into.end === null) {
      const next = machine.feedRun?.(text, at) ?? fedAt(text, at);
      if (next === null) break;
      const { step, end } = next;
      if (step.kind !== "pass" || step.bytes !== null) {
        passKept();
        kept = end;
      }
      at = end;
      take(step, into);
      if (step.kind === "pass" && step.bytes !== null) into.bytes.push(step.bytes);
    }
    passKept();
    return from + (ascii ? at : Buffer.byteLength(text.slice(0, at)));
  }

  function fedAt(text: string, at: number): { readonly step: StreamStep; readonly end: number } | null {
    const event = plainEvent(text, at);
    return event === null ? null : { step: machine.feedData(event.data, event.name), end: event.end };
  }

  /** Completes a buffered event up to the first break, then reads plain events, then whatever is left. */
  function read(chunk: Uint8Array): Steps {
    const into: Steps = { bytes: [], content: false, end: null };
    let from = 0;
    if (!sse.idle()) {
      const first = viewOf(chunk).indexOf(BREAK);
      from = first === -1 ? chunk.length : first + BREAK.length;
      long(sse.push(chunk.subarray(0, from)), into);
    }
    const last = endsEvent(chunk) ? chunk.length : lastBreakIn(chunk);
    if (last > from && sse.idle() && into.end === null) from = short(chunk, from, last, into);
    if (from < chunk.length && into.end === null) long(sse.push(chunk.subarray(from)), into);
    return into;
  }

  return {
    read,
    finish() {
      const into: Steps = { bytes: [], content: false, end: null };
      long(sse.end(), into);
      return into;
    },
  };
}
