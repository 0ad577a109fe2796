// The commonest events of a stream: one `data:` line each, with an `event:` line before it or without. Found by one decoding
// of a chunk and one search per line, so that a stream costs little; everything else is sse-reader.ts's work, byte by byte.

export interface PlainEvent {
  /** What its `event:` line says; empty without one. */
  readonly name: string;
  readonly data: string;
  /** Characters up to its end, from the beginning of the text. */
  readonly end: number;
}

const DATA = "data: ";
const NAME = "event: ";
const BREAK = "\n\n";
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The text of a chunk that ends where an event does; null: its events must be read byte by byte. */
export function plainText(chunk: Uint8Array): string | null {
  const text = decoder.decode(chunk);
  // A carriage return may end a line; a replaced character would not give the same bytes again.
  return text.includes("\r") || text.includes("\ufffd") ? null : text;
}

/** The event that begins at a character of such a text; null: it is not a plain one. */
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
