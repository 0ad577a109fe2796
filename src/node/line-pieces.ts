// Cuts lines into pieces between which another process may write to the same pipe, and within which it cannot. It writes
// nothing.

/** Bytes that Linux writes to a pipe without those of another writer between them (PIPE_BUF; POSIX has at least 512). */
export const WHOLE_BYTES_MAX = 4_096;
const LINE_FEED = 10;

/** Cuts text after ends of lines into pieces of at most `WHOLE_BYTES_MAX`. A longer line is a piece by itself. */
export function* piecesOf(text: Buffer): Generator<Buffer> {
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = from + WHOLE_BYTES_MAX;
    if (to < text.length) to = text.lastIndexOf(LINE_FEED, to - 1) + 1;
    if (to <= from) to = text.indexOf(LINE_FEED, from) + 1;
    yield text.subarray(from, to);
  }
}
