// Splits the bytes of a connection into messages of HTTP/1.1: heads, pieces of bodies and their ends (RFC 9112). It works
// on bytes as they arrive, however they are split, and holds no more than an incomplete head or chunk line. It
// knows nothing of sockets, and of heads only how a body is framed.

import { BytePiece } from "../base/byte-piece.ts";
import type { BodyFraming } from "./body-framing.ts";
import { ProtocolError } from "./header-fields.ts";

/** The part of a head that the parser needs. */
interface FramedHead {
  readonly framing: BodyFraming;
}

/** Receives what the parser finds, in order: one head, then pieces, then one end. */
export interface MessageSink<Head> {
  onHead(head: Head): void;
  onBody(piece: BytePiece): void;
  onEnd(): void;
}

/** The largest head in bytes, interim (1xx) heads counted one by one. */
const HEAD_BYTES_MAX = 64 * 1024;
/** The largest line that begins a chunk, with its extensions. */
const CHUNK_LINE_BYTES_MAX = 4 * 1024;
/** The largest trailer section in bytes. Trailers are read and dropped. */
const TRAILER_BYTES_MAX = 16 * 1024;
const CHUNK_SIZE = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?\r?$/i;

/** Digits of a size that are read without a text; eight are 4 GB. */
const PLAIN_DIGITS_MAX = 8;
/** The value of each hexadecimal digit by its byte, -1 for other bytes. */
const HEX_DIGITS: Int8Array = Int8Array.from({ length: 256 }, (_, byte) => {
  const value = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(value) ? -1 : value;
});
const CR = 13;
const LF = 10;
const BLANK_LINE = "\r\n\r\n";
const BLANK_LINE_OF_LF = "\n\n";
const NOTHING = Buffer.alloc(0);

/** What the next byte belongs to. */
type Expected =
  | "head"
  | "length"
  | "chunk-line"
  | "chunk-data"
  | "chunk-end"
  | "trailers"
  | "close"
  | "nothing";

/** The parser of one connection. `begin` prepares it for the next message. */
export abstract class MessageParser<Head extends FramedHead> {
  readonly #sink: MessageSink<Head>;
  readonly #allowsBareLf: boolean;
  #expect: Expected = "nothing";
  /** An incomplete head or line from earlier pieces. */
  #held: Buffer = NOTHING;
  /** Bytes that are still missing of a body or a chunk. */
  #left = 0;
  #trailerBytes = 0;
  /** The part of the current chunk that is body and was not passed on yet. */
  #pieceFrom = 0;
  #pieceTo = 0;

  /**
   * `allowsBareLf`: lines may end with LF alone, which RFC 9112 2.2 lets a recipient accept. Requests must not, because a proxy
   * before us may read them differently.
   */
  constructor(sink: MessageSink<Head>, allowsBareLf: boolean) {
    this.#sink = sink;
    this.#allowsBareLf = allowsBareLf;
  }

  /** Parses a head without its closing blank line. Throws `ProtocolError`. */
  protected abstract parseHead(text: string): Head;

  /** Whether the message's own head is still to come behind this one. Throws `ProtocolError` when this may not be. */
  protected abstract isInterim(head: Head): boolean;

  /** Expects the next message. */
  begin(): void {
    if (this.#expect !== "nothing") throw new Error("a message is being parsed already");
    this.#expect = "head";
    this.#held = NOTHING;
  }

  /** Whether the next message is expected and nothing of it has arrived. */
  get isIdle(): boolean {
    return this.#expect === "head" && this.#held.length === 0;
  }

  /** Bytes that are still missing of a body of stated length; null for one whose length is not stated. */
  get bytesLeft(): number | null {
    if (this.#expect === "nothing") return 0;
    return this.#expect === "length" ? this.#left : null;
  }

  /**
   * Takes bytes that arrived, from `from` on, up to the end of the message. Returns the offset of the first byte that is not
   * taken. Throws `ProtocolError`; the parser must not be used after that.
   */
  take(chunk: Buffer, from: number): number {
    let at = from;
    while (at < chunk.length && this.#expect !== "nothing") at = this.#step(chunk, at);
    this.#flush(chunk);
    return at;
  }

  /** The peer has closed the connection. Throws `ProtocolError` when the message is not complete. */
  close(): void {
    if (this.#expect === "close") this.#finish();
    else if (this.#expect !== "nothing") throw new ProtocolError("the connection closed too early");
  }

  /** Takes bytes from `at` on and returns the offset of the first byte that is not taken. */
  #step(chunk: Buffer, at: number): number {
    switch (this.#expect) {
      case "head":
        return this.#head(chunk, at);
      case "length":
        return this.#data(chunk, at, "nothing");
      case "chunk-data":
        return this.#data(chunk, at, "chunk-end");
      case "close":
        this.#add(chunk, at, chunk.length);
        return chunk.length;
      case "chunk-line":
      case "chunk-end":
      case "trailers":
        return this.#line(chunk, at);
      case "nothing":
        return at;
    }
  }
  #head(chunk: Buffer, at: number): number {
    const held = this.#held.length;
    const bytes = held === 0 ? chunk : Buffer.concat([this.#held, chunk.subarray(at)]);
    const start = held === 0 ? at : 0;
    const from = Math.max(start, held - 3);
    let end = bytes.indexOf(BLANK_LINE, from, "latin1");
    let next = end + BLANK_LINE.length;
    if (end === -1 && this.#allowsBareLf) {
      end = bytes.indexOf(BLANK_LINE_OF_LF, from, "latin1");
      next = end + BLANK_LINE_OF_LF.length;
    }
    if ((end === -1 ? bytes.length : end) - start > HEAD_BYTES_MAX) {
      throw new ProtocolError(`the head has more than ${HEAD_BYTES_MAX} bytes`);
    }
    if (end === -1) {
      this.#held = bytes.subarray(start);
      return chunk.length;
    }
    this.#held = NOTHING;
    this.#open(this.parseHead(bytes.toString("latin1", start, end)));
    return held === 0 ? next : next - held + at;
  }

  #open(head: Head): void {
    if (this.isInterim(head)) return;
    const { framing } = head;
    this.#sink.onHead(head);
    switch (framing.kind) {
      case "none":
        this.#finish();
        break;
      case "length":
        this.#left = framing.bytes;
        if (framing.bytes === 0) this.#finish();
        else this.#expect = "length";
        break;
      case "chunked":
        this.#trailerBytes = 0;
        this.#expect = "chunk-line";
        break;
      case "close":
        this.#expect = "close";
    }
  }

  #data(chunk: Buffer, at: number, next: "nothing" | "chunk-end"): number {
    const end = Math.min(chunk.length, at + this.#left);
    this.#left -= end - at;
    this.#add(chunk, at, end);
    if (this.#left === 0) {
      if (next === "nothing") {
        this.#flush(chunk);
        this.#finish();
      } else this.#expect = next;
    }
    return end;
  }

  /**
   * Adds a part of `chunk` to the piece that is passed on. Parts of several transfer chunks are moved together in
   * the buffer, which is ours: what arrived at once is read at once.
   */
  #add(chunk: Buffer, from: number, to: number): void {
    if (this.#pieceTo === this.#pieceFrom) {
      this.#pieceFrom = from;
      this.#pieceTo = to;
      return;
    }
    if (from !== this.#pieceTo) chunk.copyWithin(this.#pieceTo, from, to);
    this.#pieceTo += to - from;
  }

  /** Passes the piece on. */
  #flush(chunk: Buffer): void {
    const from = this.#pieceFrom;
    const to = this.#pieceTo;
    if (from === to) return;
    this.#pieceFrom = 0;
    this.#pieceTo = 0;
    this.#sink.onBody(new BytePiece(chunk, from, to));
  }

  #line(chunk: Buffer, at: number): number {
    const next = this.#held.length === 0 ? this.#plainLine(chunk, at) : -1;
    if (next !== -1) return next;
    const end = chunk.indexOf(LF, at);
    const piece = chunk.subarray(at, end === -1 ? chunk.length : end);
    if (this.#held.length + piece.length > CHUNK_LINE_BYTES_MAX) {
      throw new ProtocolError("a line between two chunks is too long");
    }
    if (end === -1) {
      this.#held = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
      return chunk.length;
    }
    const line = (this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece])).toString("latin1");
    this.#held = NOTHING;
    if (this.#expect === "trailers") this.#flush(chunk);
    this.#lineRead(line);
    return end + 1;
  }

  /** Reads the lines that nearly all are, a size in hexadecimal or nothing, without making a text of them. */
  #plainLine(chunk: Buffer, at: number): number {
    let end = at;
    if (this.#expect === "chunk-line") {
      let size = 0;
      for (; end - at < PLAIN_DIGITS_MAX; end++) {
        const digit = HEX_DIGITS[chunk[end]!] ?? -1;
        if (digit === -1) break;
        size = size * 16 + digit;
      }
      // The last chunk, and what is no plain line, are read the long way.
      if (size === 0 || chunk[end] !== CR || chunk[end + 1] !== LF) return -1;
      this.#left = size;
      this.#expect = "chunk-data";
    } else {
      if (this.#expect !== "chunk-end" || chunk[end] !== CR || chunk[end + 1] !== LF) return -1;
      this.#expect = "chunk-line";
    }
    return end + 2;
  }

  #lineRead(line: string): void {
    if (!this.#allowsBareLf && !line.endsWith("\r"))
      throw new ProtocolError("a line does not end with CR LF");
    if (this.#expect === "chunk-end") {
      if (line !== "\r" && line !== "") throw new ProtocolError("a chunk is longer than it says");
      this.#expect = "chunk-line";
    } else if (this.#expect === "trailers") {
      this.#trailerBytes += line.length + 1;
      if (this.#trailerBytes > TRAILER_BYTES_MAX) throw new ProtocolError("the trailers are too long");
      if (line === "\r" || line === "") this.#finish();
    } else {
      const size = CHUNK_SIZE.exec(line);
      if (size === null) throw new ProtocolError("a chunk does not begin with its size");
      this.#left = Number.parseInt(size[1]!, 16);
      this.#expect = this.#left === 0 ? "trailers" : "chunk-data";
    }
  }

  #finish(): void {
    this.#expect = "nothing";
    this.#sink.onEnd();
  }
}
