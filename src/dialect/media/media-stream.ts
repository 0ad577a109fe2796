// The state machine for streams of images, speech and transcripts. Every event passes unchanged.
// `MediaEvents` says which events carry generated content, which one is the last, and what they report for
// the price.
//
//   event                        effect
//   an event of type in `lasts`  returned as `done`, because the charge precedes it
//   [DONE]                       dropped, because these streams do not use it
//   an error, or data not JSON   ends the stream
//   an end without a last event  the answer is broken, even if the connection ended orderly

import { frame } from "../../sse/sse-writer.ts";
import type { NonTokenUsage, StreamError, StreamMachine, StreamStep } from "../dialect.ts";
import { statesError } from "../error-body.ts";
import { isObject, type Json, parseJson } from "../json.ts";
import { createFeed, DROP_EVENT, PASS_CONTENT_EVENT, PASS_EVENT } from "../stream-machine.ts";
import { createTextBuffer } from "../text-buffer.ts";

/** The events of one kind of stream; `lasts` are the types of its last event. */
export interface MediaEvents {
  readonly lasts: ReadonlySet<string>;
  /** Types of events with generated content, and the field of its text; null means that it has no text. */
  readonly generated: ReadonlyMap<string, string | null>;
  /** Adds what an event shows other than tokens to the result for the events before. */
  readonly measure: (type: string, event: Json, before: NonTokenUsage) => NonTokenUsage;
}

/** Creates the machine for one stream. */
export function createMediaStream({ lasts, generated, measure }: MediaEvents): StreamMachine {
  const pieces = createTextBuffer();
  let usage: unknown = null;
  let measured: NonTokenUsage = {};
  let begun = false;
  let delivered = false;
  let over: "done" | "error" | null = null;

  const feed = createFeed({
    isOver: () => over !== null,
    namesNeedData: false,
    read: (name, data, _cut, raw) => read(name, data, raw),
    fail,
  });

  function read(name: string, data: string, raw: Uint8Array | null): StreamStep {
    if (data === "" || data.startsWith("[DONE]")) return DROP_EVENT;
    const event = parseJson(data);
    if (!isObject(event)) return raw === null ? DROP_EVENT : fail(data);
    const type = typeof event.type === "string" ? event.type : name;
    if (type === "error" || name === "error" || statesError(event)) return fail(data);
    begun = true;
    measured = measure(type, event, measured);
    if (isObject(event.usage)) usage = event.usage;
    if (lasts.has(type)) {
      over = "done";
      if (pieces.chars === 0 && typeof event.text === "string") pieces.add(event.text);
      return { kind: "done", bytes: raw ?? frame(name, data) };
    }
    const words = generated.get(type);
    if (words === undefined) return PASS_EVENT;
    delivered = true;
    if (words !== null && typeof event[words] === "string") pieces.add(event[words]);
    return PASS_CONTENT_EVENT;
  }

  function fail(text: string): StreamStep {
    over = "error";
    return { kind: "error", text };
  }

  return {
    feed,
    // The bytes of a single `data:` line are needed only for the last event.
    feedData: (data, name) => (over === null ? read(name, data, frame(name, data)) : DROP_EVENT),
    outcome: () => (over === "done" ? "complete" : begun || over === "error" ? "broken" : "empty"),
    get usage() {
      return usage;
    },
    serviceTier: null,
    get delivered() {
      return delivered;
    },
    get chars() {
      return pieces.chars;
    },
    get measured() {
      return measured;
    },
    texts: pieces.texts,
  };
}

/** The empty closing event of these streams: the last event carries the answer and cannot be made up. */
export const NO_CLOSING = new Uint8Array(0);

/** Returns the event on which clients raise an error. */
export const mediaStreamError = ({ message, type, code, details }: StreamError): Uint8Array =>
  frame("error", JSON.stringify({ type: "error", error: { message, type, code, details } }));
