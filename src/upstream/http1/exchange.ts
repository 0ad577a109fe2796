// One request and its response: the response that the caller waits for, and the body that it reads piece by piece. It
// holds what has arrived and was not read; the connection stops reading when that is too much. It never writes.

import type { BytePiece } from "../../base/byte-piece.ts";
import type { CancelSignal } from "../../base/cancellation.ts";
import { ProtocolError } from "../../http1/header-fields.ts";
import { MessageBody } from "../../http1/message-body.ts";
import type { UpstreamBody, UpstreamResponse } from "../upstream-response.ts";
import { decodedBody } from "./decoded-body.ts";
import type { ResponseHead } from "./response-head.ts";

/** An encoded request. */
export interface HttpRequest {
  /** Head and, for small bodies, body. */
  readonly bytes: Uint8Array;
  /** A large body, which is written after `bytes` without a copy; null when `bytes` is all. */
  readonly more: Uint8Array | null;
}

/** What an exchange needs of its connection. */
export interface ExchangeConnection {
  onRead(unreadBytes: number): void;
  /** Only the end of the response is still awaited. */
  onFinish(): void;
  close(reason: unknown): void;
}

const ONCE = { once: true } as const;

/** Bytes of a body that may still come when all that counts was read. */
const DROPPED_BYTES_MAX = 4 * 1024;

/** The reason with which an exchange ends whose body was cancelled. */
const CANCELLED = new DOMException("the body is not needed", "AbortError");

/** A running request, and the body of its response. */
export class HttpExchange extends MessageBody implements UpstreamBody {
  readonly #connection: ExchangeConnection;
  /** Resolves when the head of the response has arrived; rejects when the exchange ends before it. */
  readonly response: Promise<UpstreamResponse>;
  #resolveResponse!: (response: UpstreamResponse) => void;
  #rejectResponse!: (error: unknown) => void;
  /** Bytes that were dropped since `finish`; null before it. */
  #dropped: number | null = null;
  /** Ends the exchange from outside; null when nothing does. */
  #signal: CancelSignal | null = null;

  constructor(connection: ExchangeConnection) {
    super();
    this.#connection = connection;
    this.response = new Promise((resolve, reject) => {
      this.#resolveResponse = resolve;
      this.#rejectResponse = reject;
    });
  }

  /** Ends the exchange when `signal` aborts. Call it once. */
  endWith(signal: CancelSignal): void {
    this.#signal = signal;
    if (signal.aborted) this.handleEvent();
    else signal.addEventListener("abort", this, ONCE);
  }

  /** The signal has aborted. */
  handleEvent(): void {
    this.abort(this.#signal?.reason);
  }

  cancel(): void {
    this.abort(CANCELLED);
  }

  finish(): void {
    if (!this.isOpen || this.unreadBytes > DROPPED_BYTES_MAX) {
      this.cancel();
      return;
    }
    this.#dropped = this.unreadBytes;
    this.dropPieces();
    this.#connection.onFinish();
  }

  /** Ends the exchange for a reason of the caller and closes its connection. */
  abort(reason: unknown): void {
    this.dropPieces();
    if (this.isOpen) this.#connection.close(reason);
    this.fail(reason);
  }

  onHead({ status, headers }: ResponseHead): void {
    const coding = headers.get("content-encoding");
    if (coding === null) {
      this.#resolveResponse({ status, headers, body: this });
      return;
    }
    const body = decodedBody(this, coding);
    if (body !== null) {
      const plain = headers.without("content-encoding", "content-length");
      this.#resolveResponse({ status, headers: plain, body });
      return;
    }
    this.#rejectResponse(new ProtocolError("the provider used a content coding that was not asked for"));
    // The connection still reads what has arrived with the head, and must not be closed before that.
    queueMicrotask(() => this.cancel());
  }

  override onBody(piece: BytePiece): number {
    if (this.#dropped === null) return super.onBody(piece);
    this.#dropped += piece.length;
    if (this.#dropped > DROPPED_BYTES_MAX) this.cancel();
    return 0;
  }

  /** Ends the exchange with an error, which follows what has arrived and was not read. */
  override fail(error: unknown): boolean {
    if (!super.fail(error)) return false;
    this.response.catch(() => undefined);
    this.#rejectResponse(error);
    return true;
  }

  protected override onRead(unreadBytes: number): void {
    this.#connection.onRead(unreadBytes);
  }
}
