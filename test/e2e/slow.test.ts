// Providers that are slow, or that talk much and say nothing: which limit ends them, and that it is free.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Account, type Bench, charges, startBench, until } from "./harness.ts";
import { readStream } from "./streaming.ts";
import { HeldTime } from "./timers.ts";

let bench: Bench;
let user: Account;
let time: HeldTime;
beforeAll(async () => {
  time = new HeldTime();
  bench = await startBench({
    settings: { UPSTREAM_TIMEOUT_MS: "15000", UPSTREAM_FIRST_MS: "5000", UPSTREAM_IDLE_MS: "5000" },
  });
  user = await bench.subaccount(await bench.owner());
});
afterAll(async () => {
  time.release();
  await bench.close();
});

/** Asks while time goes by as long as the provider is at it. */
const slowly = (said: string, more: object = {}) =>
  time.passing(bench.chat(user.key, said, more), () => bench.provider.inFlight() === 1);

describe("slowness", () => {
  test("a head that is slower than UPSTREAM_FIRST_MS fails a stream and not a whole answer", async () => {
    const said = "[[head_ms=8000 output=2]]";
    expect((await slowly(said)).outcome.status).toBe(200);
    const { outcome, passedMs } = await slowly(said, { stream: true });
    expect([outcome.status, outcome.body.error.code]).toEqual([504, "upstream_timeout"]);
    expect(passedMs).toBeWithin(5_000, 8_000);
  });

  test("a whole answer slower than UPSTREAM_TIMEOUT_MS is 504, free, and its call is given up", async () => {
    const before = await bench.balance(user.key);
    const { outcome, passedMs } = await slowly("[[head_ms=60000]]");
    expect([outcome.status, outcome.body.error.code]).toEqual([504, "upstream_timeout"]);
    expect(passedMs).toBeWithin(15_000, 20_000);
    expect(await bench.balance(user.key)).toBe(before);
    await until("the call is aborted", () => bench.provider.calls().at(-1)!.aborted);
  });

  test("a stream lives as long as it is never silent beyond UPSTREAM_IDLE_MS, past UPSTREAM_TIMEOUT_MS too", async () => {
    const { outcome, passedMs } = await slowly("[[output=8 chunk_ms=2000]]", { stream: true });
    expect(readStream(outcome.status, outcome.headers, outcome.text).done).toBe(true);
    expect(passedMs).toBeGreaterThan(15_000);
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
