// From a provider's chunks to what the client gets: cuts events, feeds the dialect's machine, gathers the bytes to pass
// on. Whole events of one data line, named or not, go the short way (sse-plain.ts), also between a held beginning and an
// unfinished end; everything else goes byte by byte (sse.ts). Does no I/O; settles nothing.

import type { StreamMachine, StreamStep } from "../dialect/dialect.ts";
import { createSseReader, type SseEvent } from "../upstream/sse.ts";
import { type PlainChunk, plainChunk } from "../upstream/sse-plain.ts";

/** How the provider ended its stream by itself. */
export type Said =
  /** Its closing event, to be sent after the charge. */
  | { readonly kind: "done"; readonly bytes: Uint8Array }
  /** Its error event. */
  | { readonly kind: "error"; readonly text: string };

export interface Steps {
  readonly bytes: Uint8Array[];
  content: boolean;
  end: Said | null;
}

export interface Stepper {
  read(chunk: Uint8Array): Steps;
  /** The connection has ended: what is left of it. */
  finish(): Steps;
}

/** One event may be so large: an image in base64 fits. */
const EVENT_MOST_BYTES = 16 * 1024 * 1024;
const BREAK = "\n\n";

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

  /** Events that pass as they came leave together, as the bytes that came. */
  function short({ text, events }: PlainChunk, chunk: Uint8Array, into: Steps): void {
    const ascii = text.length === chunk.length;
    let from = 0;
    let at = 0;
    const passRun = () => {
      if (at > from) into.bytes.push(ascii ? chunk.subarray(from, at) : Buffer.from(text.slice(from, at)));
    };
    for (const { data, name, end } of events) {
      const step = machine.feedData(data, name);
      const asItCame = step.kind === "pass" && step.bytes === null;
      if (!asItCame) {
        passRun();
        from = end;
      }
      at = end;
      if (!take(step, into)) return;
      if (step.kind === "pass" && step.bytes !== null) into.bytes.push(step.bytes);
    }
    passRun();
  }

  /** Up to the first break when an event is held, whole events in the middle, the unfinished rest. */
  function read(chunk: Uint8Array): Steps {
    const into: Steps = { bytes: [], content: false, end: null };
    const view = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    let from = 0;
    if (!sse.idle()) {
      const first = view.indexOf(BREAK);
      from = first === -1 ? chunk.length : first + BREAK.length;
      long(sse.push(chunk.subarray(0, from)), into);
    }
    const last = view.lastIndexOf(BREAK) + BREAK.length;
    const middle = last > from && sse.idle() ? plainChunk(chunk.subarray(from, last)) : null;
    if (middle !== null && into.end === null) {
      short(middle, chunk.subarray(from, last), into);
      from = last;
    }
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
