// One TCP or TLS connection to a provider, which carries one request at a time. It writes the request as fast as
// the peer takes it, and stops reading while the response is not read. It resends nothing: once a byte of a
// request was written, only its response or an error can follow.
//
// event                                  connection                      request
// connected (TLS: certificate checked)   writes at the end of the turn   waits for the head
// bytes arrived                          reads at the end of the turn    goes on
// response complete, request sent        goes back to the pool           ended
// response complete, request not sent    closed                          ended: the answer is all that counts
// only the end is awaited                waits FINISH_MS_MAX for it      ended; what comes is dropped
// response unread beyond READ_AHEAD      paused until it is read         goes on
// aborted, or the body is cancelled      closed, written or not          rejects with the reason
// closed by the peer while idle          leaves the pool                 none
// closed by the peer before the end      closed                          rejects (a body without length ends)
// bytes that belong to no request        closed                          none; one that is not written yet rejects
// bytes that are no response             closed                          rejects with `ProtocolError`

import type { Socket } from "bun";
import type { BytePiece } from "../../base/byte-piece.ts";
import type { Clock } from "../../base/clock.ts";
import type { TurnQueue } from "../../base/turn-queue.ts";
import { ProtocolError } from "../../http1/header-fields.ts";
import type { MessageSink } from "../../http1/message-parser.ts";
import { SocketWriter } from "../../http1/socket-writer.ts";
import { HttpExchange, type HttpRequest } from "./exchange.ts";
import type { ResponseHead } from "./response-head.ts";
import { ResponseParser } from "./response-parser.ts";

/** Where a connection leads. */
export interface PeerAddress {
  /** An IP address. No name is resolved here. */
  readonly address: string;
  readonly port: number;
  /** What the certificate must be for; null without TLS. */
  readonly serverName: string | null;
}

/** What all connections of a node share. */
export interface ConnectionParts {
  readonly clock: Clock;
  /** Calls `readArrived` at the end of the turn. */
  readonly reads: TurnQueue<HttpConnection>;
  /** Calls `writeRequest` at the end of the turn. */
  readonly writes: TurnQueue<HttpConnection>;
}

/** What a connection reports to the connections of its peer. */
export interface ConnectionOwner {
  readonly peer: PeerAddress;
  readonly parts: ConnectionParts;
  /** The response is complete and the connection can carry another request. */
  onIdle(connection: HttpConnection): void;
  onClose(connection: HttpConnection): void;
}

/** How long the end of a response may take, ms, when nothing else of it counts. */
const FINISH_MS_MAX = 1_000;
/** Bytes of a response that may wait to be read before the connection is paused. */
const READ_AHEAD_BYTES = 256 * 1024;

/** An error of a connection with the code by which failures are classified. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** One connection. It must be opened before a request is sent. */
export class HttpConnection implements MessageSink<ResponseHead> {
  /** Monotonic ms at which it became idle. Kept by the pool. */
  idleAtMs = 0;
  /** How long the peer keeps an idle connection, ms, by its `Keep-Alive` header; null when it did not say. */
  keepAliveMs: number | null = null;
  readonly #owner: ConnectionOwner;
  readonly #parser = new ResponseParser(this);
  #socket: Socket<HttpConnection> | null = null;
  #exchange: HttpExchange | null = null;
  /** The request until it is written. */
  #request: HttpRequest | null = null;
  /** What arrived last in this turn for the running request, and was not read yet; null when there is nothing. */
  #arrived: Buffer | null = null;
  /** Writes to the socket; null before it is open. */
  #out: SocketWriter | null = null;
  /** Settles when the connection is open; null before that begins and after it has ended. */
  #ready: PromiseWithResolvers<void> | null = null;
  /** Cancels the wait for the end of a response of which nothing else counts; null when there is none. */
  #stopFinish: (() => void) | null = null;
  #isPaused = false;
  #isReusable = false;
  #isReferenced = true;

  constructor(owner: ConnectionOwner) {
    this.#owner = owner;
  }

  /** Connects. `close` ends the attempt. Rejects with the error of the system or of the certificate check. */
  async open(): Promise<void> {
    const { address, port, serverName } = this.#owner.peer;
    const ready = Promise.withResolvers<void>();
    this.#ready = ready;
    const common = { hostname: address, port, data: this };
    // The promise of Bun.connect settles before the certificate is checked; `handshake` settles ours.
    Bun.connect<HttpConnection>(
      serverName === null
        ? { ...common, socket: HANDLERS }
        : { ...common, socket: HANDLERS, tls: { serverName, rejectUnauthorized: true } },
    ).catch(ready.reject);
    await ready.promise;
  }

  /**
   * Writes a request at the end of the event loop's turn, and returns the exchange that its response goes to. The
   * connection must be open and idle.
   */
  send(request: HttpRequest): HttpExchange {
    if (this.#socket === null || this.#exchange !== null)
      throw new Error("the connection is closed or in use");
    const exchange = new HttpExchange(this);
    this.#exchange = exchange;
    this.#isReusable = false;
    this.#parser.begin();
    this.#request = request;
    this.#owner.parts.writes.add(this);
    return exchange;
  }

  /** Writes the request, unless it ended meanwhile. Called at the end of the turn in which it was sent. */
  writeRequest(): void {
    const request = this.#request;
    this.#request = null;
    if (request === null || this.#out === null) return;
    this.#out.writeBytes(request.bytes);
    if (request.more !== null) this.#out.writeBytes(request.more);
  }

  /** Whether the process stays alive as long as it is open. A connection that is idle for long does not keep it alive. */
  set isReferenced(yes: boolean) {
    if (yes === this.#isReferenced) return;
    this.#isReferenced = yes;
    if (yes) this.#socket?.ref();
    else this.#socket?.unref();
  }

  /** Closes the connection. A response that is not complete rejects with `reason`. */
  close(reason: unknown): void {
    const exchange = this.#exchange;
    this.#exchange = null;
    this.#request = null;
    this.#arrived = null;
    this.#endFinish();
    const socket = this.#socket;
    this.#socket = null;
    this.#out?.drop();
    this.#ready?.reject(reason);
    this.#ready = null;
    socket?.terminate();
    exchange?.fail(reason);
    if (socket !== null) this.#owner.onClose(this);
  }

  /** Called by the exchange when its unread bytes became fewer. */
  onRead(unreadBytes: number): void {
    if (!this.#isPaused || unreadBytes > READ_AHEAD_BYTES / 2) return;
    this.#isPaused = false;
    this.#socket?.resume();
  }

  /** Called by the exchange when only the end of its response is awaited. */
  onFinish(): void {
    this.onRead(0);
    this.#stopFinish = this.#owner.parts.clock.after(FINISH_MS_MAX, () => this.close(null));
  }

  onHead(head: ResponseHead): void {
    this.#isReusable = head.isReusable;
    this.keepAliveMs = keepAliveOf(head);
    this.#exchange?.onHead(head);
  }

  onBody(piece: BytePiece): void {
    const unread = this.#exchange?.onBody(piece) ?? 0;
    if (unread <= READ_AHEAD_BYTES || this.#isPaused) return;
    this.#isPaused = true;
    this.#socket?.pause();
  }

  onEnd(): void {
    const exchange = this.#exchange;
    this.#exchange = null;
    this.#endFinish();
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#socket?.resume();
    }
    const isSent = this.#request === null && this.#out?.unsentBytes === 0;
    if (this.#isReusable && isSent && this.#socket !== null) this.#owner.onIdle(this);
    else this.close(null);
    exchange?.onEnd();
  }

  /** Events of the socket, called by `HANDLERS` alone. */
  onOpen(socket: Socket<HttpConnection>): void {
    if (this.#ready === null) {
      socket.terminate();
      return;
    }
    this.#socket = socket;
    this.#out = new SocketWriter(socket);
    socket.setNoDelay(true);
    if (this.#owner.peer.serverName === null) this.onReady();
  }

  onReady(): void {
    this.#ready?.resolve();
    this.#ready = null;
  }

  onData(chunk: Buffer): void {
    if (this.#request !== null) {
      this.close(new ProtocolError("the provider sent an answer before it had the request"));
      return;
    }
    this.readArrived();
    // Bytes that belong to no request close the connection at once, before it can be taken for one.
    if (this.#exchange === null) this.#read(chunk);
    else {
      this.#arrived = chunk;
      this.#owner.parts.reads.add(this);
    }
  }

  /** Reads what has arrived, unless the request ended meanwhile. Called at the end of the turn, and before a later event. */
  readArrived(): void {
    const arrived = this.#arrived;
    this.#arrived = null;
    if (arrived !== null) this.#read(arrived);
  }

  onDrain(): void {
    this.#out?.onDrain();
  }

  onPeerClose(error: unknown): void {
    this.readArrived();
    if (this.#socket === null && this.#ready === null) return;
    if (error == null && this.#exchange !== null) {
      try {
        this.#parser.close();
      } catch {
        error = new ConnectionError(
          "ECONNRESET",
          "the provider closed the connection before its answer was complete",
        );
      }
    }
    this.close(error ?? new ConnectionError("ECONNRESET", "the provider closed the connection"));
  }

  #endFinish(): void {
    this.#stopFinish?.();
    this.#stopFinish = null;
  }

  #read(chunk: Buffer): void {
    if (this.#socket === null) return;
    try {
      this.#parser.push(chunk);
    } catch (error) {
      this.close(error);
    }
  }
}

/** `Keep-Alive: timeout=N` in ms, a second less than stated so that both ends do not decide at the same moment. */
function keepAliveOf({ headers }: ResponseHead): number | null {
  const stated = headers.get("keep-alive");
  if (stated === null) return null;
  const seconds = /(?:^|[\s,;])timeout=(\d{1,6})/i.exec(stated)?.[1];
  return seconds === undefined ? null : Math.max(0, Number(seconds) * 1_000 - 1_000);
}

const HANDLERS = {
  open: (socket: Socket<HttpConnection>) => socket.data.onOpen(socket),
  handshake(socket: Socket<HttpConnection>, ok: boolean, error: Error | null) {
    if (ok) socket.data.onReady();
    else socket.data.close(error ?? new ConnectionError("ERR_TLS", "the TLS handshake failed"));
  },
  data: (socket: Socket<HttpConnection>, chunk: Buffer) => socket.data.onData(chunk),
  drain: (socket: Socket<HttpConnection>) => socket.data.onDrain(),
  close: (socket: Socket<HttpConnection>, error?: Error) => socket.data.onPeerClose(error),
  end: (socket: Socket<HttpConnection>) => socket.data.onPeerClose(null),
  error: (socket: Socket<HttpConnection>, error: Error) => socket.data.onPeerClose(error),
  connectError: (socket: Socket<HttpConnection>, error: Error) => socket.data?.close(error),
};
