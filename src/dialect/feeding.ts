// What every machine does with an event before it reads it: nothing once the stream is over, an error where it is too large,
// a comment as it came, and a whole event in place of one that the stream's end cut off. What the event says is its
// dialect's business.

import type { SseEvent } from "../sse/sse-reader.ts";
import { frame } from "../sse/sse-writer.ts";
import type { StreamMachine, StreamStep } from "./dialect.ts";
import { AS_IT_CAME, WITHHELD } from "./steps.ts";

interface Reading {
  isOver(): boolean;
  /** Whether clients throw at a name without data, which is kept from them. */
  readonly namesNeedData: boolean;
  /** `raw`: the event's own bytes; null: it was cut off, and `frame` makes them. */
  read(name: string, data: string, cut: boolean, raw: Uint8Array | null): StreamStep;
  fail(text: string): StreamStep;
}

/** A machine's `feed`. */
export function feeding({ isOver, namesNeedData, read, fail }: Reading): StreamMachine["feed"] {
  return (event: SseEvent) => {
    if (isOver()) return WITHHELD;
    const { data, name, raw } = event;
    const cut = event.fault === "cut";
    if (event.fault === "too_large") return fail("the event is too large");
    if (data === null) return cut || (namesNeedData && name !== "") ? WITHHELD : AS_IT_CAME;
    const step = read(name, data, cut, cut ? null : raw);
    // A cut event lacks its blank line.
    return cut && step.kind === "pass" && step.bytes === null ? { ...step, bytes: frame(name, data) } : step;
  };
}
