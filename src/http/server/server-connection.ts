// One connection of a client, which carries one request at a time: it hands each that arrives to the server's handler,
// and writes the response as fast as the client takes it.
//
// event                                    connection                        request
// request found                            hands it to the handler           running
// response written, body complete          takes the next request            ended
// response written, body nearly complete   drops the rest, then as above     ended
// response written, body far from it       ends, see the next line           ended
// response ends the connection             shut down; what comes is dropped for LINGER_MS, so that the client can
//                                          read the response before it learns that it was not heard
// body broke off in the producer           ends without the body's end, for  ended
//                                          HTTP/1.0 by a reset
// client has disconnected                  closed                            aborted, and so is its body
// bytes that are no request                answers 400, then ends            none, or its body fails with that
// body late                                ends behind the response          its body fails with that
// head late, nothing taken, idle           closed                            none, or ended

import type { Socket } from "bun";
import type { BodySource } from "../../gateway/call.ts";
import { ProtocolError } from "../../http1/header-fields.ts";
import { SocketWriter } from "../../http1/socket-writer.ts";
import { ARRIVAL_MS, ClientRequests, type ClientRequestsOwner } from "./client-requests.ts";
import type { ServerRequest } from "./server-request.ts";
import {
  encodeHead,
  framingOf,
  isBodiless,
  isSource,
  type ResponseFraming,
  type ServerResponse,
} from "./server-response.ts";
import { type StreamConnection, StreamedResponse } from "./streamed-response.ts";
import { writeKnown } from "./write-response.ts";

/** What a connection needs of its server. */
export interface ConnectionServer {
  /** Answers a request. */
  answer(request: ServerRequest): ServerResponse | Promise<ServerResponse>;
  /** Returns the response where `answer` threw. */
  failed(error: unknown): ServerResponse;
  /** Returns the response to bytes that are no request. */
  refused(error: unknown): ServerResponse;
  /** Returns what a handler gets that reads a body which is not well-formed, or does not come. */
  bodyError(error: unknown): Error;
  /** Monotonic ms. */
  now(): number;
  /** The value of the Date field. */
  date(): string;
  /** Whether every response ends its connection. */
  readonly isStopping: boolean;
  flushLater(stream: StreamedResponse): void;
  /** The connection takes no further request. */
  onLinger(): void;
  onClose(connection: ServerConnection): void;
}

/**
 * How long a connection may be idle, ms. It is longer than any known balancer keeps an idle connection (the longest is 600 s),
 * so that none sends a request to one that is being closed.
 */
const IDLE_MS = 620_000;
/**
 * How long a client may take nothing of what is written, ms: longer than a person pauses a download, and than what answers
 * waits for a client itself.
 */
const TAKING_MS = 600_000;
/** How long a connection that was shut down waits for its client to close it, ms. */
const LINGER_MS = 5_000;

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

/** The reason with which requests end whose client has disconnected. */
const DISCONNECTED = new DOMException("The client has disconnected.", "AbortError");

/** What a body fails with that stays away. */
const TOO_LATE = new ProtocolError(`no byte of the body came for ${ARRIVAL_MS / 1_000} s`);

/** See the header of this file. */
export class ServerConnection implements ClientRequestsOwner, StreamConnection {
  /** When the connection gives up waiting for what its client has to send, monotonic ms. */
  #arrivesByMs = 0;
  /** When it gives up waiting for the client to take something of what is not sent, monotonic ms. */
  #takesByMs = 0;
  readonly #server: ConnectionServer;
  readonly #socket: Socket<ServerConnection>;
  readonly #out: SocketWriter;
  readonly #incoming: ClientRequests;
  #address: string | null = null;
  /** The running request, from its head on until its response is sent and its body complete. */
  #request: ServerRequest | null = null;
  #isAnswered = false;
  /** The body that is being sent, while it is produced. */
  #source: BodySource | null = null;
  /** Whether the connection ends behind the running response. */
  #closes = false;
  #state: "open" | "lingering" | "closed" = "open";

  constructor(server: ConnectionServer, socket: Socket<ServerConnection>) {
    this.#server = server;
    this.#socket = socket;
    this.#out = new SocketWriter(socket, () => {
      this.#takesByMs = server.now() + TAKING_MS;
    });
    this.#incoming = new ClientRequests(this, socket);
    this.expectWithin(IDLE_MS);
  }

  /** When the connection gives up what it waits for, monotonic ms. The server looks at it every few seconds. */
  get deadlineMs(): number {
    // A client that has a response to take may let us wait for the rest of its request meanwhile.
    return this.#out.unsentBytes > 0 ? this.#takesByMs : this.#arrivesByMs;
  }

  get clientAddress(): string {
    // A socket that was closed knows no address.
    this.#address ??= this.#socket.remoteAddress ?? "";
    return this.#address;
  }

  /** Whether a request is under way, or a part of its response is not sent. */
  get isBusy(): boolean {
    if (this.#state !== "open") return false;
    if (this.#request === null) return !this.#incoming.isIdle;
    return !this.#isAnswered || this.#out.unsentBytes > 0;
  }

  /** The server stops: an idle connection ends now, others behind their response. */
  leave(): void {
    if (!this.isBusy) this.#linger();
  }

  /** Closes the connection at once. What was written before it was shut down still reaches a client that reads slowly. */
  terminate(): void {
    if (this.#state === "lingering") this.#socket.end();
    else this.#socket.terminate();
    this.onSocketClose();
  }

  /** Called by the server when `deadlineMs` has passed. */
  onDeadline(): void {
    const request = this.#request;
    if (request === null || request.isComplete || this.#isAnswered || this.#out.unsentBytes > 0) {
      this.terminate();
      return;
    }
    this.#failBody(request, TOO_LATE);
    this.expectWithin(null);
  }

  onData(chunk: Buffer): void {
    if (this.#state === "open") this.#incoming.push(chunk);
  }

  onDrain(): void {
    if (!this.#out.onDrain()) return;
    if (this.#request === null ? this.#closes : this.#isAnswered) this.#next();
  }

  /**
   * The client has ended its side. Whether it still reads cannot be told: what is written is sent to it, and nothing waits for it
   * any more.
   */
  onClientEnd(): void {
    if (this.#state === "open" && this.#isAnswered && this.#out.unsentBytes > 0) {
      this.#closes = true;
      return;
    }
    this.#socket.end();
    this.onSocketClose();
  }

  onSocketClose(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#out.drop();
    const request = this.#request;
    const source = this.#source;
    this.#request = null;
    this.#source = null;
    if (request !== null && !this.#isAnswered) request.abort(DISCONNECTED);
    source?.gone();
    this.#server.onClose(this);
  }

  // What arrives.

  onRequest(request: ServerRequest): void {
    this.#request = request;
    this.#isAnswered = false;
    void this.#handle(request);
  }

  onDropped(): void {
    this.#next();
  }

  onMalformed(error: unknown): void {
    const request = this.#request;
    this.#closes = true;
    if (request === null) {
      const response = this.#server.refused(error);
      this.#write(response, framingOf(response));
    } else if (!this.#isAnswered) {
      this.#failBody(request, error);
      return;
    }
    if (this.#out.unsentBytes === 0) this.#linger();
  }

  expectWithin(ms: number | null): void {
    this.#arrivesByMs = ms === null ? Number.POSITIVE_INFINITY : this.#server.now() + ms;
  }

  writeContinue(): void {
    this.#out.writeText(CONTINUE, CONTINUE.length);
  }

  // What a streamed response asks for.

  flushLater(stream: StreamedResponse): void {
    this.#server.flushLater(stream);
  }

  onBodyWritten(): void {
    this.#source = null;
    this.#answered();
  }

  cut(): void {
    this.#source = null;
    // To a client of HTTP/1.0 the end of the connection is that of the body, unless the connection is reset.
    const endsBody = this.#request?.head.isOld ?? false;
    if (endsBody || this.#out.unsentBytes > 0) this.terminate();
    else this.#linger();
  }

  async #handle(request: ServerRequest): Promise<void> {
    let response: ServerResponse;
    try {
      const answering = this.#server.answer(request);
      response = answering instanceof Promise ? await answering : answering;
    } catch (error) {
      response = this.#server.failed(error);
    }
    if (this.#request === request) this.#respond(request, response);
    else if (isSource(response.body)) response.body.gone();
  }

  /** The body of a request that is not answered is no body, or late: what reads it gets that, and the connection ends. */
  #failBody(request: ServerRequest, error: unknown): void {
    this.#closes = true;
    this.#incoming.stop();
    request.fail(this.#server.bodyError(error));
  }

  #respond({ head }: ServerRequest, response: ServerResponse): void {
    const { status, body, headers } = response;
    const isOver = !head.staysOpen || headers.connection === "close" || this.#server.isStopping;
    this.#closes ||= isOver || !this.#incoming.isNearlyComplete;
    const isHeadAlone = head.method === "HEAD" || isBodiless(status);
    if (isSource(body) && !isHeadAlone) {
      this.#stream(response, body, !head.isOld);
      return;
    }
    if (isSource(body)) body.gone();
    this.#write(isHeadAlone ? { ...response, body: null } : response, framingOf(response));
    this.#answered();
  }

  /** Writes a response whose body is known. */
  #write(response: ServerResponse, framing: ResponseFraming): void {
    writeKnown(this.#out, this.#headOf(response, framing), response.body, framing);
  }

  #stream(response: ServerResponse, source: BodySource, isChunked: boolean): void {
    this.#closes ||= !isChunked;
    const head = this.#headOf(response, isChunked ? "chunked" : "close");
    const stream = new StreamedResponse(this.#out, this, head, isChunked);
    this.#source = source;
    source.fill(stream).then(
      () => stream.close(NOT_ENDED),
      (error: unknown) => stream.close(error instanceof Error ? error : NOT_ENDED),
    );
  }

  #headOf(response: ServerResponse, framing: ResponseFraming): string {
    return encodeHead(response, framing, { date: this.#server.date(), closes: this.#closes });
  }

  /** The response is written. */
  #answered(): void {
    if (this.#request === null) return;
    this.#isAnswered = true;
    if (this.#out.unsentBytes === 0) this.#next();
  }

  /** Goes on behind a response that is sent: with the next request if the running one is complete, or to the end. */
  #next(): void {
    if (this.#state !== "open") return;
    if (this.#closes || this.#server.isStopping) this.#linger();
    else if (this.#incoming.drop()) {
      this.#request = null;
      this.expectWithin(IDLE_MS);
      this.#incoming.next();
    }
  }

  #linger(): void {
    if (this.#state !== "open") return;
    this.#state = "lingering";
    this.#request = null;
    this.#incoming.stop();
    this.expectWithin(LINGER_MS);
    this.#socket.shutdown();
    this.#server.onLinger();
  }
}

const NOT_ENDED = new Error("the body of the response did not end");
