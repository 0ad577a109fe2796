// HTTP/1.1 answers on a raw loopback socket. Raw, because a stand-in must do what an HTTP server refuses to do:
// say nothing, stop in the middle, close without the last chunk, reset the connection, and choose what one TCP write holds.
// It knows nothing of models, scripts or dialects.

import type { Socket } from "bun";
import { type Clock, sleep } from "../../src/base/clock.ts";
import { type Incoming, type RequestReader, requestReader } from "./request-reader.ts";

export type Headers = Readonly<Record<string, string>>;

/** How a connection ends before its answer does: a TCP reset, or a FIN where more was promised. */
export type Cut = "rst" | "fin";

/** One request and the answer to it. Nothing is written before `flush`, `end`, `cut` or a wait. */
export interface Exchange {
  readonly request: Incoming;
  /** True once the client has closed before the answer's end. */
  readonly gone: boolean;
  /** The head. With `lengthBytes` the body is sent as it is, without it in HTTP chunks. */
  open(status: number, headers: Headers, lengthBytes?: number): void;
  /** A piece of the body. Pieces of text sent between two flushes share a write and an HTTP chunk; bytes have their own. */
  send(piece: string | Uint8Array): void;
  flush(): void;
  /** The proper end of the body; the connection stays open for the next request. */
  end(): void;
  cut(how: Cut): Promise<void>;
  /** Flushes and waits; false when the client left meanwhile. */
  wait(ms: number): Promise<boolean>;
  untilGone(): Promise<void>;
  /** Ready bytes, head and all, in one write. */
  raw(bytes: Uint8Array): void;
}

export interface Wire {
  readonly port: number;
  close(): void;
}

export function openWire(options: {
  readonly port: number;
  readonly clock: Clock;
  readonly answer: (exchange: Exchange) => void;
}): Wire {
  const listener = Bun.listen<Connection>({
    hostname: "127.0.0.1",
    port: options.port,
    socket: {
      open(socket) {
        socket.setNoDelay(true);
        socket.data = connection(socket, options.clock, options.answer);
      },
      data: (socket, bytes) => socket.data.received(bytes),
      drain: (socket) => socket.data.drained(),
      close: (socket) => socket.data.closed(),
      // A client that resets is a client that left: `close` follows.
      error: () => {},
    },
  });
  return { port: listener.port, close: () => listener.stop(true) };
}

interface Connection {
  received(bytes: Buffer): void;
  drained(): void;
  closed(): void;
}

function connection(
  socket: Socket<Connection>,
  clock: Clock,
  answer: (exchange: Exchange) => void,
): Connection {
  const reader: RequestReader = requestReader();
  let unsent: Uint8Array | null = null;
  let current: Answering | null = null;
  let closed = false;
  let closing = false;

  const write = (bytes: Uint8Array) => {
    if (closed) return;
    if (unsent !== null) {
      unsent = Buffer.concat([unsent, bytes]);
      return;
    }
    const written = Math.max(0, socket.write(bytes));
    if (written < bytes.length) unsent = bytes.subarray(written);
  };

  const advance = () => {
    while (current === null && !closed) {
      const request = reader.next();
      if (request === null) {
        if (reader.wantsContinue()) write(Buffer.from("HTTP/1.1 100 Continue\r\n\r\n"));
        return;
      }
      closing = request.headers.connection?.toLowerCase() === "close";
      current = exchangeOn({ request, clock, write, finish, hangUp });
      answer(current);
    }
  };
  const finish = () => {
    current = null;
    if (!closing) advance();
    else if (unsent === null) hangUp("fin");
  };
  const hangUp = (how: Cut) => {
    closed = true;
    current = null;
    if (how === "rst") socket.terminate();
    else socket.end();
  };

  return {
    received(bytes) {
      reader.feed(bytes);
      advance();
    },
    drained() {
      const rest = unsent;
      unsent = null;
      if (rest !== null) write(rest);
      if (closing && current === null && unsent === null) hangUp("fin");
    },
    closed() {
      closed = true;
      current?.left();
      current = null;
    },
  };
}

interface Answering extends Exchange {
  left(): void;
}

/** A reset discards what has not been read yet; the pieces before the cut are to arrive, also at a busy reader. */
const CUT_AFTER_MS = 100;

function exchangeOn(on: {
  readonly request: Incoming;
  readonly clock: Clock;
  readonly write: (bytes: Uint8Array) => void;
  readonly finish: () => void;
  readonly hangUp: (how: Cut) => void;
}): Answering {
  let head = "";
  let body = "";
  let chunked = false;
  let gone = false;
  let over = false;
  const leavers = new Set<() => void>();

  const write = (foot: string) => {
    if (!gone && (head !== "" || body !== "" || foot !== "")) {
      on.write(framed(head, Buffer.from(body), chunked, foot));
    }
    head = "";
    body = "";
  };

  const exchange: Answering = {
    request: on.request,
    get gone() {
      return gone;
    },
    open(status, headers, lengthBytes) {
      chunked = lengthBytes === undefined;
      head = `HTTP/1.1 ${status} ${status < 400 ? "OK" : "Refused"}\r\n`;
      for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
      head += chunked ? "transfer-encoding: chunked\r\n\r\n" : `content-length: ${lengthBytes}\r\n\r\n`;
    },
    send(piece) {
      if (gone || piece.length === 0) return;
      if (typeof piece === "string") body += piece;
      else {
        exchange.flush();
        on.write(framed("", piece, chunked, ""));
      }
    },
    flush() {
      write("");
    },
    end() {
      if (gone || over) return;
      over = true;
      write(chunked ? "0\r\n\r\n" : "");
      on.finish();
    },
    async cut(how) {
      exchange.flush();
      if (!gone) await sleep(on.clock, CUT_AFTER_MS);
      if (gone || over) return;
      over = true;
      on.hangUp(how);
    },
    wait(ms) {
      exchange.flush();
      if (gone) return Promise.resolve(false);
      return new Promise((resolve) => {
        const stay = on.clock.after(ms, () => {
          leavers.delete(leave);
          resolve(true);
        });
        const leave = () => {
          stay();
          resolve(false);
        };
        leavers.add(leave);
      });
    },
    untilGone() {
      exchange.flush();
      if (gone) return Promise.resolve();
      return new Promise((resolve) => {
        leavers.add(resolve);
      });
    },
    raw(bytes) {
      over = true;
      on.write(bytes);
      on.finish();
    },
    left() {
      gone = true;
      for (const leave of leavers) leave();
      leavers.clear();
    },
  };
  return exchange;
}

function framed(head: string, body: Uint8Array, chunked: boolean, foot: string): Uint8Array {
  const inChunk = chunked && body.length > 0;
  const before = inChunk ? `${head}${body.length.toString(16)}\r\n` : head;
  const after = inChunk ? `\r\n${foot}` : foot;
  return Buffer.concat([Buffer.from(before), body, Buffer.from(after)]);
}
