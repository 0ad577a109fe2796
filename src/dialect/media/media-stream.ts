// The machine for streams of images, speech and transcripts. Every event passes as it came; the kind of stream says which of
// them carry something generated, which one is the last, and what their price may count.
//
//   an event of the last kind   the closing event: usage is in there, and nowhere else
//   [DONE]                      no word of these streams: dropped
//   an error, or no JSON        ends the stream
//   no last event               the answer is broken, however orderly the connection ended

import { frame } from "../../sse/sse-writer.ts";
import type { NonTokenUsage, StreamError, StreamMachine, StreamStep } from "../dialect.ts";
import { statesError } from "../error-body.ts";
import { isObject, type Json, parseJson } from "../json.ts";
import { createFeed, DROP_EVENT, PASS_CONTENT_EVENT, PASS_EVENT } from "../stream-machine.ts";
import { createTextBuffer } from "../text-buffer.ts";

/** What to know of a kind of stream. */
export interface MediaEvents {
  readonly lasts: ReadonlySet<string>;
  /** Events that carry something generated, and the field of its words; null: no words. */
  readonly generated: ReadonlyMap<string, string | null>;
  /** What an event shows beside tokens, given what was shown before. */
  readonly measure: (type: string, event: Json, before: NonTokenUsage) => NonTokenUsage;
}

/** A machine for one stream of this kind. */
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
    // One `data:` line has bytes of its own again only where it is the last event.
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

/** These streams have no closing event that could be made up: the last one carries the answer. */
export const NO_CLOSING = new Uint8Array(0);

/** The event at which clients raise an error. */
export const mediaStreamError = ({ message, type, code, details }: StreamError): Uint8Array =>
  frame("error", JSON.stringify({ type: "error", error: { message, type, code, details } }));
