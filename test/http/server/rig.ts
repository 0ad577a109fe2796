// A server on this machine whose time and handler a test holds, and clients that send bytes as they are written.

import { connect, type Socket } from "node:net";
import { realClock } from "../../../src/base/clock.ts";
import { type Handler, HttpServer } from "../../../src/http/server/http-server.ts";
import type { ServerRequest } from "../../../src/http/server/server-request.ts";
import type { ServerResponse } from "../../../src/http/server/server-response.ts";
import { ProtocolError } from "../../../src/http1/header-fields.ts";
import { ResponseParser } from "../../../src/upstream/http1/response-parser.ts";

export const text = (body: string, headers: Record<string, string> = {}): ServerResponse => ({
  status: 200,
  headers: { "content-type": "text/plain", ...headers },
  body,
});

export interface ServerRig extends AsyncDisposable {
  readonly server: HttpServer;
  /** Requests that reached the handler, as method and target. */
  readonly seen: string[];
  /** What the server reported as a bug. */
  readonly bugs: unknown[];
  /** Lets time pass, and the server look at its deadlines. */
  pass(ms: number): void;
}

/** Starts a server. Its clock stands still but for `pass`. */
export function serverRig(answer: Handler): ServerRig {
  const seen: string[] = [];
  const bugs: unknown[] = [];
  let nowMs = 1_000;
  let sweeps: (() => void)[] = [];
  const clock = {
    ...realClock(),
    wall: () => Date.UTC(2026, 10, 28, 12, 0, 0),
    mono: () => nowMs,
    after(_: number, fn: () => void) {
      sweeps.push(fn);
      return () => {
        sweeps = sweeps.filter((one) => one !== fn);
      };
    },
  };
  const refusal = (error: unknown): ServerResponse => {
    if (!(error instanceof ProtocolError)) bugs.push(error);
    return { ...text(`refused: ${(error as Error).message}`), status: 400 };
  };
  const server = new HttpServer(
    {
      clock,
      answer(request) {
        seen.push(`${request.method} ${request.head.target}`);
        return answer(request);
      },
      failed(error) {
        bugs.push(error);
        return { ...text("failed"), status: 500 };
      },
      refused: refusal,
      bodyError: (error) => error as Error,
    },
    { hostname: "127.0.0.1", port: 0, isShared: false },
  );
  return {
    server,
    seen,
    bugs,
    pass(ms) {
      nowMs += ms;
      const due = sweeps;
      sweeps = [];
      for (const sweep of due) sweep();
    },
    async [Symbol.asyncDispose]() {
      server.terminate();
    },
  };
}

/** Answers with what the request's body has, once all of it has come. */
export const echo = async (request: ServerRequest): Promise<ServerResponse> =>
  text(`${request.method} ${request.head.target} ${await request.text()}`);

export interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

const WAIT_MS_MAX = 20_000;

/** A client's connection. All it waits for ends after 20 s at most. */
export class RawClient {
  readonly socket: Socket;
  readonly answers: Answer[] = [];
  /** All that came. */
  received = Buffer.alloc(0);
  isClosed = false;
  #wake: (() => void)[] = [];
  readonly #parser: ResponseParser;
  #body: Buffer[] = [];
  #head: Omit<Answer, "body"> | null = null;
  #isEnded = false;

  /** `reads`: the answers are parsed, which those to HEAD cannot be. */
  constructor({ port }: Pick<HttpServer, "port">, reads = true) {
    this.#parser = new ResponseParser({
      onHead: ({ status, headers }) => {
        this.#head = { status, headers: new Map(headers.entries()) };
      },
      onBody: (piece) => void this.#body.push(Buffer.from(piece.bytes())),
      onEnd: () => {
        this.answers.push({ ...this.#head!, body: Buffer.concat(this.#body).toString() });
        this.#body = [];
        this.#head = null;
        this.#isEnded = true;
      },
    });
    this.#parser.begin();
    this.socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.socket.on("error", () => this.#changed());
    this.socket.on("data", (bytes: Buffer) => {
      this.received = Buffer.concat([this.received, bytes]);
      if (reads) this.#take(Buffer.from(bytes));
      this.#changed();
    });
    this.socket.on("end", () => this.socket.end());
    this.socket.on("close", () => {
      this.isClosed = true;
      this.#changed();
    });
  }

  /** Sends bytes. */
  send(bytes: string | Uint8Array): this {
    this.socket.write(bytes);
    return this;
  }

  /** Resolves to the answers when there are so many. Rejects when the connection closes before that. */
  async answered(count: number): Promise<readonly Answer[]> {
    await this.until(() => this.answers.length >= count || this.isClosed);
    if (this.answers.length < count) throw new Error(`closed after ${this.answers.length} answers`);
    return this.answers;
  }

  async closed(): Promise<void> {
    await this.until(() => this.isClosed);
  }

  /** Resolves when something holds, which is looked at with each event of the connection. */
  async until(holds: () => boolean): Promise<void> {
    const timer = setTimeout(() => this.socket.destroy(), WAIT_MS_MAX);
    try {
      while (!holds()) await new Promise<void>((resolve) => void this.#wake.push(resolve));
    } finally {
      clearTimeout(timer);
    }
  }

  #take(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      at = this.#parser.take(bytes, at);
      if (this.#isEnded) this.#parser.begin();
      this.#isEnded = false;
    }
  }

  #changed(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const one of wake) one();
  }
}
