// Refusals: which status, type and code each cause has, in which order causes are decided, and what stands beside.

import { describe, expect, test } from "bun:test";
import { errorHandler } from "../../src/http/error-handler.ts";
import { StoreBusyError } from "../../src/store/store-errors.ts";
import { type Answer, asking, MODEL, until } from "../e2e/harness.ts";
import { expectError, prepared, useBench } from "../e2e/use-bench.ts";
import { countingRandom } from "../runtime/manual-clock.ts";
import { hostOf } from "./endpoints.ts";
import { properError } from "./proper.ts";

const bench = useBench({ settings: { MAX_BODY_MB: "1" } });
const owner = prepared(() => hostOf(bench));
const user = prepared(() => bench.subaccount(owner));

const ask = (key: string | null, body: unknown) => bench.call(key, "POST", "/v1/chat/completions", body);

/** What is wrong, what is answered, and how it is brought about: contract section 2. */
const CAUSES: [cause: string, status: number, code: string, ask: () => Promise<Answer>][] = [
  ["no key", 401, "missing_api_key", () => ask(null, asking("hi"))],
  ["a wrong key", 401, "invalid_api_key", () => bench.chat("sk-wrong", "hi")],
  ["broken JSON", 400, "invalid_json", () => ask(user.key, "{")],
  ["no model", 400, "missing_parameter", () => ask(user.key, { messages: [] })],
  ["no messages", 400, "missing_parameter", () => ask(user.key, { model: "m" })],
  ["n of 129", 400, "invalid_parameter", () => bench.chat(user.key, "hi", { n: 129 })],
  ["max_tokens of 0", 400, "invalid_parameter", () => bench.chat(user.key, "hi", { max_tokens: 0 })],
  ["speed: fast", 400, "invalid_parameter", () => bench.chat(user.key, "hi", { speed: "fast" })],
  ["inference_geo", 400, "invalid_parameter", () => bench.chat(user.key, "hi", { inference_geo: "us" })],
  ["background", 400, "invalid_parameter", () => bench.chat(user.key, "hi", { background: true })],
  ["an unpriced model", 404, "model_not_priced", () => bench.chat(user.key, "hi", { model: "never-known" })],
  ["an unknown path", 404, "not_found", () => bench.call(user.key, "POST", "/v1/nothing", {})],
  ["another method", 405, "method_not_allowed", () => bench.call(user.key, "GET", "/v1/chat/completions")],
  ["a worst case beyond the balance, beside another request", 429, "insufficient_balance", besides],
  ["an unknown user", 404, "user_not_found", () => bench.call(owner.key, "GET", "/x-users/nobody")],
  ["not an Owner", 403, "not_owner", () => bench.call(user.key, "GET", "/x-keys")],
  ["a provider that fails", 502, "upstream_failed", () => bench.chat(user.key, "[[fault=500]]")],
];

async function besides(): Promise<Answer> {
  const one = await bench.subaccount(owner);
  const running = bench.chat(one.key, "[[head_ms=300 output=1]]", { max_tokens: 10 });
  await until("one is in flight", () => bench.provider.inFlight() > 0);
  const answer = await bench.chat(one.key, "hi", { max_tokens: 1_000_000_000 });
  await running;
  return answer;
}

test.each(CAUSES)("%s", async (_, status, code, ask) => {
  properError(await ask(), status, code);
});

describe("what providers offer and this service does not is 404, with words that say so", () => {
  const upgrade = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  test.each([
    ["GET", "/v1/realtime?model=gpt-realtime", "realtime sessions (WebSocket, WebRTC) are not offered"],
    ["POST", "/v1/realtime/client_secrets", "realtime sessions (WebSocket, WebRTC) are not offered"],
    ["POST", "/v1/batches", "batches are not offered, send each request by itself"],
    ["GET", "/v1/batches/batch_1", "batches are not offered, send each request by itself"],
    ["POST", "/v1/messages/batches", "batches are not offered, send each request by itself"],
    ["POST", "/v1/files", "files are not kept, send the content in the request"],
    ["GET", "/v1/files/file-1/content", "files are not kept, send the content in the request"],
    ["POST", "/v1/uploads", "files are not kept, send the content in the request"],
    ["POST", "/v1/vector_stores", "files are not kept, send the content in the request"],
    ["POST", "/v1/conversations", "conversations are not created, send the turns in the request"],
    ["POST", "/v1/responses/compact", "compaction is not offered"],
    ["POST", "/v1/responses/input_tokens", "input tokens are not counted for responses"],
  ] as const)("%s %s", async (method, address, omission) => {
    const [path] = address.split("?");
    const headers = path === "/v1/realtime" ? upgrade : {};
    const answer = await bench.call(user.key, method, address, method === "POST" ? {} : undefined, {
      headers,
    });
    expect([answer.status, answer.body.error.message]).toEqual([
      404,
      `There is nothing at ${path}: ${omission}.`,
    ]);
    if (!path!.startsWith("/v1/messages/")) properError(answer, 404, "not_found");
  });

  test("a path that only begins like one of them is unknown", async () => {
    const answer = await bench.call(user.key, "POST", "/v1/filesystem", {});
    expect(answer.body.error.message).toBe("There is nothing at /v1/filesystem.");
  });

  test.each([
    [
      "/v1/responses",
      { input: "hi", tools: [{ type: "mcp", server_label: "a", server_url: "https://a.example" }] },
    ],
    [
      "/v1/messages",
      { ...asking("hi"), max_tokens: 5, mcp_servers: [{ type: "url", name: "a", url: "https://a.example" }] },
    ],
  ])("a server of tools that the provider would call, on %s, is 400", async (path, body) => {
    const answer = await bench.call(user.key, "POST", path, { model: MODEL, ...body });
    expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining("(MCP)")]);
  });
});

test("a refusal carries the client's x-request-id, on every family of endpoints", async () => {
  const headers = { "x-request-id": "mine-1" };
  for (const [key, method, path] of [
    ["sk-wrong", "POST", "/v1/chat/completions"],
    [user.key, "POST", "/v1/chat/completions"],
    [user.key, "GET", "/x-keys"],
    [user.key, "GET", "/nothing"],
    [user.key, "DELETE", "/dashboard/status"],
  ] as const) {
    const answer = await bench.call(key, method, path, undefined, { headers });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.headers.get("x-request-id")).toBe("mine-1");
  }
});

describe("the first cause answers: key, IP, path, model, level, rate limits, quota", () => {
  test("a closed address goes before a body that cannot be read", async () => {
    const one = await bench.subaccount(owner, { AllowIPs: "10.9.9.9" });
    expect((await ask(one.key, "{")).body.error.code).toBe("ip_not_allowed");
  });

  test("a wrong key goes before everything", async () => {
    properError(await ask("sk-wrong", "{"), 401, "invalid_api_key");
  });
});

test("a wait above 30 s says x-should-retry: false; a shorter one does not", async () => {
  const one = await bench.subaccount(owner, { RPD: 1 });
  await bench.chat(one.key, "[[output=1]]");
  const answer = await bench.chat(one.key, "hi");
  const waitS = Number(answer.headers.get("retry-after"));
  expect(waitS).toBeWithin(1, 86_401);
  expect(answer.headers.get("x-should-retry")).toBe(waitS > 30 ? "false" : null);
});

describe("below /v1/messages an error is also one to the SDKs of that style", () => {
  const MESSAGES = "/v1/messages";
  const question = { ...asking("[[output=1]]"), max_tokens: 1 };
  const tooLarge = JSON.stringify({ ...question, padding: "x".repeat(1_100_000) });
  const to = (key: string | null, path: string, body: unknown = question, method = "POST") =>
    bench.call(key, method, path, body, { headers: { "x-request-id": "mine-2" } });

  test.each<[string, () => Promise<Answer>, number, string]>([
    ["no key", () => to(null, MESSAGES), 401, "missing_api_key"],
    ["a wrong key", () => to("sk-wrong", MESSAGES), 401, "invalid_api_key"],
    ["a wrong key, counting", () => to("sk-wrong", `${MESSAGES}/count_tokens`), 401, "invalid_api_key"],
    ["broken JSON", () => to(user.key, MESSAGES, "{"), 400, "invalid_json"],
    ["no max_tokens", () => to(user.key, MESSAGES, asking("hi")), 400, "missing_parameter"],
    ["a body too large", () => to(user.key, MESSAGES, tooLarge), 400, "body_too_large"],
    [
      "an unpriced model",
      () => to(user.key, MESSAGES, { ...question, model: "never-heard-of" }),
      404,
      "model_not_priced",
    ],
    ["an unknown path", () => to(user.key, `${MESSAGES}/batches`), 404, "not_found"],
    ["another method", () => to(user.key, MESSAGES, question, "PUT"), 405, "method_not_allowed"],
    [
      "another method, counting",
      () => to(user.key, `${MESSAGES}/count_tokens`, question, "DELETE"),
      405,
      "method_not_allowed",
    ],
  ])("%s", async (_, ask, status, code) => {
    const answer = await ask();
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    expect(Object.keys(answer.body).sort()).toEqual(["error", "request_id", "type"]);
    expect(answer.body).toMatchObject({ type: "error", request_id: "mine-2" });
    expect(answer.headers.get("request-id")).toBe("mine-2");
    expect(answer.headers.get("x-request-id")).toBe("mine-2");
  });

  test("and nowhere else", async () => {
    for (const path of ["/v1/messages_", "/v1/message", "/v1/chat/completions/x"]) {
      const answer = await to(user.key, path);
      expect(answer.status).toBe(404);
      expect(Object.keys(answer.body)).toEqual(["error"]);
      expect(answer.headers.has("request-id")).toBe(false);
    }
  });
});

describe("the head of an answer says what the limits leave, in the names of its style", () => {
  const LIMITED = { RPM: 50, RPD: 40, TPM: 5_000 };
  const WRITTEN = {
    chat: { path: "/v1/chat/completions", name: (of: string, what: string) => `x-ratelimit-${what}-${of}` },
    messages: {
      path: "/v1/messages",
      name: (of: string, what: string) => `anthropic-ratelimit-${of}-${what}`,
    },
  };
  const STYLES = Object.keys(WRITTEN) as (keyof typeof WRITTEN)[];

  test.each(STYLES.flatMap((style) => [[style, false] as const, [style, true] as const]))(
    "%s, streamed: %s",
    async (style, stream) => {
      const { path, name } = WRITTEN[style];
      const one = await bench.subaccount(owner, LIMITED);
      const body = { ...asking("[[output=1]]"), max_tokens: 1, stream };
      const { status, headers } = await bench.call(one.key, "POST", path, body);
      expect(status).toBe(200);
      expect(headers.get(name("requests", "limit"))).toBe("40");
      expect(headers.get(name("requests", "remaining"))).toBe("39");
      expect(headers.get(name("tokens", "limit"))).toBe("5000");
      expect(Number(headers.get(name("tokens", "remaining")))).toBeWithin(4_900, 5_000);
      for (const of of ["requests", "tokens"]) {
        const reset = headers.get(name(of, "reset"))!;
        if (style === "chat") expect(reset).toMatch(/^[1-9]\d*s$/);
        else {
          expect(reset).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
          expect(Date.parse(reset)).toBeGreaterThan(Date.now());
        }
      }
      const other = STYLES.find((one) => one !== style)!;
      expect(headers.has(WRITTEN[other].name("requests", "limit"))).toBe(false);
      expect(headers.get("x-arbor-model")).toBe(MODEL);
      expect(headers.get("request-id")).toBe(style === "chat" ? null : headers.get("x-request-id"));
    },
  );
});

describe("whether to try again", () => {
  test("429 of a rate limit says when", async () => {
    const one = await bench.subaccount(owner, { RPM: 1 });
    await bench.chat(one.key, "[[output=1]]");
    const { status, headers } = await bench.chat(one.key, "hi");
    expect(status).toBe(429);
    expect(Number(headers.get("retry-after"))).toBeWithin(1, 62);
  });

  test("429 of a quota says that it is no use", async () => {
    const one = await bench.subaccount(owner, { CreditGranted: 4 });
    await bench.subaccount(one, { CreditGranted: 4 });
    const { status, headers, body } = await bench.chat(one.key, "hi");
    expect([status, body.error.type]).toEqual([429, "insufficient_quota"]);
    expect(headers.get("x-should-retry")).toBe("false");
    expect(headers.has("retry-after")).toBe(false);
  });

  test("429 of resting keys says when the first is back; 503 of sleeping ones as well, and that it is long", async () => {
    const resting = await bench.owner();
    const one = await bench.subaccount(resting);
    bench.provider.behave(resting.secrets[0]!, "fault=429 retry=20");
    const rests = await bench.chat(one.key, "hi");
    expectError(rests, 429, "upstream_rate_limited");
    expect(Number(rests.headers.get("retry-after"))).toBeWithin(19, 21);
    expect(rests.headers.has("x-should-retry")).toBe(false);

    const sleeping = await bench.owner();
    const two = await bench.subaccount(sleeping);
    bench.provider.behave(sleeping.secrets[0]!, "fault=429.quota");
    await bench.chat(two.key, "hi");
    await until("the key sleeps", async () => {
      const { body } = await bench.call(sleeping.key, "GET", `/dashboard/explain?model=${MODEL}`);
      return body.candidates[0].state === "sleeping";
    });
    const sleeps = await bench.chat(two.key, "hi");
    expectError(sleeps, 503, "no_available_key");
    expect(Number(sleeps.headers.get("retry-after"))).toBeGreaterThan(30);
    expect(sleeps.headers.get("x-should-retry")).toBe("false");
  });
});

test("nothing that was refused reached the provider, was charged or was counted", async () => {
  const one = await bench.subaccount(owner, { RPM: 2 });
  const calls = bench.provider.totals().calls;
  for (const bad of [{ n: 0 }, { model: "never-heard-of" }, { messages: [] }, { max_tokens: -1 }]) {
    expect((await bench.chat(one.key, "hi", bad)).status).toBeGreaterThanOrEqual(400);
  }
  expect(bench.provider.totals().calls).toBe(calls);
  expect(await bench.balance(one.key)).toBe(10);
  for (let i = 0; i < 2; i++) expect((await bench.chat(one.key, "[[output=1]]")).status).toBe(200);
});

test("a busy store: nothing was read, but a write before may have been done", async () => {
  const handle = errorHandler({ random: countingRandom(), log: () => {} }, () => []);
  const messageOf = async (method: string) => {
    const request = new Request("http://x.example/x-users", { method });
    const answer = await handle({ request, code: "UNKNOWN", error: new StoreBusyError("full") });
    const { error } = (await answer.json()) as { error: { message: string; code: string } };
    expect([answer.status, error.code]).toEqual([503, "service_unavailable"]);
    return error.message;
  };
  for (const method of ["GET", "HEAD"]) expect(await messageOf(method)).toContain("Nothing was done");
  for (const method of ["POST", "PUT", "DELETE"]) {
    expect(await messageOf(method)).toContain("Whether it happened is unknown: repeat the request");
  }
});
