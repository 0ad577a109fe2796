// Streams and deadlines: until the first content another key may answer and the client sees nothing of it; afterwards
// there is an error event, no closing one, and no second call. And clients that do not read on. One counted failure puts a key
// to sleep here.

import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { asking, charges, nano, until } from "./harness.ts";
import { type Asked, ask, createAccounts, fares, fateOf, type TestAccounts, watch } from "./harness-keys.ts";
import { readStream } from "./streaming.ts";
import { useBench, useHeldTime } from "./use-bench.ts";

const FIRST_MS = 5_000;
const IDLE_MS = 8_000;
const TOTAL_MS = 22_000;

const time = useHeldTime();
const bench = useBench({
  settings: {
    KEY_FAILURES: "1",
    UPSTREAM_FIRST_MS: String(FIRST_MS),
    UPSTREAM_IDLE_MS: String(IDLE_MS),
    UPSTREAM_TIMEOUT_MS: String(TOTAL_MS),
  },
});

const streamed = ({ user }: TestAccounts, output = 8) =>
  ask(bench, user, { stream: true, said: `[[output=${output}]]` });
const read = ({ status, headers, text }: Asked) => readStream(status, headers, text);

describe("after the first content", () => {
  /** What; the fault; the code of the error event. */
  const CUTS: readonly [string, string, string][] = [
    ["a reset", "cut after=3", "upstream_failed"],
    ["a connection closed", "cut after=3 how=fin", "upstream_failed"],
    ["a clean end without the closing event", "cut after=3 how=clean", "upstream_failed"],
    ["an error event", "error_event after=3", "upstream_failed"],
    ["noise", "garbage after=3", "upstream_failed"],
    ["silence", "stall after=3", "upstream_timeout"],
  ];
  test.each(CUTS)("%s is the client's to see, once and last, and the key's fault", async (_, fault, code) => {
    const accounts = await createAccounts(bench, `fault=${fault}`, null);
    const seen = watch(bench);
    const { outcome: answer } = await time.passing(streamed(accounts), () => code === "upstream_timeout");
    const { events, error, done, said } = read(answer);
    expect([answer.result, answer.attempts, seen.order(...accounts.owner.keys)]).toEqual([
      `cut ${code}`,
      1,
      "1",
    ]);
    expect(done).toBe(false);
    expect(events.at(-1)).toEqual({ error });
    expect(events.filter((event) => event?.error)).toHaveLength(1);
    expect(said.length).toBeGreaterThan(0);
    const lines = charges(await bench.ledger(accounts.user.key));
    expect(lines).toMatchObject([{ basis: "partial", completion_tokens: 2 }]);
    expect(nano(await bench.balance(accounts.user.key))).toBe(nano(10) + nano(lines[0].amount));
    await fares(bench, accounts.owner, accounts.owner.keys[0]!, "sleeping 5 min");
    expect(await bench.nothingHeld(accounts.user.key)).toBe(true);
  });
});

describe("before the first content", () => {
  test("the client sees one answer, of the key that gave it, and nothing of the other", async () => {
    const accounts = await createAccounts(bench, "fault=cut after=1", null);
    const answer = await streamed(accounts);
    const { events, done, said } = read(answer);
    expect([answer.result, answer.attempts, done]).toEqual(["200", 2, true]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(1);
    expect(events.filter((event) => event.choices[0]?.delta?.role === "assistant")).toHaveLength(1);
    expect(said.split(" ")).toHaveLength(8);
  });

  test("keep-alive comments are no content: another key may answer after them", async () => {
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () =>
        new Response(": keep-alive\n\n: keep-alive\n\n", {
          headers: { "content-type": "text/event-stream" },
        }),
    });
    const owner = await bench.owner({ keys: 0 });
    await bench.level(owner, 1, 1, { Provider: `http://127.0.0.1:${server.port}` });
    await bench.level(owner, 1, 1);
    const answer = await streamed({ owner, user: await bench.subaccount(owner) });
    expect(answer).toMatchObject({ result: "200", attempts: 2 });
    expect(answer.text).not.toContain("keep-alive");
    await server.stop(true);
  });

  test("of the last key the failure is an ordinary error answer", async () => {
    const accounts = await createAccounts(bench, "fault=error_event after=1", "fault=cut after=1");
    const answer = await streamed(accounts);
    expect(answer).toMatchObject({ result: "502 upstream_failed", attempts: 2 });
    expect(answer.headers.get("content-type")).toStartWith("application/json");
    expect(charges(await bench.ledger(accounts.user.key))).toEqual([]);
  });
});

describe("deadlines", () => {
  /** So much time goes by while the last call at the provider is one of this key's. */
  const timed = (asked: Promise<Asked>, { owner }: TestAccounts, nth = 0) =>
    time.passing(asked, () => {
      const last = bench.provider.calls().at(-1);
      return last !== undefined && last.outcome === null && owner.secrets[nth]!.endsWith(last.key);
    });

  test("a stream without a head fails over after UPSTREAM_FIRST_MS", async () => {
    const accounts = await createAccounts(bench, "fault=hang", null);
    const { outcome, passedMs } = await timed(streamed(accounts), accounts);
    expect(outcome).toMatchObject({ result: "200", attempts: 2 });
    expect(passedMs).toBeWithin(FIRST_MS, TOTAL_MS);
    await fares(bench, accounts.owner, accounts.owner.keys[0]!, "sleeping 5 min");
  });

  test("a stream silent before its content fails over after UPSTREAM_IDLE_MS", async () => {
    const accounts = await createAccounts(bench, "fault=stall after=1", null);
    const { outcome, passedMs } = await timed(streamed(accounts), accounts);
    expect(outcome).toMatchObject({ result: "200", attempts: 2 });
    expect(passedMs).toBeWithin(IDLE_MS, TOTAL_MS);
  });

  test("a whole answer may take its time to a head, and fails over when its body falls silent", async () => {
    const accounts = await createAccounts(bench, `head_ms=${FIRST_MS + 2_000}`);
    expect((await timed(ask(bench, accounts.user), accounts)).outcome.result).toBe("200");
    const other = await createAccounts(bench, "fault=stall", null);
    const { outcome, passedMs } = await timed(ask(bench, other.user), other);
    expect(outcome).toMatchObject({ result: "200", attempts: 2 });
    expect(passedMs).toBeWithin(IDLE_MS, TOTAL_MS);
  });

  test.each([true, false])(
    "all attempts together stay within UPSTREAM_TIMEOUT_MS (streamed: %p)",
    async (stream) => {
      const accounts = await createAccounts(bench, ...Array(6).fill("fault=hang"));
      const more = await bench.level(accounts.owner, 2, 3);
      for (const { secret } of more) bench.provider.behave(secret, "fault=hang");
      await bench.call(accounts.owner.key, "PUT", "/x-config", { SWITCH_OVER: "1=2" });
      const asked = ask(bench, accounts.user, { stream });
      const { outcome, passedMs } = await time.passing(asked, () => bench.provider.inFlight() === 1);
      expect(outcome.result).toBe("504 upstream_timeout");
      // A stream gives each key its UPSTREAM_FIRST_MS, a whole answer gives the first one all the time there is.
      expect(outcome.attempts).toBeWithin(stream ? 3 : 1, stream ? 6 : 2);
      expect(passedMs).toBeWithin(TOTAL_MS, TOTAL_MS + FIRST_MS);
      await until("every call is given up", () => bench.provider.inFlight() === 0);
      expect(await bench.balance(accounts.user.key)).toBe(10);
      for (const { secret } of [...accounts.owner.keys, ...more]) bench.provider.behave(secret, null);
      await bench.level(accounts.owner, 1, 1);
      await until("nothing is held", () => bench.nothingHeld(accounts.user.key));
    },
  );

  test("a wait for a limited key ends with them", async () => {
    // It would be over 200 ms after them.
    const accounts = await createAccounts(bench, `head_ms=${TOTAL_MS - 1_700} fault=429 retry_ms=1900`);
    const seen = watch(bench);
    const asked = ask(bench, accounts.user);
    await until("the key is asked", () => bench.provider.inFlight() === 1);
    time.pass(TOTAL_MS - 1_800);
    const refused = until("it is limited", () => seen.calls()[0]?.outcome === "complete");
    await time.passing(refused, () => true, 100);
    const fate = () => fateOf(bench, accounts.owner, accounts.owner.keys[0]!);
    await until("it rests", async () => (await fate()).startsWith("resting"));
    const { outcome } = await time.passing(asked, () => true, 100);
    expect([outcome.result, outcome.attempts]).toEqual(["429 upstream_rate_limited", 1]);
  });

  test("once content has come a stream may go on beyond UPSTREAM_TIMEOUT_MS", async () => {
    const accounts = await createAccounts(bench, "chunk_ms=2000");
    const { outcome, passedMs } = await timed(streamed(accounts, 16), accounts);
    expect(outcome.result).toBe("200");
    expect(passedMs).toBeGreaterThan(TOTAL_MS);
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
    await bench.level(owner, 1, 1, { Provider: `http://127.0.0.1:${server.port}` });
    const child = await bench.subaccount(owner);
    const answer = await bench.chat(child.key, "hi", { stream: true });
    const { done, error } = readStream(answer.status, answer.headers, answer.text);
    expect(done).toBe(false);
    // The head went out with the comments, so the failure is an event inside the stream.
    expect(answer.status === 200 ? error : answer.body.error).toMatchObject({ type: "upstream_error" });
    expect(charges(await bench.ledger(child.key))).toEqual([]);
    expect(await bench.balance(child.key)).toBe(10);
    await server.stop(true);
  });
});

test("a client that does not read on is cut off after UPSTREAM_IDLE_MS and charged for its part, and its key has not failed", async () => {
  const owner = await bench.owner();
  const user = await bench.subaccount(owner);
  const { hostname, port } = new URL(bench.url);
  const socket = connect(Number(port), hostname);
  // More than any buffer on the way holds.
  const body = JSON.stringify({ ...asking("[[output=60000]]"), stream: true });
  const head = [
    "POST /v1/chat/completions HTTP/1.1",
    "host: bench",
    `authorization: Bearer ${user.key}`,
    `content-length: ${body.length}`,
  ];
  socket.pause();
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  const charged = until("it is charged", async () => charges(await bench.ledger(user.key)).length === 1);
  const { passedMs } = await time.passing(charged, () => bench.provider.totals().calls > 0);
  expect(passedMs).toBeGreaterThanOrEqual(IDLE_MS);
  const [line] = charges(await bench.ledger(user.key));
  expect(line).toMatchObject({ basis: "partial", stream: true });
  expect(line.completion_tokens).toBeWithin(1, 60_000);
  let text = "";
  socket.on("data", (data) => {
    text = (text + data).slice(-1_000);
  });
  socket.resume();
  await until("the answer has ended", () => text.endsWith("0\r\n\r\n"));
  expect(text).toContain('data: {"error":');
  expect(text).not.toContain("[DONE]");
  socket.destroy();
  expect(await fateOf(bench, owner, owner.keys[0]!)).toBe("normal");
  expect((await ask(bench, user)).result).toBe("200");
});
