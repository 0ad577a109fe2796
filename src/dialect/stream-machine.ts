// The steps of a stream that need nothing made: made once, since most events of a stream are one of them.
//
// What every machine does with an event before it reads it: nothing once the stream is over, an error where it is too large,
// a comment as it came, and a whole event in place of one that the stream's end cut off. What the event says is its
// dialect's business.

import type { SseEvent } from "../sse/sse-reader.ts";
import { frame } from "../sse/sse-writer.ts";
import type { StreamMachine, StreamStep } from "./dialect.ts";

export const DROP_EVENT: StreamStep = { kind: "withheld" };
/** The event's own bytes, which say nothing that was generated. */
export const PASS_EVENT: StreamStep = { kind: "pass", bytes: null, content: false };
export const PASS_CONTENT_EVENT: StreamStep = { kind: "pass", bytes: null, content: true };

interface Reading {
  isOver(): boolean;
  /** Whether clients throw at a name without data, which is kept from them. */
  readonly namesNeedData: boolean;
  /** `raw`: the event's own bytes; null: it was cut off, and `frame` makes them. */
  read(name: string, data: string, cut: boolean, raw: Uint8Array | null): StreamStep;
  fail(text: string): StreamStep;
}

/** A machine's `feed`. */
export function createFeed({ isOver, namesNeedData, read, fail }: Reading): StreamMachine["feed"] {
  return (event: SseEvent) => {
    if (isOver()) return DROP_EVENT;
    const { data, name, raw } = event;
    const cut = event.fault === "cut";
    if (event.fault === "too_large") return fail("the event is too large");
    if (data === null) return cut || (namesNeedData && name !== "") ? DROP_EVENT : PASS_EVENT;
    const step = read(name, data, cut, cut ? null : raw);
    // A cut event lacks its blank line.
    return cut && step.kind === "pass" && step.bytes === null ? { ...step, bytes: frame(name, data) } : step;
  };
}
