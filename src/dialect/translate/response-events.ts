// Writes the events of a responses stream: each with its name, and with numbers from 0 without gaps.

import type { Json } from "../json.ts";
import { event } from "./event-text.ts";
import type { EventSink } from "./translated-stream.ts";

/** The events of one stream. */
export class ResponseEvents {
  readonly #sink: EventSink;
  /** The number of the next event. */
  next = 0;

  constructor(sink: EventSink) {
    this.#sink = sink;
  }

  write(type: string, fields: Json): void {
    this.#sink.write(this.#text(type, fields));
  }

  /** Writes an event that carries generated content. */
  content(type: string, fields: Json): void {
    this.#sink.content(this.#text(type, fields));
  }

  /** Writes an event with a response, given as JSON. */
  response(type: string, json: string): void {
    this.#sink.write(event(type, `{"type":"${type}","response":${json},"sequence_number":${this.next++}}`));
  }

  /** Writes a delta; `before` is what `beforeDelta` returns. */
  delta(before: string, text: string): void {
    this.#sink.content(`${before}${JSON.stringify(text)},"sequence_number":${this.next++}}\n\n`);
  }

  /** Writes a delta for each text; the texts have no character that JSON escapes. */
  plainDeltas(before: string, texts: readonly string[]): void {
    let out = "";
    for (const text of texts) out += `${before}"${text}","sequence_number":${this.next++}}\n\n`;
    this.#sink.content(out);
  }

  #text(type: string, fields: Json): string {
    return event(type, JSON.stringify({ type, ...fields, sequence_number: this.next++ }));
  }
}

/** Returns the text of a delta event up to its string, in which alone, beside its number, the deltas of a part differ. */
export const beforeDelta = (type: string, fields: Json): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields }).slice(0, -1)},"delta":`;
