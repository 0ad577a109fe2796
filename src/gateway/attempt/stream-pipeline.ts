// Turns what a provider sent into what the client gets: splits events, feeds the dialect's state machine, and collects
// what is passed on. Complete events of one data line, named or not, take the fast path of
// sse-fast-path.ts, also between a buffered beginning and an unfinished end; everything else is parsed byte
// by byte by sse-reader.ts. It does no I/O and charges nothing.

import type { BytePiece } from "../../base/byte-piece.ts";
import type { StreamMachine, StreamStep } from "../../dialect/dialect.ts";
import { isPlain, plainEvent } from "../../sse/sse-fast-path.ts";
import { type SseEvent, SseReader } from "../../sse/sse-reader.ts";
import type { UpstreamHead } from "../../upstream/upstream.ts";
import type { StreamPart } from "../call.ts";
import type { ProviderEnd } from "../codec/provider-answer.ts";

/** What one piece contains. */
export interface Steps {
  readonly parts: StreamPart[];
  content: boolean;
  end: ProviderEnd | null;
}

/** The largest event in bytes; an image in base64 fits. */
const EVENT_BYTES_MAX = 16 * 1024 * 1024;
/** Characters of an error's text that are kept: twice those by which it is classified. */
const ERROR_CHARS_MAX = 131_072;
const BREAK = "\n\n";
const LF = 10;

/** Returns the length up to the end of the last complete event; 0 when no event ends in the piece. */
function completeIn(piece: BytePiece): number {
  const { buffer, to, length } = piece;
  // Most pieces end with an event.
  if (length >= BREAK.length && buffer[to - 1] === LF && buffer[to - 2] === LF) return length;
  const at = piece.bytes().lastIndexOf(BREAK);
  return at === -1 ? 0 : at + BREAK.length;
}

/** Returns the length up to the end of the event that the piece begins within; all of it when that does not end here. */
function restIn(piece: BytePiece): number {
  const at = piece.bytes().indexOf(BREAK);
  return at === -1 ? piece.length : at + BREAK.length;
}

/** Reads the pieces of one stream. `head` removes the provider key from an error's text. */
export class StreamPipeline {
  private readonly sse = new SseReader({ maxEventBytes: EVENT_BYTES_MAX });

  constructor(
    private readonly machine: StreamMachine,
    private readonly head: Pick<UpstreamHead, "scrub">,
  ) {}

  /**
   * Reads the next piece: completes a buffered event up to the first break, then reads plain events, then
   * whatever is left.
   */
  read(piece: BytePiece): Steps {
    const { sse } = this;
    const into: Steps = { parts: [], content: false, end: null };
    let left = piece;
    if (!sse.idle()) {
      const rest = restIn(piece);
      this.readParsed(sse.push(piece.first(rest).bytes()), into);
      left = piece.behind(rest);
    }
    const complete = completeIn(left);
    if (complete > 0 && sse.idle() && into.end === null) {
      const read = this.readPlain(complete === left.length ? left : left.first(complete), into);
      if (read === left.length) return into;
      left = left.behind(read);
    }
    if (left.length > 0 && into.end === null) this.readParsed(sse.push(left.bytes()), into);
    return into;
  }

  /** Returns what is left after the connection has ended. */
  finish(): Steps {
    const into: Steps = { parts: [], content: false, end: null };
    this.readParsed(this.sse.end(), into);
    return into;
  }

  /** Applies one step. Returns whether the stream goes on. */
  private take(step: StreamStep, into: Steps): boolean {
    if (step.kind === "done") into.end = { kind: "done", bytes: step.bytes };
    else if (step.kind === "error")
      into.end = { kind: "error", text: this.head.scrub(step.text.slice(0, ERROR_CHARS_MAX)) };
    else if (step.kind === "pass" && step.content) into.content = true;
    return into.end === null;
  }

  private readParsed(events: readonly SseEvent[], into: Steps): void {
    for (const event of events) {
      const step = this.machine.feed(event);
      if (!this.take(step, into)) return;
      if (step.kind === "pass") into.parts.push(step.bytes ?? event.raw);
    }
  }

  /**
   * Reads plain events out of a piece that ends with an event. Consecutive events that pass unchanged are passed on
   * together. Returns how many bytes it has read: all, those up to the end of the stream, or those before an event that is
   * not plain.
   */
  private readPlain(piece: BytePiece, into: Steps): number {
    const { machine } = this;
    const text = piece.text();
    if (!isPlain(text)) return 0;
    let kept = 0;
    let at = 0;
    while (at < text.length && into.end === null) {
      const next = machine.feedRun?.(text, at) ?? this.feedAt(text, at);
      if (next === null) break;
      const { step, end } = next;
      if (step.kind !== "pass" || step.bytes !== null) {
        passOn(into, piece, text, kept, at);
        kept = end;
      }
      at = end;
      this.take(step, into);
      if (step.kind === "pass" && step.bytes !== null) into.parts.push(step.bytes);
    }
    passOn(into, piece, text, kept, at);
    return isAsciiText(text, piece) ? at : Buffer.byteLength(text.slice(0, at));
  }

  private feedAt(text: string, at: number): { readonly step: StreamStep; readonly end: number } | null {
    const event = plainEvent(text, at);
    return event === null ? null : { step: this.machine.feedData(event.data, event.name), end: event.end };
  }
}

/** Passes on `text[kept..at)` of the text of a piece, which is unchanged: as text of ASCII, else as the bytes that it is. */
function passOn(into: Steps, piece: BytePiece, text: string, kept: number, at: number): void {
  if (at === kept) return;
  if (isAsciiText(text, piece)) into.parts.push(text.slice(kept, at));
  else into.parts.push(at - kept === text.length ? piece.bytes() : Buffer.from(text.slice(kept, at)));
}

/** Whether the text of a piece is of ASCII alone: each other character has more bytes than code units. */
const isAsciiText = (text: string, piece: BytePiece): boolean => text.length === piece.length;
