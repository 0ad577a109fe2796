// The body of a response while it is produced: parts that are written in one turn of the event loop leave together, the first
// of them with the head. It frames them; what they say is not its concern.

import type { BodySink, StreamPart } from "../../gateway/call.ts";
import type { SocketWriter } from "../../http1/socket-writer.ts";
import { concatParts } from "./write-response.ts";

/** Parts of one turn that are kept at most until they are written. */
const TURN_BYTES_MAX = 64 * 1024;
/** Bytes that may wait for the client before the producer is asked to wait. */
const UNSENT_BYTES_MAX = 64 * 1024;

/** What a streamed response needs of its connection. */
export interface StreamConnection {
  /** Calls `flush` at the end of the turn. */
  flushLater(stream: StreamedResponse): void;
  /** The body is complete and written, but perhaps not sent. */
  onBodyWritten(): void;
  /** The body broke off: the connection must end without the body's own end. */
  cut(): void;
}

/** The body of one response. */
export class StreamedResponse implements BodySink {
  readonly #out: SocketWriter;
  readonly #connection: StreamConnection;
  readonly #isChunked: boolean;
  /** What leaves before the next parts: at first the head. */
  #head: string;
  #parts: StreamPart[] = [];
  #bytes = 0;
  #hasBytes = false;
  #isQueued = false;
  #isClosed = false;

  /** `head` is the encoded head. A body that is not chunked ends with the connection. */
  constructor(out: SocketWriter, connection: StreamConnection, head: string, isChunked: boolean) {
    this.#out = out;
    this.#connection = connection;
    this.#head = head;
    this.#isChunked = isChunked;
    this.#queue();
  }

  write(part: StreamPart): number | Promise<number> {
    const { length } = part;
    if (this.#isClosed || length === 0) return length;
    this.#parts.push(part);
    this.#bytes += length;
    if (typeof part !== "string") this.#hasBytes = true;
    if (this.#bytes < TURN_BYTES_MAX) this.#queue();
    else this.flush();
    return this.#out.unsentBytes <= UNSENT_BYTES_MAX ? length : this.#out.drained().then(() => length);
  }

  close(error?: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (error !== undefined) {
      this.flush();
      this.#connection.cut();
      return;
    }
    this.#write(this.#isChunked ? "0\r\n\r\n" : "");
    this.#connection.onBodyWritten();
  }

  /** Writes what has come in this turn. */
  flush(): void {
    this.#isQueued = false;
    this.#write("");
  }

  #queue(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    this.#connection.flushLater(this);
  }

  /** Writes head and parts, and `end` behind them. */
  #write(end: string): void {
    const parts = this.#parts;
    const size = this.#bytes;
    const isFramed = this.#isChunked && size > 0;
    const before = isFramed ? `${this.#head}${size.toString(16)}\r\n` : this.#head;
    const behind = isFramed ? `\r\n${end}` : end;
    const length = before.length + size + behind.length;
    if (length === 0) return;
    this.#head = "";
    if (this.#hasBytes) {
      this.#out.writeBytes(concatParts([before, ...parts, behind]));
    } else {
      this.#out.writeText(before + (parts.length === 1 ? parts[0] : parts.join("")) + behind, length);
    }
    this.#parts = [];
    this.#bytes = 0;
    this.#hasBytes = false;
  }
}
