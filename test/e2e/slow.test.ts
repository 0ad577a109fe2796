// Providers that are slow, or that talk much and say nothing: which limit ends them, and that it is free.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Account, type Bench, charges, startBench, until } from "./harness.ts";
import { readStream } from "./streaming.ts";

let bench: Bench;
let user: Account;
beforeAll(async () => {
  bench = await startBench({
    settings: { UPSTREAM_TIMEOUT_MS: "400", UPSTREAM_FIRST_MS: "150", UPSTREAM_IDLE_MS: "150" },
  });
  user = await bench.subaccount(await bench.owner());
});
afterAll(() => bench.close());

describe("slowness", () => {
  test("a head that is slower than UPSTREAM_FIRST_MS fails a stream and not a whole answer", async () => {
    const said = "[[head_ms=250 output=2]]";
    expect((await bench.chat(user.key, said)).status).toBe(200);
    const { status, body } = await bench.chat(user.key, said, { stream: true });
    expect([status, body.error.code]).toEqual([504, "upstream_timeout"]);
  });

  test("a whole answer slower than UPSTREAM_TIMEOUT_MS is 504, free, and its call is given up", async () => {
    const before = await bench.balance(user.key);
    const { status, body } = await bench.chat(user.key, "[[head_ms=3000]]");
    expect([status, body.error.code]).toEqual([504, "upstream_timeout"]);
    expect(await bench.balance(user.key)).toBe(before);
    await until("the call is aborted", () => bench.provider.calls().at(-1)!.aborted, 1_000);
  });

  test("a stream lives as long as it is never silent beyond UPSTREAM_IDLE_MS, past UPSTREAM_TIMEOUT_MS too", async () => {
    const answer = await bench.chat(user.key, "[[output=15 chunk_ms=40]]", { stream: true });
    expect(readStream(answer.status, answer.headers, answer.text).done).toBe(true);
  });
});

describe("a stream without content is free, however much was sent before it broke", () => {
  test.each([
    ["300 KB of keep-alive comments, then the end", ""],
    ["300 KB of comments, then an error event", 'data: {"error":{"message":"no","type":"server_error"}}\n\n'],
    [
      "300 KB of comments and a role, then the end",
      'data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n',
    ],
  ])("%s", async (_, last) => {
    const comments = ": keep-alive\n\n".repeat(25_000);
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Response(comments + last, { headers: { "content-type": "text/event-stream" } }),
    });
    const owner = await bench.owner({ keys: 0 });
    const Provider = `http://127.0.0.1:${server.port}`;
    await bench.call(owner.key, "POST", "/x-keys", { Level: 1, Provider, SecretKey: "sk-talks-much-012345" });
    const child = await bench.subaccount(owner);
    const answer = await bench.chat(child.key, "hi", { stream: true });
    const read = readStream(answer.status, answer.headers, answer.text);
    expect(read.done).toBe(false);
    // The head went out with the comments, so the failure is an event inside the stream.
    expect(answer.status === 200 ? read.error : answer.body.error).toMatchObject({ type: "upstream_error" });
    expect(charges(await bench.ledger(child.key))).toEqual([]);
    expect(await bench.balance(child.key)).toBe(10);
    await server.stop(true);
  });
});
