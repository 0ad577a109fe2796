// ACCESS_LOG=1: a line of JSON for each request on the standard output of a process, and no word of content, no secret and no
// query in any of them, whatever a client sends. Without the setting there is none.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AccessLine } from "../../src/gateway/traffic/access-line.ts";
import { startProvider } from "../provider/provider.ts";
import { type Account, type Json, MODEL, type Owner, PRICING, until } from "./harness.ts";
import { processBench } from "./process.ts";

const SECRET = "sk-hostile-secret-0123456789abcdef";
const CONTENT = "never-in-a-log";

const provider = startProvider();
const bench = processBench();
let owner: Owner;
let user: Account;

beforeAll(async () => {
  await bench.start({ ACCESS_LOG: "1", SSE_KEEPALIVE_MS: "1000" });
  const factory = bench.accountFactory(provider.url);
  owner = await factory.owner();
  user = await factory.subaccount(owner);
}, 90_000);
afterAll(async () => {
  await bench.close();
  provider.close();
});

const lines = (): AccessLine[] =>
  bench
    .output()
    .split("\n")
    .filter((line) => line.startsWith('{"time"'))
    .map((line) => JSON.parse(line));

/** Waits for the line of a request. */
async function lineOf(id: string): Promise<AccessLine> {
  await until(`the line of ${id} is written`, () => lines().some(({ request_id }) => request_id === id));
  return lines().find(({ request_id }) => request_id === id)!;
}

let sent = 0;
/** Sends a request, and returns its line. */
async function logged(method: string, path: string, key: string | null, body?: Json): Promise<AccessLine> {
  const id = `log-${++sent}`;
  const response = await fetch(bench.url() + path, {
    method,
    headers: { "x-request-id": id, ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  return lineOf(id);
}

const asking = (said: string, more: object = {}) => ({
  model: MODEL,
  messages: [{ role: "user", content: `${said} ${CONTENT}` }],
  ...more,
});

const REFUSED = { cost: null, prompt_tokens: null, bytes: null, provider_key: null, stream: false };

describe("a line", () => {
  test("of a whole answer", async () => {
    expect(await logged("POST", "/v1/chat/completions", user.key, asking("[[output=3]]"))).toEqual({
      time: expect.stringMatching(/^20\d\d-.+Z$/),
      request_id: expect.any(String),
      ...{
        method: "POST",
        path: "/v1/chat/completions",
        status: 200,
        code: null,
        account: user.id,
        api_key: 0,
      },
      ...{ model: MODEL, level: 1, provider_key: expect.any(Number), stream: false },
      ...{ ms: expect.any(Number), upstream_first_ms: expect.any(Number) },
      ...{ prompt_tokens: expect.any(Number), completion_tokens: 3, cost: expect.any(Number) },
      bytes: expect.any(Number),
    });
  });

  test.each([
    [`${SECRET}/${MODEL}`, MODEL],
    [`ft:${MODEL}:${SECRET}`, MODEL],
    [SECRET, "other"],
  ])("of the model %s names the price that applies", async (model, shown) => {
    const { ChatPricing } = PRICING;
    const factory = bench.accountFactory(provider.url);
    const pricing = { ChatPricing: { ...ChatPricing, "*": ChatPricing[MODEL] } };
    const { key } = await factory.subaccount(await factory.owner({ pricing }));
    const line = await logged("POST", "/v1/chat/completions", key, asking("[[output=1]]", { model }));
    expect([line.status, line.model]).toEqual([200, shown]);
    expect(JSON.stringify(line)).not.toContain(SECRET);
  });

  test("of a stream counts the bytes that were sent", async () => {
    const id = "log-stream";
    const response = await fetch(`${bench.url()}/v1/chat/completions`, {
      method: "POST",
      headers: { "x-request-id": id, authorization: `Bearer ${user.key}` },
      body: JSON.stringify(asking("[[output=20]]", { stream: true })),
    });
    const bytes = (await response.arrayBuffer()).byteLength;
    expect(await lineOf(id)).toMatchObject({ status: 200, stream: true, completion_tokens: 20, bytes });
  });

  test.each<[string, string, Partial<AccessLine>]>([
    [
      "is answered after a keepalive",
      "[[output=2 first_ms=1300]]",
      { status: 200, code: null, stream: true },
    ],
    [
      "fails after a keepalive",
      "[[fault=500 head_ms=1300]]",
      { status: 502, code: "upstream_failed", cost: null },
    ],
    [
      "breaks off",
      "[[output=9 fault=cut after=4]]",
      { status: 200, stream: true, cost: expect.any(Number) as never },
    ],
  ])("of a stream that %s", async (_, said, shown) => {
    const line = await logged("POST", "/v1/chat/completions", user.key, asking(said, { stream: true }));
    expect(line).toMatchObject(shown);
    expect(line.code === null).toBe(said.includes("first_ms"));
  });

  test("of a client that left before its answer", async () => {
    const leaving = new AbortController();
    const answering = fetch(`${bench.url()}/v1/chat/completions`, {
      method: "POST",
      headers: { "x-request-id": "log-gone", authorization: `Bearer ${user.key}` },
      body: JSON.stringify(asking("[[head_ms=5000]]")),
      signal: leaving.signal,
    });
    await until("the provider has it", () => provider.inFlight() > 0);
    leaving.abort();
    await expect(answering).rejects.toThrow();
    expect(await lineOf("log-gone")).toMatchObject({ status: null, code: "client_gone", cost: null });
  });

  test.each<[string, string | null, Json, Partial<AccessLine>]>([
    ["no key", null, asking(""), { status: 401, code: "missing_api_key", account: null, model: null }],
    ["a wrong key", SECRET, asking(""), { status: 401, code: "invalid_api_key", account: null }],
    ["no JSON", "user", CONTENT, { status: 400, code: "invalid_json" }],
    [
      "no such model",
      "user",
      asking("", { model: CONTENT }),
      { status: 404, code: "model_not_priced", model: null },
    ],
    [
      "a provider that fails",
      "user",
      asking("[[fault=500]]"),
      { status: 502, code: "upstream_failed", model: MODEL },
    ],
  ])("of a request with %s", async (_, key, body, shown) => {
    const line = await logged("POST", "/v1/chat/completions", key === "user" ? user.key : key, body);
    expect(line).toMatchObject({ ...REFUSED, ...shown });
    if (key === "user") expect(line.account).toBe(user.id);
  });

  test.each<[string, string, Partial<AccessLine>]>([
    ["GET", `/dashboard/status?key=${SECRET}`, { path: "/dashboard/status", status: 400 }],
    ["GET", "/dashboard/status", { path: "/dashboard/status", status: 200, code: null, api_key: 0 }],
    ["GET", `/dashboard/keys/${CONTENT}`, { path: null, status: 405 }],
    ["DELETE", `/dashboard/keys/${CONTENT}`, { path: "/dashboard/keys/{id}" }],
    ["GET", `/v1/responses/${CONTENT}?after=${CONTENT}`, { path: "/v1/responses/{id}", account: -1 }],
    ["GET", `/nowhere/${CONTENT}?x=${SECRET}`, { path: null, status: 404 }],
    ["POST", `/v1/chat/completions/?x=${SECRET}`, { path: "/v1/chat/completions", status: 400 }],
  ])("of %s %s", async (method, path, shown) => {
    const line = await logged(method, path, user.key);
    const account = "account" in shown ? { account: user.id } : {};
    expect(line).toMatchObject({ method, ...shown, ...account });
    expect(line.model).toBeNull();
  });
});

test("no line has a secret, content, or a part of a query; probes have none; each request has one", async () => {
  for (const path of ["/healthz", "/readyz"])
    await fetch(`${bench.url()}${path}`, { headers: { "x-request-id": "probe" } });
  await logged("GET", "/dashboard/status", user.key);
  const all = lines();
  const text = JSON.stringify(all);
  for (const word of [SECRET, CONTENT, user.key, owner.key, bench.rootKey(), "probe", "after="]) {
    expect(text).not.toContain(word);
  }
  const ids = all.map(({ request_id }) => request_id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(all.map((line) => Object.keys(line).sort().join())).toEqual(
    all.map(() => Object.keys(all[0]!).sort().join()),
  );
});

test("without the setting there is none, and another value is refused", async () => {
  await bench.end("SIGTERM");
  await bench.start();
  await bench.call(user.key, "GET", "/dashboard/status");
  expect((await bench.end("SIGTERM")).stdout).not.toContain('{"time"');
  expect((await bench.beside({ ACCESS_LOG: "yes" })).stderr).toContain("ACCESS_LOG must be one of 0, 1");
});
