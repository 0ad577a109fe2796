// An HTTP/1.1 server on one address: it accepts connections, bounds them in number and time, and stops without breaking
// requests in flight. It is our own because the runtime's makes objects for each request and response that cost more than
// the rest of the way of a small request; nothing here knows what is answered.

import type { Socket, TCPSocketListener } from "bun";
import type { Clock } from "../../base/clock.ts";
import { TurnQueue } from "../../base/turn-queue.ts";
import { type ConnectionServer, ServerConnection } from "./server-connection.ts";
import type { ServerRequest } from "./server-request.ts";
import type { ServerResponse } from "./server-response.ts";
import type { StreamedResponse } from "./streamed-response.ts";

/** Answers a request. */
export type Handler = (request: ServerRequest) => ServerResponse | Promise<ServerResponse>;

/** What a server answers, and how. */
export interface ServerParts {
  readonly clock: Clock;
  readonly answer: Handler;
  /** Returns the response where `answer` threw. */
  readonly failed: (error: unknown) => ServerResponse;
  /** Returns the response to bytes that are no request. */
  readonly refused: (error: unknown) => ServerResponse;
  /** Returns what a handler gets that reads a body which is not well-formed, or does not come. */
  readonly bodyError: (error: unknown) => Error;
}

/** Where a server listens. */
export interface ServerAddress {
  readonly hostname: string;
  readonly port: number;
  /** Whether other processes may listen there too; the kernel then hands each a part of the connections. */
  readonly isShared: boolean;
}

/** Open connections of one server. A further one is closed at once. */
const CONNECTIONS_MAX = 50_000;
/** How often deadlines of connections are looked at. */
const SWEEP_MS = 2_000;

/** A server. It listens as soon as it is made. */
export class HttpServer implements ConnectionServer {
  readonly #parts: ServerParts;
  readonly #listener: TCPSocketListener<ServerConnection>;
  readonly #connections = new Set<ServerConnection>();
  readonly #flushes: TurnQueue<StreamedResponse>;
  #stopSweep: (() => void) | null = null;
  #isSettling = false;
  /** Resolves when no request is under way; null until the server stops. */
  #stopped: PromiseWithResolvers<void> | null = null;
  #dateSecond = -1;
  #date = "";

  /** Starts to listen. Throws the system's error when the address cannot be used. */
  constructor(parts: ServerParts, { hostname, port, isShared }: ServerAddress) {
    this.#parts = parts;
    this.#flushes = new TurnQueue(parts.clock, (stream) => stream.flush());
    const address = { hostname, port, reusePort: isShared };
    this.#listener = Bun.listen<ServerConnection>({
      ...address,
      allowHalfOpen: true,
      socket: this.#handlers(),
    });
  }

  get hostname(): string {
    return this.#listener.hostname;
  }

  get port(): number {
    return this.#listener.port;
  }

  /** Accepts no further connections, and resolves when every request is answered. */
  stop(): Promise<void> {
    if (this.#stopped === null) {
      this.#stopped = Promise.withResolvers<void>();
      this.#listener.stop(false);
      for (const connection of this.#connections) connection.leave();
      this.#settle();
    }
    return this.#stopped.promise;
  }

  /** Accepts no further connections, and closes all. */
  terminate(): void {
    void this.stop();
    this.#stopSweep?.();
    for (const connection of this.#connections) connection.terminate();
  }

  get isStopping(): boolean {
    return this.#stopped !== null;
  }

  answer(request: ServerRequest): ServerResponse | Promise<ServerResponse> {
    return this.#parts.answer(request);
  }

  failed(error: unknown): ServerResponse {
    return this.#parts.failed(error);
  }

  refused(error: unknown): ServerResponse {
    return this.#parts.refused(error);
  }

  bodyError(error: unknown): Error {
    return this.#parts.bodyError(error);
  }

  now(): number {
    return this.#parts.clock.mono();
  }

  date(): string {
    const ms = this.#parts.clock.wall();
    const second = Math.floor(ms / 1_000);
    if (second !== this.#dateSecond) {
      this.#dateSecond = second;
      this.#date = new Date(ms).toUTCString();
    }
    return this.#date;
  }

  flushLater(stream: StreamedResponse): void {
    this.#flushes.add(stream);
  }

  onLinger(): void {
    this.#settle();
  }

  onClose(connection: ServerConnection): void {
    this.#connections.delete(connection);
    this.#settle();
  }

  /** Looks once a turn, because many connections end at once when a server stops. */
  #settle(): void {
    if (this.#stopped === null || this.#isSettling) return;
    this.#isSettling = true;
    this.#parts.clock.endOfTurn(() => {
      this.#isSettling = false;
      for (const connection of this.#connections) if (connection.isBusy) return;
      this.#stopped?.resolve();
    });
  }

  #accept(socket: Socket<ServerConnection>): void {
    if (this.isStopping || this.#connections.size >= CONNECTIONS_MAX) {
      socket.terminate();
      return;
    }
    socket.setNoDelay(true);
    const connection = new ServerConnection(this, socket);
    socket.data = connection;
    this.#connections.add(connection);
    this.#stopSweep ??= this.#parts.clock.after(SWEEP_MS, () => this.#sweep());
  }

  #sweep(): void {
    this.#stopSweep = null;
    const now = this.now();
    for (const connection of this.#connections) if (connection.deadlineMs <= now) connection.onDeadline();
    if (this.#connections.size > 0) this.#stopSweep = this.#parts.clock.after(SWEEP_MS, () => this.#sweep());
  }

  #handlers() {
    const closed = (socket: Socket<ServerConnection>) => {
      // A connection above the bound was given none.
      (socket.data as ServerConnection | undefined)?.onSocketClose();
    };
    return {
      open: (socket: Socket<ServerConnection>) => this.#accept(socket),
      data: (socket: Socket<ServerConnection>, chunk: Buffer) => socket.data?.onData(chunk),
      drain: (socket: Socket<ServerConnection>) => socket.data?.onDrain(),
      close: closed,
      end: (socket: Socket<ServerConnection>) => {
        if (socket.data === undefined) socket.end();
        else socket.data.onClientEnd();
      },
      error: (socket: Socket<ServerConnection>, error: Error) => {
        // Errors of the system have a code; others are bugs in what is called here.
        if (!("code" in error)) this.failed(error);
        socket.terminate();
        closed(socket);
      },
    };
  }
}
