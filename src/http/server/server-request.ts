// A request as a handler of the server gets it: its parsed head, its body as it arrives, and the signal of its end. The body
// can be read once, by one of three ways, which are those of the runtime's `Request`.

import type { BytePiece } from "../../base/byte-piece.ts";
import { Cancellation, type CancelSignal } from "../../base/cancellation.ts";
import type { HeaderFields } from "../../http1/header-fields.ts";
import { MessageBody } from "../../http1/message-body.ts";
import type { ServerRequestHead } from "./parse-request.ts";

/** What a request needs of its connection. */
export interface RequestConnection {
  /** The client's address, at the cost of a system call; empty where the client left before it was first asked for. */
  readonly clientAddress: string;
  /** The body is about to be read. */
  onBodyAsked(): void;
  onRead(unreadBytes: number): void;
}

/** A running request. */
export class ServerRequest extends MessageBody {
  readonly head: ServerRequestHead;
  /** The target without its query. */
  readonly path: string;
  readonly #connection: RequestConnection;
  readonly #end = new Cancellation();

  constructor(head: ServerRequestHead, connection: RequestConnection) {
    super();
    this.head = head;
    this.#connection = connection;
    const query = head.target.indexOf("?");
    this.path = query === -1 ? head.target : head.target.slice(0, query);
  }

  get method(): string {
    return this.head.method;
  }

  /** The query with its question mark; empty without one. */
  get query(): string {
    return this.head.target.slice(this.path.length);
  }

  get headers(): HeaderFields {
    return this.head.headers;
  }

  /** Aborted when the client disconnects before it has the whole response. */
  get signal(): CancelSignal {
    return this.#end;
  }

  get clientAddress(): string {
    return this.#connection.clientAddress;
  }

  /** Whether the whole body has arrived, or there is none. */
  get isComplete(): boolean {
    return !this.isOpen;
  }

  /** Reads the body as text, without a byte order mark. Rejects when the client disconnects. Use it where the body is bounded. */
  text(): Promise<string> {
    if (!this.isOnePiece) return this.#join().then((bytes) => DECODER.decode(bytes));
    const text = (this.read() as BytePiece | null)?.text() ?? "";
    return Promise.resolve(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  }

  /**
   * Reads the body as bytes, which may be a part of their buffer: a copy would cost more than all else that is done to read a
   * body of some hundred kilobytes. Rejects when the client disconnects. Use it where the body is bounded.
   */
  bytes(): Promise<Uint8Array> {
    if (!this.isOnePiece) return this.#join();
    const piece = this.read() as BytePiece | null;
    return Promise.resolve(piece === null ? new Uint8Array(0) : piece.bytes());
  }

  /** The body chunk by chunk; null without one. Iteration throws when the client disconnects. */
  get body(): AsyncIterable<Uint8Array<ArrayBuffer>> | null {
    return this.head.framing.kind === "none" ? null : this.#chunks();
  }

  /** The client has disconnected, or the connection gave up waiting for it. Ends body and request. */
  abort(reason: Error): void {
    this.dropPieces();
    this.fail(reason);
    this.#end.abort(reason);
  }

  /** Drops what has arrived of the body and is not read any more. */
  drop(): void {
    this.dropPieces();
  }

  protected override onRead(unreadBytes: number): void {
    this.#connection.onRead(unreadBytes);
  }

  async *#chunks(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    this.#connection.onBodyAsked();
    for (;;) {
      const next = this.read();
      const piece = next instanceof Promise ? await next : next;
      if (piece === null) return;
      yield piece.bytes() as Uint8Array<ArrayBuffer>;
    }
  }

  async #join(): Promise<Uint8Array> {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    for await (const chunk of this.#chunks()) {
      chunks.push(chunk);
      size += chunk.length;
    }
    if (chunks.length === 1) return chunks[0]!;
    const joined = new Uint8Array(size);
    let at = 0;
    for (const chunk of chunks) {
      joined.set(chunk, at);
      at += chunk.length;
    }
    return joined;
  }
}

const BYTE_ORDER_MARK = 0xfeff;
const DECODER = new TextDecoder();
