// Requests over our own connections, against a server that sends exactly what a test says: reuse, breaks at every
// point, back-pressure, codings, and that nothing is ever sent twice.

import { afterAll, describe, expect, test } from "bun:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import type { Socket } from "bun";
import { realClock } from "../../../src/base/clock.ts";
import { Http1Transport } from "../../../src/upstream/http1/http1-transport.ts";
import type { TransportRequest } from "../../../src/upstream/transport.ts";
import type { UpstreamResponse } from "../../../src/upstream/upstream-response.ts";
import { type RawAnswer, rawServer } from "./raw-server.ts";

const transport = new Http1Transport(realClock());
afterAll(() => transport.close());

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";

const request = (port: number, over: Partial<TransportRequest> = {}): TransportRequest => ({
  method: "POST",
  address: "127.0.0.1",
  port,
  serverName: null,
  host: "provider.example",
  target: "/v1/chat/completions",
  headers: { authorization: "Bearer secret" },
  body: "{}",
  signal: new AbortController().signal,
  ...over,
});

async function textOf(response: UpstreamResponse): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (let piece = await response.body.read(); piece !== null; piece = await response.body.read()) {
    pieces.push(piece.bytes());
  }
  return Buffer.concat(pieces).toString();
}

const call = async (port: number, over: Partial<TransportRequest> = {}): Promise<string> =>
  textOf(await transport.open(request(port, over)));

const failure = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "no failure",
    (error: Error & { code?: unknown }) => error.code || error.name,
  );

describe("connections", () => {
  test("carry one request after another, the head and the body as they were given", async () => {
    await using server = rawServer((to) => to.piece(OK));
    expect([await call(server.port), await call(server.port, { body: "é" })]).toEqual(["hello", "hello"]);
    expect(server.accepted).toBe(1);
    expect(server.received[0]!.split("\r\n")).toEqual([
      "POST /v1/chat/completions HTTP/1.1",
      "host: provider.example",
      "authorization: Bearer secret",
      "accept-encoding: gzip, deflate, br, zstd",
      "accept: */*",
      "user-agent: arborgate",
      "content-length: 2",
      "connection: keep-alive",
      "",
      expect.stringContaining("{}POST "),
      ...Array.from({ length: 7 }, () => expect.any(String)),
      "",
      Buffer.from("é").toString("latin1"),
    ]);
  });

  test("run side by side, one request each", async () => {
    const waiting: RawAnswer[] = [];
    await using server = rawServer((to) => {
      waiting.push(to);
      if (waiting.length === 3) for (const one of waiting) one.piece(OK);
    });
    const answers = await Promise.all([call(server.port), call(server.port), call(server.port)]);
    expect([answers, server.accepted]).toEqual([["hello", "hello", "hello"], 3]);
  });

  test.each([
    ["connection: close", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello"],
    [
      "a peer that keeps connections for less than a second",
      OK.replace("\r\n\r\n", "\r\nkeep-alive: timeout=1\r\n\r\n"),
    ],
    ["bytes behind the answer", `${OK}HTTP/1.1 200 OK\r\n`],
  ])("are not used again after %s", async (_, bytes) => {
    await using server = rawServer((to) => to.piece(bytes));
    expect([await call(server.port), await call(server.port)]).toEqual(["hello", "hello"]);
    expect(server.accepted).toBe(2);
  });

  test("that the peer closed while idle are replaced", async () => {
    await using server = rawServer((to, { connection }) => {
      to.piece(OK);
      if (connection === 0) to.end();
    });
    await call(server.port);
    await Bun.sleep(50);
    expect(await call(server.port)).toBe("hello");
    expect(server.accepted).toBe(2);
  });

  test("break without a second try, although the connection had been used before", async () => {
    await using server = rawServer((to, { request }) => (request === 0 ? to.piece(OK) : to.reset()));
    await call(server.port);
    expect(await failure(call(server.port))).toBe("ECONNRESET");
    expect([server.accepted, server.received.join("").split("POST").length - 1]).toEqual([1, 2]);
  });

  test("a refused connection rejects with the system's code", async () => {
    const server = rawServer(() => undefined);
    const { port } = server;
    await server[Symbol.asyncDispose]();
    expect(await failure(call(port))).toBe("ECONNREFUSED");
  });
});

describe("events of one turn of the event loop", () => {
  /** A transport for whose clock the turn lasts as long as `isLasting` is true. */
  function transportOfTurns() {
    const turn = { isLasting: false };
    const endOfTurn = (fn: () => void) => void (turn.isLasting || setImmediate(fn));
    return { turn, transport: new Http1Transport({ ...realClock(), endOfTurn }) };
  }

  test("an answer whose peer closes in the same turn is read before the end", async () => {
    const { turn, transport } = transportOfTurns();
    await using server = rawServer((to) => {
      turn.isLasting = true;
      to.piece("HTTP/1.1 200 OK\r\n\r\nhello");
      to.end();
    });
    expect(await textOf(await transport.open(request(server.port)))).toBe("hello");
    transport.close();
  });

  test("bytes that belong to no request close the connection before it can take another one", async () => {
    const { turn, transport } = transportOfTurns();
    await using server = rawServer(async (to, { connection }) => {
      to.piece(OK);
      if (connection > 0) return;
      await Bun.sleep(20);
      turn.isLasting = true;
      to.piece(OK.replace("hello", "wrong"));
    });
    expect(await textOf(await transport.open(request(server.port)))).toBe("hello");
    await Bun.sleep(60);
    turn.isLasting = false;
    expect(await textOf(await transport.open(request(server.port)))).toBe("hello");
    expect(server.accepted).toBe(2);
    transport.close();
  });
});

test("bytes that arrive before a request is written are no answer to it", async () => {
  const due: (() => void)[] = [];
  let isHeld = false;
  const endOfTurn = (fn: () => void) => void (isHeld ? due.push(fn) : setImmediate(fn));
  const transport = new Http1Transport({ ...realClock(), endOfTurn });
  const answers: RawAnswer[] = [];
  await using server = rawServer((to) => {
    answers.push(to);
    to.piece(OK);
  });
  const ask = async () => textOf(await transport.open(request(server.port)));
  expect(await ask()).toBe("hello");
  isHeld = true;
  const unwritten = failure(ask());
  answers[0]!.piece(OK.replace("hello", "wrong"));
  await Bun.sleep(20);
  isHeld = false;
  for (const fn of due) fn();
  expect(await unwritten).toBe("HPE_INVALID_RESPONSE");
  expect(await ask()).toBe("hello");
  expect([server.accepted, answers.length]).toEqual([2, 2]);
  transport.close();
});

test("a connection in use when the transport closes is closed at the end of its response", async () => {
  const own = new Http1Transport(realClock());
  let finish!: () => void;
  await using server = rawServer((to) => {
    to.piece(OK.slice(0, -1));
    finish = () => to.piece(OK.slice(-1));
  });
  const response = await own.open(request(server.port));
  own.close();
  expect(own.connections).toBe(1);
  finish();
  expect(await textOf(response)).toBe("hello");
  expect(own.connections).toBe(0);
});

describe("answers that break off", () => {
  test.each([
    ["before the head", ""],
    ["within the head", "HTTP/1.1 200 OK\r\nconte"],
    ["within the body", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello"],
    ["within a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10\r\nhello"],
    ["before the last chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"],
  ])("%s: closed in order and reset", async (_, bytes) => {
    for (const how of ["end", "reset"] as const) {
      await using server = rawServer(async (to) => {
        if (bytes !== "") to.piece(bytes);
        await Bun.sleep(20);
        to[how]();
      });
      expect(await failure(call(server.port))).toBe("ECONNRESET");
    }
  });

  test("after a piece that was not read yet: the piece comes first", async () => {
    await using server = rawServer((to) => {
      to.piece("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello");
      to.end();
    });
    const response = await transport.open(request(server.port));
    await Bun.sleep(50);
    expect((await response.body.read())?.text()).toBe("hello");
    expect(await failure((async () => response.body.read())())).toBe("ECONNRESET");
  });

  test("a body without a length ends in order with its connection, and breaks with a reset", async () => {
    await using server = rawServer(async (to, { connection }) => {
      to.piece("HTTP/1.1 200 OK\r\n\r\nhello");
      await Bun.sleep(20);
      if (connection === 0) to.end();
      else to.reset();
    });
    expect(await call(server.port)).toBe("hello");
  });
});

describe("the caller", () => {
  test("aborts before the head, and the connection is closed", async () => {
    await using server = rawServer(() => undefined);
    const abort = new AbortController();
    const before = transport.connections;
    const work = failure(call(server.port, { signal: abort.signal }));
    await Bun.sleep(20);
    expect(transport.connections).toBe(before + 1);
    abort.abort(new DOMException("late", "TimeoutError"));
    expect(await work).toBe(DOMException.TIMEOUT_ERR);
    await Bun.sleep(20);
    expect(transport.connections).toBe(before);
  });

  test("aborts while the body comes", async () => {
    await using server = rawServer((to) => to.piece("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello"));
    const abort = new AbortController();
    const response = await transport.open(request(server.port, { signal: abort.signal }));
    expect(await response.body.read()).toHaveLength(5);
    const next = failure(Promise.resolve(response.body.read()));
    abort.abort(new Error("gone"));
    expect(await next).toBe("Error");
  });

  test("aborted before it began: nothing is sent", async () => {
    await using server = rawServer((to) => to.piece(OK));
    expect(await failure(call(server.port, { signal: AbortSignal.abort(new Error("gone")) }))).toBe("Error");
    expect(server.accepted).toBe(0);
  });

  test("aborts in the turn in which it began: nothing is sent, and the connection is closed", async () => {
    await using server = rawServer((to) => to.piece(OK));
    await call(server.port);
    const before = transport.connections;
    const abort = new AbortController();
    const work = failure(call(server.port, { signal: abort.signal }));
    abort.abort(new Error("gone"));
    expect(await work).toBe("Error");
    expect(transport.connections).toBe(before - 1);
    // A later request arrives, the aborted one never did.
    await call(server.port, { body: "later" });
    expect(server.received.map((all) => all.split("POST ").length - 1)).toEqual([1, 1]);
  });

  test("needs no more of a body: its connection is not used again", async () => {
    await using server = rawServer((to, { connection }) =>
      to.piece(connection === 0 ? "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello" : OK),
    );
    const response = await transport.open(request(server.port));
    response.body.cancel();
    expect(await call(server.port)).toBe("hello");
    expect(server.accepted).toBe(2);
  });

  test.each([
    ["the end comes soon: the connection is used again", ["0\r\n\r\n"], 1],
    ["more of the body comes: it is dropped", ["5\r\nextra\r\n", "0\r\n\r\n"], 1],
    ["too much of it comes: the connection is closed", [`2000\r\n${"x".repeat(8_192)}\r\n0\r\n\r\n`], 2],
    ["the end does not come: the connection is closed", [], 2],
  ])("has all that counts, and %s", async (_, later, accepted) => {
    const soon = { ...realClock(), after: (_ms: number, fn: () => void) => realClock().after(60, fn) };
    const transport = new Http1Transport(soon);
    await using server = rawServer(async (to) => {
      to.piece("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n");
      for (const piece of later) {
        await Bun.sleep(10);
        to.piece(piece);
      }
    });
    for (let nth = 0; nth < 2; nth++) {
      const { body } = await transport.open(request(server.port));
      expect((await body.read())?.text()).toBe("hello");
      body.finish();
      await Bun.sleep(120);
    }
    expect(server.accepted).toBe(accepted);
    transport.close();
  });

  test("that does not read holds a bounded part of the answer", async () => {
    const bytes = 64 << 20;
    const piece = Buffer.alloc(1 << 20, "x");
    let taken = 0;
    const pump = (socket: Socket<undefined>): void => {
      while (taken < bytes) {
        const n = socket.write(piece.subarray(0, Math.min(piece.length, bytes - taken)));
        taken += Math.max(0, n);
        if (n < piece.length) return;
      }
    };
    const listener = Bun.listen<undefined>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket) {
          socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${bytes}\r\n\r\n`);
          pump(socket);
        },
        drain: pump,
      },
    });
    const response = await transport.open(request(listener.port));
    await Bun.sleep(300);
    const before = taken;
    await Bun.sleep(200);
    expect([taken - before, taken < bytes / 2]).toEqual([0, true]);
    expect((await textOf(response)).length).toBe(bytes);
    listener.stop(true);
  });
});

describe("requests", () => {
  test("a large body is written at the pace of the peer, byte for byte", async () => {
    await using server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch(received) {
        await Bun.sleep(50);
        return new Response(new Bun.CryptoHasher("sha256").update(await received.bytes()).digest("hex"));
      },
    });
    const body = new Uint8Array(20_000_001).map((_, i) => (i * 7 + (i >> 8)) & 255);
    const hash = new Bun.CryptoHasher("sha256").update(body).digest("hex");
    expect(await call(server.port!, { body })).toBe(hash);
  });

  test("a form is sent with its boundary and its length", async () => {
    await using server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: async (received) => Response.json([...(await received.formData()).entries()]),
    });
    const form = new FormData();
    form.set("model", "whisper");
    expect(await call(server.port!, { body: form })).toBe('[["model","whisper"]]');
  });

  test("an answer that comes before the request was taken counts, and its connection is closed", async () => {
    await using server = rawServer((to) =>
      to.piece("HTTP/1.1 413 Too Large\r\ncontent-length: 5\r\n\r\nlarge"),
    );
    const response = await transport.open(request(server.port, { body: new Uint8Array(50_000_000) }));
    expect([response.status, await textOf(response)]).toEqual([413, "large"]);
  });

  test.each([
    [{ headers: { "x-a": "1\r\nx-b: 2" } }],
    [{ headers: { "x-a": "\u4e2d" } }],
    [{ headers: { "x a": "1" } }],
    [{ target: "/a b" }],
    [{ target: "/a\r\nx: y" }],
    [{ host: "a\r\nx: y" }],
  ] as const)("%j cannot stand in a request", async (over) => {
    await using server = rawServer((to) => to.piece(OK));
    expect(await failure(call(server.port, over as Partial<TransportRequest>))).toBe("TypeError");
    expect(server.accepted).toBe(0);
  });
});

describe("content codings", () => {
  const text = "hello ".repeat(100_000);
  test.each([
    ["gzip", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["br", brotliCompressSync(text)],
    ["zstd", zstdCompressSync(text)],
    ["identity", Buffer.from(text)],
  ])("%s is undone", async (coding, bytes) => {
    await using server = rawServer((to) => {
      to.piece(`HTTP/1.1 200 OK\r\ncontent-encoding: ${coding}\r\nconnection: close\r\n\r\n`);
      to.piece(bytes);
      to.end();
    });
    expect((await call(server.port)) === text).toBe(true);
  });

  test("a coded body that breaks off, or is none, rejects", async () => {
    const coded = gzipSync(text);
    for (const bytes of [coded.subarray(0, coded.length - 20), Buffer.from("no gzip")]) {
      await using server = rawServer((to) => {
        to.piece(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bytes.length}\r\n\r\n`);
        to.piece(bytes);
      });
      expect(await failure(call(server.port))).toMatch(/^Z_/);
    }
  });

  test("a coding that was not asked for rejects, and its connection is closed", async () => {
    const own = new Http1Transport(realClock());
    await using server = rawServer((to) =>
      to.piece("HTTP/1.1 200 OK\r\ncontent-length: 10\r\ncontent-encoding: xyz\r\n\r\nhello"),
    );
    expect(await failure(own.open(request(server.port)))).toBe("HPE_INVALID_RESPONSE");
    expect(own.connections).toBe(0);
  });
});
