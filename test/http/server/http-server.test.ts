// The server on real sockets: what clients of any manners get, in which order, and when their connections end.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ServerRequest } from "../../../src/http/server/server-request.ts";
import type { ServerResponse } from "../../../src/http/server/server-response.ts";
import { until } from "../../e2e/harness.ts";
import { echo, RawClient, serverRig, text } from "./rig.ts";

const get = (target: string, ...fields: string[]): string =>
  `${[`GET ${target} HTTP/1.1`, "host: x", ...fields].join("\r\n")}\r\n\r\n`;

const post = (target: string, body: string, ...fields: string[]): string =>
  `${[`POST ${target} HTTP/1.1`, "host: x", `content-length: ${Buffer.byteLength(body)}`, ...fields].join("\r\n")}\r\n\r\n${body}`;

describe("one connection", () => {
  test("answers requests in their order, however many are sent ahead and however they are split", async () => {
    await using rig = serverRig(async (request) => {
      const body = await request.text();
      // The first of several takes longest.
      await Bun.sleep(body.length);
      return text(`${request.head.target} ${body}`);
    });
    const all = [post("/1", "aaaa"), get("/2"), post("/3", "é"), post("/4", "b")].join("");
    const bytes = Buffer.from(all);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 6 }),
        async (cuts) => {
          const client = new RawClient(rig.server);
          const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
          for (const [i, end] of at.slice(1).entries()) {
            client.send(bytes.subarray(at[i], end));
            await new Promise(setImmediate);
          }
          const answers = await client.answered(4);
          expect(answers.map(({ body }) => body)).toEqual(["/1 aaaa", "/2 ", "/3 é", "/4 b"]);
          client.socket.destroy();
        },
      ),
      { numRuns: 25 },
    );
    expect(rig.bugs).toEqual([]);
  });

  test("runs one request at a time", async () => {
    let running = 0;
    let most = 0;
    await using rig = serverRig(async () => {
      most = Math.max(most, ++running);
      await Bun.sleep(1);
      running--;
      return text("");
    });
    const client = new RawClient(rig.server).send(get("/").repeat(50));
    await client.answered(50);
    expect(most).toBe(1);
  });

  test("takes thousands of requests that are answered at once, one behind another", async () => {
    await using rig = serverRig(({ head }) => text(head.target));
    const client = new RawClient(rig.server);
    for (let nth = 0; nth < 5_000; nth++) client.send(get(`/${nth}`));
    const answers = await client.answered(5_000);
    expect(answers.map(({ body }) => body)).toEqual(Array.from({ length: 5_000 }, (_, nth) => `/${nth}`));
  });

  test("states length, date and nothing of its program", async () => {
    await using rig = serverRig(() => text("é"));
    const [answer] = await new RawClient(rig.server).send(get("/")).answered(1);
    expect(Object.fromEntries(answer!.headers)).toEqual({
      "content-type": "text/plain",
      "content-length": "2",
      date: "Sat, 28 Nov 2026 12:00:00 GMT",
    });
  });

  test.each([
    ["connection: close", get("/", "connection: close")],
    ["HTTP/1.0", "GET / HTTP/1.0\r\n\r\n"],
  ])("ends behind the answer for %s", async (_, bytes) => {
    await using rig = serverRig(echo);
    const client = new RawClient(rig.server).send(bytes + get("/never"));
    await client.closed();
    expect(client.answers.map(({ body, headers }) => [body, headers.get("connection")])).toEqual([
      ["GET / ", "close"],
    ]);
    expect(rig.seen).toEqual(["GET /"]);
  });

  test("a response can end it", async () => {
    await using rig = serverRig(() => text("bye", { connection: "close" }));
    const client = new RawClient(rig.server).send(get("/1") + get("/2"));
    await client.closed();
    expect([client.answers.length, rig.seen]).toEqual([1, ["GET /1"]]);
  });

  test("no value of a header can begin another field or answer", async () => {
    const evil = "a\r\nset-cookie: b\r\n\r\nHTTP/1.1 200 OK\r\n\0é";
    await using rig = serverRig(() => text("", { "x-evil": evil }));
    const client = new RawClient(rig.server).send(get("/"));
    const [answer] = await client.answered(1);
    expect(answer!.headers.get("x-evil")).toBe(evil.replaceAll(/[^\x20-\x7e]/g, "?"));
    expect(answer!.headers.has("set-cookie")).toBe(false);
  });

  test("the answer to HEAD states the length and has no body, and the next answer is read right", async () => {
    await using rig = serverRig(({ method }) => text(method));
    const client = new RawClient(rig.server, false);
    client.send(`HEAD / HTTP/1.1\r\nhost: x\r\n\r\n${get("/", "connection: close")}`);
    await client.closed();
    const received = client.received.toString();
    expect(received.split("HTTP/1.1 200 OK").length).toBe(3);
    expect(received).toContain("content-length: 4\r\ndate: Sat, 28 Nov 2026 12:00:00 GMT\r\n\r\nHTTP/1.1");
    expect(received.endsWith("\r\n\r\nGET")).toBe(true);
  });

  test.each([204, 304])("%d has neither body nor length", async (status) => {
    await using rig = serverRig(() => ({ status, headers: {}, body: null }));
    const client = new RawClient(rig.server).send(get("/"));
    const [answer] = await client.answered(1);
    expect([answer!.status, answer!.body, answer!.headers.has("content-length")]).toEqual([
      status,
      "",
      false,
    ]);
  });

  test("an empty answer states length 0", async () => {
    await using rig = serverRig(() => ({ status: 200, headers: {}, body: null }));
    const [answer] = await new RawClient(rig.server).send(get("/")).answered(1);
    expect(answer!.headers.get("content-length")).toBe("0");
  });

  test("an exception is reported and answered with 500", async () => {
    await using rig = serverRig(() => {
      throw new Error("a bug");
    });
    const client = new RawClient(rig.server).send(get("/1") + get("/2"));
    const answers = await client.answered(2);
    expect(answers.map(({ status }) => status)).toEqual([500, 500]);
    expect(rig.bugs.map(String)).toEqual(["Error: a bug", "Error: a bug"]);
  });

  test("the address is that of the socket", async () => {
    await using rig = serverRig(({ clientAddress }) => text(clientAddress));
    const [answer] = await new RawClient(rig.server).send(get("/")).answered(1);
    expect(answer!.body).toBe("127.0.0.1");
  });
});

describe("bytes that are no request", () => {
  test("are answered with 400 and reach no handler, behind the answers to what was one", async () => {
    await using rig = serverRig(echo);
    const client = new RawClient(rig.server).send(`${get("/1")}NO REQUEST\r\n\r\n${get("/2")}`);
    await client.closed();
    expect(client.answers.map(({ status }) => status)).toEqual([200, 400]);
    expect(client.answers[1]!.headers.get("connection")).toBe("close");
    expect(rig.seen).toEqual(["GET /1"]);
    expect(rig.bugs).toEqual([]);
  });

  test("in a body that is being read fail it, once and for all", async () => {
    let failure: unknown = null;
    await using rig = serverRig(async (request) => {
      failure = await request.text().catch((error: unknown) => error);
      return { ...text("unread"), status: 422 };
    });
    const client = new RawClient(rig.server);
    client.send("POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n");
    await until("requests have reached the handler", () => rig.seen.length === 1);
    client.send(`zz\r\n${get("/smuggled")}`);
    await client.closed();
    expect(client.answers.map(({ status }) => status)).toEqual([422]);
    expect(String(failure)).toContain("does not begin with its size");
    expect(rig.seen).toEqual(["POST /"]);
  });
});

describe("a body", () => {
  test("comes whole, in one piece, in many, and in chunks", async () => {
    await using rig = serverRig(async (request) => {
      return text(Bun.hash(await request.bytes()).toString());
    });
    const body = Buffer.from(Array.from({ length: 300_000 }, (_, nth) => `é${nth}`).join(""));
    const hash = Bun.hash(body).toString();
    const client = new RawClient(rig.server);
    client.send(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`).send(body);
    client.send("POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
    for (let at = 0; at < body.length; at += 60_000) {
      const piece = body.subarray(at, at + 60_000);
      client
        .send(`${piece.length.toString(16)}\r\n`)
        .send(piece)
        .send("\r\n");
    }
    client.send("0\r\n\r\n").send(post("/", "small"));
    const answers = await client.answered(3);
    expect(answers.map((answer) => answer.body)).toEqual([hash, hash, Bun.hash("small").toString()]);
  });

  test("begins behind a byte order mark, whatever its pieces", async () => {
    await using rig = serverRig(async (request) => text(await request.text()));
    const client = new RawClient(rig.server).send(post("/", "\ufeffab"));
    await client.answered(1);
    const head = "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
    client.send(`${head}3\r\n\ufeff\r\n`);
    await until("requests have reached the handler", () => rig.seen.length === 2);
    client.send("2\r\nab\r\n0\r\n\r\n");
    expect((await client.answered(2)).map(({ body }) => body)).toEqual(["ab", "ab"]);
  });

  test("is asked for with a word where the client waits for one, and only when it is read", async () => {
    const reads = Promise.withResolvers<void>();
    await using rig = serverRig(async (request) => {
      await reads.promise;
      return text(await request.text());
    });
    const client = new RawClient(rig.server);
    client.send("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\nExpect: 100-continue\r\n\r\n");
    await until("requests have reached the handler", () => rig.seen.length === 1);
    // Waiting for us is no delay of the client.
    rig.pass(100_000);
    expect(client.received.length).toBe(0);
    reads.resolve();
    await client.until(() => client.received.includes("100 Continue"));
    client.send("hello");
    expect((await client.answered(1))[0]!.body).toBe("hello");
  });

  test("that is refused before it was sent is not asked for", async () => {
    await using rig = serverRig(() => ({ ...text("no"), status: 401 }));
    const client = new RawClient(rig.server);
    client.send("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 50000000\r\nexpect: 100-continue\r\n\r\n");
    await client.closed();
    expect(client.received.toString()).not.toContain("100 Continue");
    expect(client.answers.map(({ status }) => status)).toEqual([401]);
  });

  test("that is refused while its client waits for a word is never taken from the next request", async () => {
    await using rig = serverRig(() => ({ ...text("no"), status: 401 }));
    const client = new RawClient(rig.server);
    client.send("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\nexpect: 100-continue\r\n\r\n");
    await client.answered(1);
    client.send(get("/2"));
    await client.closed();
    expect(client.answers.map(({ status, headers }) => [status, headers.get("connection")])).toEqual([
      [401, "close"],
    ]);
  });

  test("of HTTP/1.0 is not asked for", async () => {
    await using rig = serverRig(echo);
    const client = new RawClient(rig.server, false);
    client.send("POST / HTTP/1.0\r\ncontent-length: 5\r\nexpect: 100-continue\r\n\r\n");
    await until("requests have reached the handler", () => rig.seen.length === 1);
    client.send("hello");
    await client.closed();
    expect(client.received.toString()).toStartWith("HTTP/1.1 200 OK");
  });

  test("of which little is left is dropped behind the answer, and the connection goes on", async () => {
    await using rig = serverRig((request) => (request.method === "GET" ? echo(request) : text("no")));
    const client = new RawClient(rig.server).send(
      "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhe",
    );
    await client.answered(1);
    client.send(`llo${get("/2")}`);
    const answers = await client.answered(2);
    expect(answers.map(({ body }) => body)).toEqual(["no", "GET /2 "]);
  });

  test("of which much is left ends the connection, and the client can read why", async () => {
    await using rig = serverRig(() => ({ ...text("too large"), status: 400 }));
    const client = new RawClient(rig.server);
    client.send("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 50000000\r\n\r\n");
    for (let sent = 0; sent < 8_000_000 && !client.isClosed; sent += 100_000) {
      client.send(Buffer.alloc(100_000));
      await new Promise(setImmediate);
    }
    await client.closed();
    expect(client.answers.map(({ status, headers }) => [status, headers.get("connection")])).toEqual([
      [400, "close"],
    ]);
  });

  test("that nobody reads is not taken without bound", async () => {
    const reads = Promise.withResolvers<void>();
    await using rig = serverRig(async (request) => {
      await reads.promise;
      return text(String((await request.bytes()).length));
    });
    const size = 48_000_000;
    const client = new RawClient(rig.server);
    client.send(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${size}\r\n\r\n`).send(Buffer.alloc(size));
    await until("requests have reached the handler", () => rig.seen.length === 1);
    await Bun.sleep(100);
    const waiting = client.socket.writableLength;
    // What the kernel holds between the two is a few megabytes.
    expect(waiting).toBeGreaterThan(size / 2);
    reads.resolve();
    expect((await client.answered(1))[0]!.body).toBe(String(size));
  });

  test("sent ahead for later requests is not taken without bound either", async () => {
    const answers = Promise.withResolvers<void>();
    await using rig = serverRig(async (request) => {
      await answers.promise;
      return text(String((await request.bytes()).length));
    });
    const size = 48_000_000;
    const client = new RawClient(rig.server).send(get("/1"));
    client.send(`POST /2 HTTP/1.1\r\nhost: x\r\ncontent-length: ${size}\r\n\r\n`).send(Buffer.alloc(size));
    await until("requests have reached the handler", () => rig.seen.length === 1);
    await Bun.sleep(100);
    expect(client.socket.writableLength).toBeGreaterThan(size / 2);
    answers.resolve();
    expect((await client.answered(2)).map(({ body }) => body)).toEqual(["0", String(size)]);
  });
});

describe("a client that disconnects", () => {
  test("ends its request and the body of it", async () => {
    const ended: unknown[] = [];
    await using rig = serverRig(async (request) => {
      request.signal.addEventListener("abort", () => void ended.push(request.signal.reason));
      await request.text().catch((error: unknown) => void ended.push(error));
      return text("");
    });
    const client = new RawClient(rig.server).send(
      "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nab",
    );
    await until("requests have reached the handler", () => rig.seen.length === 1);
    client.socket.destroy();
    await until("request and body have ended", () => ended.length === 2);
    for (const one of ended) expect((one as Error).name).toBe("AbortError");
    expect(rig.bugs).toEqual([]);
  });

  test("when it has its answer ends nothing", async () => {
    let request: ServerRequest | null = null;
    await using rig = serverRig((asked) => {
      request = asked;
      return text("");
    });
    const client = new RawClient(rig.server).send(get("/"));
    await client.answered(1);
    client.socket.destroy();
    await Bun.sleep(20);
    expect(request!.signal.aborted).toBe(false);
  });

  test("has no address where nobody asked for it before", async () => {
    const asked = Promise.withResolvers<ServerRequest>();
    await using rig = serverRig((request) => {
      asked.resolve(request);
      return new Promise(() => {});
    });
    const client = new RawClient(rig.server).send(get("/"));
    const request = await asked.promise;
    client.socket.destroy();
    await until("the request is aborted", () => request.signal.aborted);
    expect(request.clientAddress).toBe("");
  });

  test("before the answer is there gets none, and its source learns that", async () => {
    const answer = Promise.withResolvers<ServerResponse>();
    const gone = Promise.withResolvers<void>();
    let asked: ServerRequest | null = null;
    await using rig = serverRig((request) => {
      asked = request;
      return answer.promise;
    });
    const client = new RawClient(rig.server).send(get("/"));
    await until("the handler has the request", () => asked !== null);
    client.socket.destroy();
    await until("the request is aborted", () => asked!.signal.aborted);
    const body = { fill: async () => {}, gone: gone.resolve };
    answer.resolve({ status: 200, headers: {}, body });
    await gone.promise;
  });
});

describe("time", () => {
  test("an idle connection is kept for longer than balancers keep one, and closed then", async () => {
    await using rig = serverRig(echo);
    const client = new RawClient(rig.server).send(get("/1"));
    await client.answered(1);
    // Some clients send it behind a body. It is nothing of a request.
    client.send("\r\n");
    await Bun.sleep(20);
    rig.pass(600_000);
    client.send(get("/2"));
    await client.answered(2);
    rig.pass(600_000);
    expect(client.isClosed).toBe(false);
    rig.pass(30_000);
    await client.closed();
  });

  test("a head has a minute in all, however it drips", async () => {
    await using rig = serverRig(echo);
    const client = new RawClient(rig.server).send("GET / HT");
    await Bun.sleep(20);
    rig.pass(40_000);
    client.send("TP/1.1\r\nhost");
    await Bun.sleep(20);
    rig.pass(40_000);
    await client.closed();
    expect([client.received.length, rig.seen]).toEqual([0, []]);
  });

  test("a body that stays away for a minute fails, and its client is answered", async () => {
    await using rig = serverRig(async (request) => {
      const failure = await request.text().then(() => null, String);
      return { ...text(failure ?? "read"), status: 400 };
    });
    const client = new RawClient(rig.server).send(
      "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nab",
    );
    await until("requests have reached the handler", () => rig.seen.length === 1);
    rig.pass(50_000);
    client.send("c");
    await Bun.sleep(20);
    rig.pass(50_000);
    await Bun.sleep(20);
    expect(client.answers).toEqual([]);
    rig.pass(20_000);
    await client.closed();
    expect(client.answers[0]!.body).toContain("no byte of the body came for 60 s");
  });

  test("a handler has as long as it takes", async () => {
    const answer = Promise.withResolvers<ServerResponse>();
    await using rig = serverRig(() => answer.promise);
    const client = new RawClient(rig.server).send(post("/", "a"));
    await until("requests have reached the handler", () => rig.seen.length === 1);
    rig.pass(10_000_000);
    answer.resolve(text("late"));
    expect((await client.answered(1))[0]!.body).toBe("late");
  });

  test("a client that takes nothing of its answer for ten minutes is closed", async () => {
    await using rig = serverRig(() => ({ status: 200, headers: {}, body: new Uint8Array(64_000_000) }));
    const client = new RawClient(rig.server);
    client.socket.pause();
    client.send(get("/"));
    await until("requests have reached the handler", () => rig.seen.length === 1);
    await Bun.sleep(100);
    rig.pass(610_000);
    client.socket.resume();
    await client.closed();
    expect([client.answers.length, rig.bugs]).toEqual([0, []]);
  });
});

describe("a server that stops", () => {
  test("closes idle connections, ends others behind their answer, and takes no new ones", async () => {
    const answer = Promise.withResolvers<ServerResponse>();
    await using rig = serverRig(({ path }) => (path === "/late" ? answer.promise : text("")));
    const idle = new RawClient(rig.server).send(get("/"));
    await idle.answered(1);
    const busy = new RawClient(rig.server).send(get("/late"));
    await until("requests have reached the handler", () => rig.seen.length === 2);
    const ended: string[] = [];
    const stopped = rig.server.stop().then(() => void ended.push("stopped"));
    await idle.closed();
    const refused = new RawClient(rig.server).send(get("/new"));
    await refused.closed();
    expect([ended, rig.seen]).toEqual([[], ["GET /", "GET /late"]]);
    answer.resolve(text("done"));
    await stopped;
    await busy.closed();
    expect(busy.answers.map(({ body, headers }) => [body, headers.get("connection")])).toEqual([
      ["done", "close"],
    ]);
  });

  test("does not wait for the rest of a body whose request is answered", async () => {
    await using rig = serverRig(() => text("no"));
    const client = new RawClient(rig.server);
    client.send("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhe");
    await client.answered(1);
    await rig.server.stop();
    await client.closed();
  });

  test("at once aborts what runs", async () => {
    let request: ServerRequest | null = null;
    await using rig = serverRig((asked) => {
      request = asked;
      return new Promise(() => {});
    });
    const client = new RawClient(rig.server).send(get("/"));
    await until("the handler has the request", () => request !== null);
    rig.server.terminate();
    await client.closed();
    expect(request!.signal.aborted).toBe(true);
  });
});
