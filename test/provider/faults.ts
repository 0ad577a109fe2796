// The faults: each a name, one line of what it does, and how it bends the score of a stream or of a whole answer.
// Refusals (a status instead of an answer) are in refusals.ts; waits are knobs of the script and go with any fault.

import type { Ending, Piece, Score } from "./score.ts";
import type { Script } from "./script.ts";

/** What a fault needs said in the dialect of the answer. */
export interface Wording {
  readonly error: string;
  readonly errorBody: string;
  /** An event, and a body, that begin like JSON and break off. */
  readonly garbage: string;
  readonly garbageBody: string;
  /** What keeps a connection alive and says nothing. */
  readonly ping: string;
  /** A strange event before all others, as Azure's content filter sends, and one just before the end. */
  readonly opening: string;
  readonly late: string;
  /** An event without its delta. */
  readonly bare: string;
  /** A harmless event of that many characters. */
  padded(characters: number): string;
  /** The same answer with the filter's results, and with so many characters of padding. */
  filteredBody(body: string): string;
  paddedBody(body: string, characters: number): string;
}

type Bend = (score: Score, script: Script, wording: Wording) => Score;

interface Fault {
  readonly description: string;
  /** Arguments and their defaults, for the reader. */
  readonly takes?: string;
  /** Knobs that come with the fault. */
  readonly implies?: Script;
  /** The connection ends so before any head. */
  readonly headless?: (script: Script) => Ending;
  readonly stream?: Bend;
  readonly whole?: Bend;
}

/** Separate enough for the reader's side to see separate segments. */
const SEGMENT_GAP_MS = 2;

export const FAULTS: Readonly<Record<string, Fault>> = {
  reset: {
    description: "the connection closes before any head",
    takes: "how=rst",
    headless: (script) => (script.how === "fin" ? "fin" : "rst"),
  },
  hang: { description: "no head ever comes", headless: () => "stall" },
  cut: {
    description:
      "the connection closes after some events, or half a body; clean closes it as if all had been said",
    takes: "after=3 how=rst",
    stream: (score, script) => stopped(score, script, endingOf(script)),
    whole: (score, script) => halved(score, endingOf(script)),
  },
  stall: {
    description: "silence after some events, or half a body",
    takes: "after=3",
    stream: (score, script) => stopped(score, script, "stall"),
    whole: (score) => halved(score, "stall"),
  },
  empty: { description: "a good head, then nothing", stream: emptied, whole: emptied },
  no_done: {
    description: "everything but the last event: [DONE], message_stop",
    stream: (score) => ({ ...score, pieces: score.pieces.slice(0, -1) }),
  },
  unstreamed: { description: "a stream is asked, a whole answer is given" },
  error_event: {
    description: "an error event after some events, then the end; whole: 200 with an error body",
    takes: "after=3",
    stream: (score, script, wording) => {
      const kept = score.pieces.slice(0, script.after ?? 3);
      return { ...score, pieces: [...kept, note(wording.error)] };
    },
    whole: (score, _, wording) => reworded(score, wording.errorBody),
  },
  garbage: {
    description: "an event that is not JSON; whole: a body that is not JSON",
    takes: "after=3",
    stream: (score, script, wording) => inserted(score, script.after ?? 3, wording.garbage),
    whole: (score, _, wording) => reworded(score, wording.garbageBody),
  },
  huge: {
    description: "one very long line",
    takes: "after=3 kb=2048",
    stream: (score, script, wording) =>
      inserted(score, script.after ?? 3, wording.padded((script.kb ?? 2048) * 1024)),
    whole: (score, script, wording) =>
      reworded(score, wording.paddedBody(bodyOf(score), (script.kb ?? 2048) * 1024)),
  },
  comments: {
    description: "keep-alive comments before the first event",
    takes: "events=3",
    stream: (score, script) =>
      inserted(score, 0, ...Array(script.events ?? 3).fill(": OPENROUTER PROCESSING\n\n")),
  },
  azure: {
    description:
      "a first event with no choices and the filter's results, a late event without delta; strange events",
    stream: (score, _, wording) =>
      inserted(inserted(score, score.pieces.length - 1, wording.late), 0, wording.opening),
    whole: (score, _, wording) => reworded(score, wording.filteredBody(bodyOf(score))),
  },
  no_delta: {
    description: "an event without its delta",
    takes: "after=3",
    stream: (score, script, wording) => inserted(score, script.after ?? 3, wording.bare),
  },
  crlf: {
    description: "lines end in CR LF",
    stream: (score) => ({
      ...score,
      // Bytes have no lines.
      pieces: score.pieces.map(({ data, tokens }) => ({
        data: typeof data === "string" ? data.replaceAll("\n", "\r\n") : data,
        tokens,
      })),
    }),
  },
  split: {
    description: "every event over several writes of a few bytes",
    takes: "bytes=16",
    stream: (score, script) => segmented(score, (bytes) => slices(bytes, script.bytes ?? 16)),
    whole: (score, script) => segmented(score, (bytes) => slices(bytes, script.bytes ?? 16)),
  },
  split_utf8: {
    description: "every write ends inside a character",
    implies: { utf8: 1 },
    stream: (score) => segmented(score, insideCharacter),
    whole: (score) => segmented(score, insideCharacter),
  },
  join: {
    description: "several events in one write",
    takes: "events=5",
    stream: (score, script) => joined(score, script.events ?? 5),
  },
};

/** A keep-alive after each of the first `count` events. Not a fault: it goes with any of them. */
export const withPings = (pieces: readonly Piece[], count: number, ping: string): Piece[] =>
  pieces.flatMap((piece, nth) => (nth < count ? [piece, note(ping)] : [piece]));

const note = (data: string): Piece => ({ data, tokens: 0 });

const textOf = (piece: Piece): string =>
  typeof piece.data === "string" ? piece.data : Buffer.from(piece.data).toString();

const bytesOf = (piece: Piece): Buffer =>
  typeof piece.data === "string" ? Buffer.from(piece.data) : Buffer.copyBytesFrom(piece.data);

const bodyOf = (score: Score): string => score.pieces.map(textOf).join("");

const endingOf = (script: Script): Ending => (script.how === "clean" ? "end" : (script.how ?? "rst"));

const stopped = (score: Score, script: Script, ending: Ending): Score => ({
  ...score,
  pieces: score.pieces.slice(0, script.after ?? 3),
  ending,
});

function halved(score: Score, ending: Ending): Score {
  const body = Buffer.concat(score.pieces.map(bytesOf));
  const half = body.subarray(0, body.length >> 1);
  const tokens = score.pieces.reduce((sum, piece) => sum + piece.tokens, 0);
  // A clean end must keep its promise of length; the other endings break it.
  const lengthBytes = ending === "end" ? half.length : body.length;
  return { ...score, pieces: [{ data: half, tokens }], ending, lengthBytes };
}

function emptied(score: Score): Score {
  return { ...score, pieces: [], ...(score.lengthBytes !== undefined && { lengthBytes: 0 }) };
}

function reworded(score: Score, body: string): Score {
  const tokens = score.pieces.reduce((sum, piece) => sum + piece.tokens, 0);
  return { ...score, pieces: [{ data: body, tokens }], lengthBytes: Buffer.byteLength(body) };
}

function inserted(score: Score, after: number, ...events: readonly string[]): Score {
  return { ...score, pieces: score.pieces.toSpliced(after, 0, ...events.map(note)) };
}

function segmented(score: Score, cut: (bytes: Buffer) => readonly Buffer[]): Score {
  const pieces = score.pieces.flatMap((piece) =>
    cut(bytesOf(piece)).map((data, nth) => ({ data, tokens: nth === 0 ? piece.tokens : 0 })),
  );
  return { ...score, pieces, gapMs: Math.max(score.gapMs, SEGMENT_GAP_MS) };
}

function slices(bytes: Buffer, size: number): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) parts.push(bytes.subarray(at, at + size));
  return parts;
}

function insideCharacter(bytes: Buffer): Buffer[] {
  const at = bytes.findIndex((byte) => (byte & 0xc0) === 0x80);
  return at < 0 ? [bytes] : [bytes.subarray(0, at), bytes.subarray(at)];
}

function joined(score: Score, size: number): Score {
  const pieces: Piece[] = [];
  for (let at = 0; at < score.pieces.length; at += size) {
    const group = score.pieces.slice(at, at + size);
    pieces.push({
      data: Buffer.concat(group.map(bytesOf)),
      tokens: group.reduce((sum, piece) => sum + piece.tokens, 0),
    });
  }
  return { ...score, pieces, gapMs: Math.max(score.gapMs, SEGMENT_GAP_MS) };
}
