// The commonest chunk of an event stream: nothing but whole events of one `data:` line each, with an `event:` line before it
// or without. Found by one decoding and one search per line, so that a stream costs little; everything else is sse.ts's
// work, byte by byte.

/** A chunk as its events, in order. Together they are `text`. */
export interface PlainChunk {
  readonly text: string;
  readonly events: readonly PlainEvent[];
}

export interface PlainEvent {
  /** What its `event:` line says; empty without one. */
  readonly name: string;
  readonly data: string;
  /** Characters up to its end, from the beginning of the chunk's text. */
  readonly end: number;
}

const LF = 10;
const DATA = "data: ";
const NAME = "event: ";
const BREAK = "\n\n";

/** Null: not such a chunk. The reader must have nothing unfinished from before. */
export function plainChunk(chunk: Uint8Array): PlainChunk | null {
  if (chunk.length < 8 || chunk[chunk.length - 1] !== LF || chunk[chunk.length - 2] !== LF) return null;
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString("utf8");
  // A carriage return may end a line; a replaced character would not give the same bytes again.
  if (text.includes("\r") || text.includes("\ufffd")) return null;
  const events: PlainEvent[] = [];
  for (let from = 0; from < text.length; ) {
    let name = "";
    let at = from;
    if (!text.startsWith(DATA, at)) {
      if (!text.startsWith(NAME, at)) return null;
      at = text.indexOf("\n", from) + 1;
      name = text.slice(from + NAME.length, at - 1);
      if (name === "" || !text.startsWith(DATA, at)) return null;
    }
    const stop = text.indexOf(BREAK, at);
    const data = text.slice(at + DATA.length, stop);
    if (data.includes("\n")) return null;
    from = stop + BREAK.length;
    events.push({ name, data, end: from });
  }
  return { text, events };
}
