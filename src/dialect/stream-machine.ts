// The steps that all stream machines have in common. Constant steps are created once, since most events give
// one of them. `createFeed` handles an event before its dialect reads it: it drops events after the end,
// fails on events that are too large, passes comments, and completes an event that the end of the stream cut
// off. It does not interpret data.

import type { SseEvent } from "../sse/sse-reader.ts";
import { frame } from "../sse/sse-writer.ts";
import type { StreamMachine, StreamStep } from "./dialect.ts";

/** Sends nothing for the event. */
export const DROP_EVENT: StreamStep = { kind: "withheld" };
/** Passes the event's own bytes, which carry nothing generated. */
export const PASS_EVENT: StreamStep = { kind: "pass", bytes: null, content: false };
/** Passes the event's own bytes, which carry something generated. */
export const PASS_CONTENT_EVENT: StreamStep = { kind: "pass", bytes: null, content: true };

interface Reading {
  isOver(): boolean;
  /** Whether clients throw on an event that has a name and no data; such events are dropped. */
  readonly namesNeedData: boolean;
  /** Reads an event. `raw` are its own bytes, or null when it was cut off and `frame` must make them. */
  read(name: string, data: string, cut: boolean, raw: Uint8Array | null): StreamStep;
  fail(text: string): StreamStep;
}

/** Creates the `feed` of a stream machine. */
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
