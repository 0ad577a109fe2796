// The commonest chunk of an event stream: nothing but whole events of one `data:` line each. Found by one decoding and
// one search per event, so that a stream costs little; everything else is sse.ts's work, byte by byte.

/** A chunk as its events' data, in order. Event i is `data: ` + data[i] + a blank line, and together they are `text`. */
export interface PlainChunk {
  readonly text: string;
  readonly data: readonly string[];
}

const LF = 10;
const PREFIX = "data: ";
const BREAK = "\n\n";

/** Null: not such a chunk. The reader must have nothing unfinished from before. */
export function plainChunk(chunk: Uint8Array): PlainChunk | null {
  if (chunk.length < 8 || chunk[chunk.length - 1] !== LF || chunk[chunk.length - 2] !== LF) return null;
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString("utf8");
  // A carriage return may end a line; a replaced character would not give the same bytes again; a mark may stand before.
  if (text.includes("\r") || text.includes("\ufffd") || !text.startsWith(PREFIX)) return null;
  const data: string[] = [];
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf(BREAK, from);
    if (!text.startsWith(PREFIX, from)) return null;
    const one = text.slice(from + PREFIX.length, end);
    if (one.includes("\n")) return null;
    data.push(one);
    from = end + BREAK.length;
  }
  return { text, data };
}

/** Length in characters that an event takes in `text`. */
export const plainLength = (data: string): number => PREFIX.length + data.length + BREAK.length;
