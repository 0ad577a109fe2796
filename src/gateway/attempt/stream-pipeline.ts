// From a provider's chunks to what the client gets: cuts events, feeds the dialect's machine, gathers the bytes to pass
// on. Whole events of one data line, named or not, go the short way (sse-fast-path.ts), also between a held beginning and an
// unfinished end; everything else goes byte by byte (sse-reader.ts). Does no I/O; settles nothing.

import type { StreamMachine, StreamStep } from "../../dialect/dialect.ts";
import { plainEvent, plainText } from "../../sse/sse-fast-path.ts";
import { createSseReader, type SseEvent } from "../../sse/sse-reader.ts";

/** How the provider ended its stream by itself. */
export type ProviderEnd =
  /** Its closing event, to be sent after the charge. */
  | { readonly kind: "done"; readonly bytes: Uint8Array }
  /** Its error event. */
  | { readonly kind: "error"; readonly text: string };

export interface Steps {
  readonly bytes: Uint8Array[];
  content: boolean;
  end: ProviderEnd | null;
}

export interface Stepper {
  read(chunk: Uint8Array): Steps;
  /** The connection has ended: what is left of it. */
  finish(): Steps;
}

/** One event may be so large: an image in base64 fits. */
const EVENT_MOST_BYTES = 16 * 1024 * 1024;
const BREAK = "\n\n";
const LF = 10;

/** As most chunks do. */
const endsEvent = (chunk: Uint8Array): boolean =>
  chunk[chunk.length - 1] === LF && chunk[chunk.length - 2] === LF;

/** Up to the end of the last event that ends in the chunk. */
function lastBreakIn(chunk: Uint8Array): number {
  const at = viewOf(chunk).lastIndexOf(BREAK);
  return at === -1 ? 0 : at + BREAK.length;
}

const viewOf = (chunk: Uint8Array): Buffer => Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);

/** `scrub`: an error's text without the provider key. */
export function createStepper(machine: StreamMachine, scrub: (text: string) => string): Stepper {
  const sse = createSseReader({ maxEventBytes: EVENT_MOST_BYTES });

  /** Takes one step; answers whether the stream goes on. */
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
   * Plain events out of `chunk[from..to)`, which ends where an event does. Those that pass as they came leave together, as the
   * bytes that came. Answers where it stopped: at the end of the stream, or at an event that is not plain.
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

  /** Up to the first break when an event is held, plain events, and whatever is left. */
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
