// A client that goes: its upstream call is aborted, nothing stays held or open, and it pays for what it got, no more.

import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { type Account, asking, charged, charges, fresh, type Json, MODEL, nano, until } from "./harness.ts";
import { leave } from "./leaving.ts";
import { prepared, useBench } from "./use-bench.ts";

const bench = useBench({ settings: { UPSTREAM_IDLE_MS: "20000" } });
const owner = prepared(() => bench.owner());

const callsOf = (mark: string) =>
  bench.provider.calls().filter((call) => JSON.stringify(call.body).includes(mark));

async function allIsFree(user: Account): Promise<void> {
  await until("the provider is alone", () => bench.provider.inFlight() === 0);
  await until("nothing is held", () => bench.nothingHeld(user.key));
}

/** When the client goes; whether the answer is a stream; what the stand-in does meanwhile. */
const FREE: [when: string, stream: boolean, script: string][] = [
  ["before the head", false, "head_ms=5000"],
  ["before the head", true, "head_ms=5000"],
  ["before the body", false, "first_ms=5000"],
  ["half the body in", false, "fault=stall"],
  ["before any event", true, "first_ms=5000"],
  ["before content, the role being out", true, "fault=stall after=1"],
  ["while only comments come", true, "fault=comments events=400 chunk_ms=20"],
];

describe("before content it is free", () => {
  test.each(FREE)("%s (streamed: %p)", async (_, stream, script) => {
    const user = await bench.subaccount(owner);
    const mark = `gone-${fresh()}`;
    await leave(bench, user.key, `${mark} [[output=20 ${script}]]`, stream, () => callsOf(mark).length > 0);
    await until("the call is aborted", () => callsOf(mark)[0]!.aborted);
    expect(callsOf(mark)).toHaveLength(1);
    expect(await bench.balance(user.key)).toBe(10);
    expect(charges(await bench.ledger(user.key))).toEqual([]);
    await allIsFree(user);
  });
});

describe("after content", () => {
  test("the prompt and what was generated until then are charged, marked partial", async () => {
    const user = await bench.subaccount(owner);
    const mark = `gone-${fresh()}`;
    // Left alone it would go on for twice as long as anything here waits, on however busy a machine.
    await leave(bench, user.key, `${mark} [[output=2000 chunk_ms=5]]`, true, (bytes) => bytes > 2_000);
    await until("the call is aborted", () => callsOf(mark)[0]!.aborted);
    await until("it is charged", async () => charges(await bench.ledger(user.key)).length === 1);
    const [line] = charges(await bench.ledger(user.key));
    const generated = callsOf(mark)[0]!.usage!.completion;
    expect(line).toMatchObject({ basis: "partial", stream: true, model: MODEL });
    // The echoed mark is one word there and some tokens here; what was on its way when the client went may be missing.
    expect(line.completion_tokens).toBeWithin(Math.max(1, generated - 30), generated + 10);
    expect(nano(line.amount)).toBe(-(line.prompt_tokens * 1_000 + line.completion_tokens * 2_000));
    expect(nano(await bench.balance(user.key))).toBe(nano(10) + nano(line.amount));
    await allIsFree(user);
  });

  test("a client that stops reading but stays is not charged before its time, and the hold is kept", async () => {
    const user = await bench.subaccount(owner);
    const mark = `slow-${fresh()}`;
    const leaving = new AbortController();
    const response = await fetch(`${bench.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${user.key}` },
      body: JSON.stringify({ ...asking(`${mark} [[output=60 chunk_ms=10]]`), stream: true }),
      signal: leaving.signal,
    });
    const reader = response.body!.getReader();
    await reader.read();
    expect(await bench.nothingHeld(user.key)).toBe(false);
    expect(charges(await bench.ledger(user.key))).toEqual([]);
    for (let done = false; !done; ) done = (await reader.read()).done;
    expect(charges(await bench.ledger(user.key))).toMatchObject([
      { basis: "provider", completion_tokens: 60 },
    ]);
    await allIsFree(user);
  });

  test("a client that goes while its whole answer is being charged is charged once, or not at all", async () => {
    const user = await bench.subaccount(owner);
    for (let i = 0; i < 10; i++) {
      const mark = `late-${fresh()}`;
      await leave(
        bench,
        user.key,
        `${mark} [[output=3]]`,
        false,
        () => callsOf(mark)[0]?.outcome === "complete",
      );
    }
    await allIsFree(user);
    const lines = await bench.ledger(user.key);
    expect(charges(lines).length).toBeWithin(0, 12);
    expect(new Set(charges(lines).map((line) => line.id)).size).toBe(charges(lines).length);
    expect(nano(await bench.balance(user.key))).toBe(nano(10) - charged(lines));
  });

  test("leaving again and again, at any moment, leaks no hold and no connection", async () => {
    const user = await bench.subaccount(owner);
    const mark = `loop-${fresh()}`;
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        leave(bench, user.key, `${mark} [[output=200 chunk_ms=4]]`, true, (bytes) => bytes > 400 + i * 200),
      ),
    );
    await until("all calls are aborted", () => callsOf(mark).every((call) => call.aborted));
    await until(
      "all are charged",
      async () => charges(await bench.ledger(user.key)).length === callsOf(mark).length,
    );
    await allIsFree(user);
    const lines = await bench.ledger(user.key);
    expect(
      charges(lines)
        .slice(0, 20)
        .every((line) => line.basis === "partial"),
    ).toBe(true);
    expect(nano(await bench.balance(user.key))).toBe(nano(10) - charged(lines));
  });
});

describe("too many free aborts", () => {
  test("more than 20 a minute are refused with too_many_aborts until they are over", async () => {
    const user = await bench.subaccount(owner);
    const mark = `abort-${fresh()}`;
    await Promise.all(
      Array.from({ length: 21 }, (_, i) => {
        const one = `${mark}-${i}.`;
        return leave(bench, user.key, `${one} [[head_ms=5000]]`, i % 2 === 0, () => callsOf(one).length > 0);
      }),
    );
    await until("the provider is alone", () => bench.provider.inFlight() === 0);
    await until("aborts are refused", async () => (await bench.chat(user.key, "hi")).status === 429);
    const refused = await bench.chat(user.key, "hi");
    expect(refused.body.error).toMatchObject({ type: "rate_limit_error", code: "too_many_aborts" });
    expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 61);
    expect(refused.headers.get("x-should-retry")).toBe("false");
    expect((await bench.call(user.key, "GET", "/dashboard/status")).status).toBe(200);
  });

  test("aborts after content are no free aborts", async () => {
    const user = await bench.subaccount(owner);
    for (let i = 0; i < 22; i++) {
      await leave(bench, user.key, "[[output=50 chunk_ms=20]]", true, (bytes) => bytes > 0);
    }
    expect((await bench.chat(user.key, "[[output=1]]")).status).toBe(200);
  });
});

describe("a client that left is no failure of the service, nor of the provider", () => {
  /** The newest of the account's last requests, once it is there. */
  async function lastOf(user: Account, requests: number): Promise<Json> {
    const list = async () => (await bench.call(user.key, "GET", "/dashboard/requests")).body.requests;
    await until("the request has ended", async () => (await list()).length === requests);
    return (await list())[0];
  }
  const refusals = async (): Promise<string[]> => {
    const { text } = await bench.call(bench.rootKey, "GET", "/metrics");
    return text
      .split("\n")
      .filter((line) => /^arborgate_refusals_total\{/.test(line) && !/client_gone/.test(line));
  };

  test.each([
    ["small", 1_000],
    ["large", 5_000_000],
  ])("while it sends a %s body", async (_, length) => {
    const user = await bench.subaccount(owner);
    const before = await refusals();
    const { hostname, port } = new URL(bench.url);
    const socket = connect(Number(port), hostname);
    const head = `authorization: Bearer ${user.key}\r\ncontent-type: application/json\r\ncontent-length: ${length}`;
    socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n${head}\r\n\r\n{"model":`);
    await Bun.sleep(100);
    socket.destroy();
    expect(await lastOf(user, 1)).toMatchObject({ status: null, code: "client_gone" });
    expect(await refusals()).toEqual(before);
  });

  test("while it waits for the first request with its Idempotency-Key", async () => {
    const user = await bench.subaccount(owner);
    const before = await refusals();
    const sending = { headers: { "idempotency-key": `wait-${fresh()}` } };
    const mark = `first-${fresh()}`;
    const body = { ...asking(`${mark} [[output=1 head_ms=1500]]`), max_tokens: 5 };
    const first = bench.call(user.key, "POST", "/v1/chat/completions", body, sending);
    await until("the first is at the provider", () => callsOf(mark).length === 1);
    const leaving = new AbortController();
    const repeat = bench
      .call(user.key, "POST", "/v1/chat/completions", body, { ...sending, signal: leaving.signal })
      .catch((error) => error.name);
    await Bun.sleep(100);
    leaving.abort();
    expect(await repeat).toBe("AbortError");
    expect((await first).status).toBe(200);
    const list = (await bench.call(user.key, "GET", "/dashboard/requests")).body.requests as Json[];
    expect(list.map(({ status, code }) => `${status} ${code}`).sort()).toContain("null client_gone");
    expect(await refusals()).toEqual(before);
  });

  test("while it reads a stored response", async () => {
    const user = await bench.subaccount(owner);
    const { body } = await bench.call(user.key, "POST", "/v1/responses", {
      model: MODEL,
      input: "[[output=2]]",
    });
    const before = await refusals();
    bench.provider.behave(owner.secrets[0]!, "head_ms=3000", 1);
    const leaving = new AbortController();
    const sending = { signal: leaving.signal };
    const reading = bench
      .call(user.key, "GET", `/v1/responses/${body.id}`, undefined, sending)
      .catch((error) => error.name);
    await until("the call is at the provider", () => bench.provider.inFlight() === 1);
    leaving.abort();
    expect(await reading).toBe("AbortError");
    expect(await lastOf(user, 2)).toMatchObject({ status: null, code: "client_gone" });
    expect(await refusals()).toEqual(before);
  });
});

test("no disconnect was logged as a failure of the service", () => {
  expect(bench.log.filter((line) => line.level === "error")).toEqual([]);
});
