// The reading side of a client's connection: it finds one request after another in the bytes that arrive, keeps what is ahead
// of the running one, and does not read on while too much waits. It answers nothing.
//
// event                                    what happens
// head arrived                             reports the request, with what has come of its body
// body unread beyond READ_AHEAD_BYTES      paused until it is read
// more requests behind a complete one      kept until `next`, paused beyond AHEAD_BYTES
// client waits for a word with its body    sends it when the body is read
// rest of a body that nobody reads         dropped after `drop`, its end is reported
// bytes that are no request                reported; nothing is parsed after them

import type { Socket } from "bun";
import type { BytePiece } from "../../base/byte-piece.ts";
import type { MessageSink } from "../../http1/message-parser.ts";
import { RequestParser, type ServerRequestHead } from "./parse-request.ts";
import { type RequestConnection, ServerRequest } from "./server-request.ts";

/** What incoming requests report, and what they ask for. */
export interface ClientRequestsOwner {
  readonly clientAddress: string;
  onRequest(request: ServerRequest): void;
  /** The rest of a dropped body has arrived. */
  onDropped(): void;
  onMalformed(error: unknown): void;
  /** Something of the client is due within `ms`; null when nothing is. */
  expectWithin(ms: number | null): void;
  writeContinue(): void;
}

/** How long a head may take to arrive, and how long a body may stay away, ms. */
export const ARRIVAL_MS = 60_000;
/** Bytes of a body that may wait to be read. */
const READ_AHEAD_BYTES = 256 * 1024;
/** Bytes of further requests that may wait for the running one. */
const AHEAD_BYTES = 64 * 1024;
/** Bytes of a body that are still read when its request is answered, so that the connection can be used again. */
const DROPPED_BYTES_MAX = 256 * 1024;

/** See the header of this file. */
export class ClientRequests implements MessageSink<ServerRequestHead>, RequestConnection {
  readonly #owner: ClientRequestsOwner;
  readonly #socket: Pick<Socket, "pause" | "resume">;
  readonly #parser = new RequestParser(this);
  #request: ServerRequest | null = null;
  /** Whether the running request was reported. */
  #isReported = false;
  #isDropping = false;
  /** Bytes that were not parsed, from `#heldAt` on. */
  #held: Buffer | null = null;
  #heldAt = 0;
  #isParsing = false;
  /** Whether nothing more is parsed. */
  #isStopped = false;
  #isBodyFull = false;
  #isPaused = false;
  /** Whether the client waits for a word before it sends the body. */
  #owesContinue = false;

  constructor(owner: ClientRequestsOwner, socket: Pick<Socket, "pause" | "resume">) {
    this.#owner = owner;
    this.#socket = socket;
    this.#parser.begin();
  }

  /** Whether no request runs and nothing of a next one has arrived. */
  get isIdle(): boolean {
    return this.#request === null && this.#parser.isIdle;
  }

  get clientAddress(): string {
    return this.#owner.clientAddress;
  }

  /** Whether the running request has arrived whole, or so nearly that its rest can be dropped. */
  get isNearlyComplete(): boolean {
    if (this.#isStopped) return false;
    if (this.#request?.isComplete ?? true) return true;
    // A client that waits for a word may send its body or its next request behind a response: which it is cannot be told.
    if (this.#owesContinue) return false;
    const left = this.#parser.bytesLeft;
    return left !== null && left <= DROPPED_BYTES_MAX;
  }

  /** Takes bytes that arrived. */
  push(chunk: Buffer): void {
    if (this.#isStopped) return;
    const held = this.#held;
    this.#held = held === null ? chunk : Buffer.concat([held.subarray(this.#heldAt), chunk]);
    this.#heldAt = 0;
    this.#parse();
  }

  /** Drops what has come and will come of the running request's body. Returns whether all of it has come. */
  drop(): boolean {
    const request = this.#request;
    if (request === null || request.isComplete) return true;
    request.drop();
    this.#isDropping = true;
    this.#isBodyFull = false;
    this.#setPaused();
    this.#owner.expectWithin(ARRIVAL_MS);
    return false;
  }

  /** Goes on with the next request. The running one must be complete. */
  next(): void {
    this.#request = null;
    this.#isDropping = false;
    this.#parser.begin();
    this.#parse();
  }

  /** Parses nothing more, and drops what arrives. */
  stop(): void {
    this.#isStopped = true;
    this.#held = null;
    this.#isBodyFull = false;
    this.#setPaused();
  }

  onHead(head: ServerRequestHead): void {
    this.#request = new ServerRequest(head, this);
    this.#isReported = false;
  }

  onBody(piece: BytePiece): void {
    const request = this.#request;
    if (request === null || this.#isDropping || request.isComplete) return;
    this.#isBodyFull = request.onBody(piece) > READ_AHEAD_BYTES;
  }

  onEnd(): void {
    this.#isBodyFull = false;
    this.#request?.onEnd();
  }

  onBodyAsked(): void {
    if (!this.#owesContinue) return;
    this.#owesContinue = false;
    this.#owner.writeContinue();
    this.#owner.expectWithin(ARRIVAL_MS);
  }

  onRead(unreadBytes: number): void {
    if (!this.#isBodyFull || unreadBytes > READ_AHEAD_BYTES / 2) return;
    this.#isBodyFull = false;
    this.#owner.expectWithin(ARRIVAL_MS);
    this.#setPaused();
  }

  /** Parses what is held, up to the end of the request that then runs. */
  #parse(): void {
    // A request that is answered at once calls `next` from within.
    if (this.#isParsing) return;
    this.#isParsing = true;
    try {
      while (this.#held !== null && !this.#isStopped && !(this.#request?.isComplete ?? false)) {
        this.#parseHeld(this.#held);
      }
    } catch (error) {
      this.stop();
      this.#owner.onMalformed(error);
    } finally {
      this.#isParsing = false;
    }
    this.#setPaused();
  }

  #parseHeld(held: Buffer): void {
    const wasIdle = this.#parser.isIdle;
    const at = this.#parser.take(held, this.#heldAt);
    if (at === held.length) this.#held = null;
    this.#heldAt = at;
    const request = this.#request;
    // All of a head has one deadline, which a client that sends a byte now and then cannot put off.
    if (request === null) {
      if (wasIdle && !this.#parser.isIdle) this.#owner.expectWithin(ARRIVAL_MS);
      return;
    }
    this.#owesContinue = !this.#isReported && !request.isComplete && expectsContinue(request);
    const isDue = !request.isComplete && !this.#owesContinue;
    this.#owner.expectWithin(isDue ? ARRIVAL_MS : null);
    if (!this.#isReported) {
      this.#isReported = true;
      this.#owner.onRequest(request);
    } else if (this.#isDropping && request.isComplete) this.#owner.onDropped();
  }

  #setPaused(): void {
    const ahead = this.#held === null ? 0 : this.#held.length - this.#heldAt;
    const isFull = this.#isBodyFull || ahead > AHEAD_BYTES;
    if (this.#isPaused === isFull) return;
    this.#isPaused = isFull;
    if (!isFull) this.#socket.resume();
    else {
      this.#socket.pause();
      if (this.#isBodyFull) this.#owner.expectWithin(null);
    }
  }
}

/** HTTP/1.0 knows no such word (RFC 9110 10.1.1). */
const expectsContinue = ({ head, headers }: ServerRequest): boolean =>
  !head.isOld && /^100-continue$/i.test(headers.get("expect") ?? "");
