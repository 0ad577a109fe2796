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
import { parseEventJson } from "../event-json.ts";
import { isObject, type Json } from "../json.ts";
import { DROP_EVENT, EventStream, PASS_CONTENT_EVENT, PASS_EVENT } from "../stream-machine.ts";

/** The events of one kind of stream; `lasts` are the types of its last event. */
export interface MediaEvents {
  readonly lasts: ReadonlySet<string>;
  /** Types of events with generated content, and the field of its text; null means that it has no text. */
  readonly generated: ReadonlyMap<string, string | null>;
  /** Adds what an event shows other than tokens to the result for the events before. */
  readonly measure: (type: string, event: Json, before: NonTokenUsage) => NonTokenUsage;
}

/** Creates the machine for one stream. */
export const createMediaStream = (events: MediaEvents): StreamMachine => new MediaStream(events);

class MediaStream extends EventStream {
  readonly #events: MediaEvents;
  readonly serviceTier = null;
  usage: unknown = null;
  measured: NonTokenUsage = {};
  #begun = false;

  constructor(events: MediaEvents) {
    super(false);
    this.#events = events;
  }

  outcome(): "complete" | "broken" | "empty" {
    if (this.ended === "done") return "complete";
    return this.#begun || this.ended === "error" ? "broken" : "empty";
  }

  protected read(name: string, data: string, cut: boolean, raw: Uint8Array | null): StreamStep {
    if (data === "" || data.startsWith("[DONE]")) return DROP_EVENT;
    const event = parseEventJson(data);
    if (!isObject(event)) return cut ? DROP_EVENT : this.fail(data);
    const type = typeof event.type === "string" ? event.type : name;
    if (type === "error" || name === "error" || statesError(event)) return this.fail(data);
    this.#begun = true;
    const { lasts, generated, measure } = this.#events;
    this.measured = measure(type, event, this.measured);
    if (isObject(event.usage)) this.usage = event.usage;
    if (lasts.has(type)) {
      if (this.chars === 0 && typeof event.text === "string") this.generated.add(event.text);
      return this.finish(raw ?? frame(name, data));
    }
    const field = generated.get(type);
    if (field === undefined) return PASS_EVENT;
    this.delivered = true;
    if (field !== null && typeof event[field] === "string") this.generated.add(event[field]);
    return PASS_CONTENT_EVENT;
  }
}

/** The empty closing event of these streams: the last event carries the answer and cannot be made up. */
export const NO_CLOSING = new Uint8Array(0);

/** Returns the event on which clients raise an error. */
export const mediaStreamError = ({ message, type, code, details }: StreamError): Uint8Array =>
  frame("error", JSON.stringify({ type: "error", error: { message, type, code, details } }));
