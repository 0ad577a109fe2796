// Reads the most common events of a stream: one `data:` line each, with or without an `event:` line before
// it. The text of a whole piece and one search per line make streams cheap. All other events are left to
// sse-reader.ts, which reads byte by byte.

export interface PlainEvent {
  /** The value of the `event:` line; empty without one. */
  readonly name: string;
  readonly data: string;
  /** Offset of the event's end in the text, in characters. */
  readonly end: number;
}

const DATA = "data: ";
const NAME = "event: ";
const BREAK = "\n\n";

/** Whether the events of a text can be read as text. The others must be read byte by byte. */
export function isPlain(text: string): boolean {
  // A carriage return may end a line, and a replacement character would not encode to the same bytes.
  return !text.includes("\r") && !text.includes("\ufffd");
}

/** Returns the event that begins at offset `from` of such a text. Returns null when it is not a plain one. */
export function plainEvent(text: string, from: number): PlainEvent | null {
  let name = "";
  let at = from;
  if (!text.startsWith(DATA, at)) {
    if (!text.startsWith(NAME, at)) return null;
    at = text.indexOf("\n", from) + 1;
    name = text.slice(from + NAME.length, at - 1);
    if (name === "" || !text.startsWith(DATA, at)) return null;
  }
  const stop = text.indexOf(BREAK, at);
  if (stop === -1) return null;
  const data = text.slice(at + DATA.length, stop);
  return data.includes("\n") ? null : { name, data, end: stop + BREAK.length };
}
