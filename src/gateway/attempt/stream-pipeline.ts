// Turns a provider's chunks into the client's: splits events, feeds the dialect's state machine, and collects
// the bytes to pass on. Complete events of one data line, named or not, take the fast path of
// sse-fast-path.ts, also between a buffered beginning and an unfinished end; everything else is parsed byte
// by byte by sse-reader.ts. It does no I/O and charges nothing.

import type { StreamMachine, StreamStep } from "../../dialect/dialect.ts";
import { plainEvent, plainText } from "../../sse/sse-fast-path.ts";
import { type SseEvent, SseReader } from "../../sse/sse-reader.ts";
import type { ProviderEnd } from "../codec/provider-answer.ts";

/** What one chunk contains. */
export interface Steps {
  readonly bytes: Uint8Array[];
  content: boolean;
  end: ProviderEnd | null;
}

/** The largest event in bytes; an image in base64 fits. */
const EVENT_BYTES_MAX = 16 * 1024 * 1024;
/** Characters of an error's text that are kept: twice those by which it is classified. */
const ERROR_CHARS_MAX = 131_072;
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

/** Reads the chunks of one stream. `scrub` removes the provider key from an error's text. */
export class StreamPipeline {
  private readonly sse = new SseReader({ maxEventBytes: EVENT_BYTES_MAX });

  constructor(
    private readonly machine: StreamMachine,
    private readonly scrub: (text: string) => string,
  ) {}

  /**
   * Reads the next chunk: completes a buffered event up to the first break, then reads plain events, then
   * whatever is left.
   */
  read(chunk: Uint8Array): Steps {
    const { sse } = this;
    const into: Steps = { bytes: [], content: false, end: null };
    let from = 0;
    if (!sse.idle()) {
      const first = viewOf(chunk).indexOf(BREAK);
      from = first === -1 ? chunk.length : first + BREAK.length;
      this.readParsed(sse.push(chunk.subarray(0, from)), into);
    }
    const last = endsEvent(chunk) ? chunk.length : lastBreakIn(chunk);
    if (last > from && sse.idle() && into.end === null) from = this.readPlain(chunk, from, last, into);
    if (from < chunk.length && into.end === null) this.readParsed(sse.push(chunk.subarray(from)), into);
    return into;
  }

  /** Returns what is left after the connection has ended. */
  finish(): Steps {
    const into: Steps = { bytes: [], content: false, end: null };
    this.readParsed(this.sse.end(), into);
    return into;
  }

  /** Applies one step. Returns whether the stream goes on. */
  private take(step: StreamStep, into: Steps): boolean {
    if (step.kind === "done") into.end = { kind: "done", bytes: step.bytes };
    else if (step.kind === "error")
      into.end = { kind: "error", text: this.scrub(step.text.slice(0, ERROR_CHARS_MAX)) };
    else if (step.kind === "pass" && step.content) into.content = true;
    return into.end === null;
  }

  private readParsed(events: readonly SseEvent[], into: Steps): void {
    for (const event of events) {
      const step = this.machine.feed(event);
      if (!this.take(step, into)) return;
      if (step.kind === "pass") into.bytes.push(step.bytes ?? event.raw);
    }
  }

  /**
   * Reads plain events out of `chunk[from..to)`, which ends with an event. Consecutive events that pass
   * unchanged are passed on as the original bytes. Returns where it stopped: at `to`, at the end of the
   * stream, or at an event that is not plain.
   */
  private readPlain(chunk: Uint8Array, from: number, to: number, into: Steps): number {
    const { machine } = this;
    const bytes = from === 0 && to === chunk.length ? chunk : chunk.subarray(from, to);
    const text = plainText(bytes);
    if (text === null) return from;
    const ascii = text.length === bytes.length;
    let kept = 0;
    let at = 0;
    while (at < text.length && into.end === null) {
      const next = machine.feedRun?.(text, at) ?? this.feedAt(text, at);
      if (next === null) break;
      const { step, end } = next;
      if (step.kind !== "pass" || step.bytes !== null) {
        passOn(into, bytes, text, kept, at);
        kept = end;
      }
      at = end;
      this.take(step, into);
      if (step.kind === "pass" && step.bytes !== null) into.bytes.push(step.bytes);
    }
    passOn(into, bytes, text, kept, at);
    return from + (ascii ? at : Buffer.byteLength(text.slice(0, at)));
  }

  private feedAt(text: string, at: number): { readonly step: StreamStep; readonly end: number } | null {
    const event = plainEvent(text, at);
    return event === null ? null : { step: this.machine.feedData(event.data, event.name), end: event.end };
  }
}

/** Passes on `text[kept..at)`, which is unchanged, as the original bytes where that is possible. */
function passOn(into: Steps, bytes: Uint8Array, text: string, kept: number, at: number): void {
  if (at === kept) return;
  const ascii = text.length === bytes.length;
  if (kept === 0 && at === text.length) into.bytes.push(bytes);
  else into.bytes.push(ascii ? bytes.subarray(kept, at) : Buffer.from(text.slice(kept, at)));
}
