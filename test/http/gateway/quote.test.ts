// What a request would cost, before it is made: every field of the answer, refusals as data, nothing taken, and never less
// than what the same request is then charged.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { asking, charges, type Json, MODEL, nano, PRICING, until } from "../../e2e/harness.ts";
import { expectError, prepared, useBench } from "../../e2e/use-bench.ts";
import { hostOf } from "../endpoints.ts";

const CHAT = "/v1/chat/completions";
const PRICE = PRICING.ChatPricing[MODEL];

const bench = useBench();
const owner = prepared(() => hostOf(bench));
const user = prepared(() => bench.subaccount(owner));

async function quoteOf(key: string, body: object, path = CHAT): Promise<Json> {
  const answer = await bench.call(key, "POST", "/v1/quote", { path, body });
  expect(answer.status).toBe(200);
  return answer.body;
}

describe("a quote", () => {
  test("has every field, and its figures follow from each other", async () => {
    const child = await bench.subaccount(owner, { Rates: 3 });
    const found = await quoteOf(child.key, { ...asking("tell me all of it"), max_tokens: 100, n: 2 });
    const prompt = found.estimated.prompt_tokens;
    expect(prompt).toBeGreaterThan(0);
    expect(found).toEqual({
      ...{ object: "quote", admitted: true, refusal: null, model: MODEL, level: 1 },
      estimated: { prompt_tokens: prompt, max_completion_tokens: 200 },
      hold: (3 * (prompt * 1 + 200 * 2)) / 1e6,
      cost: { min: (3 * prompt) / 1e6, max: (3 * (prompt * 1 + 200 * 2)) / 1e6 },
      price: PRICE,
      multipliers: { model: 1, rates: 3, factor: 1 },
    });
  });

  test("of a request without an output limit takes the one that a hold would", async () => {
    const { estimated } = await quoteOf(user.key, asking("hi"));
    expect(estimated.max_completion_tokens).toBe(4_096);
  });

  test("of a messages request is one as well; counting tokens costs nothing", async () => {
    const body = { ...asking("hi"), max_tokens: 10 };
    const { admitted, cost } = await quoteOf(user.key, body, "/v1/messages");
    expect([admitted, cost.max > 0]).toEqual([true, true]);
    const counted = await quoteOf(user.key, asking("hi"), "/v1/messages/count_tokens");
    expect(counted).toMatchObject({ admitted: true, hold: 0, cost: { min: 0, max: 0 } });
  });

  test("may be asked with x-api-key", async () => {
    const question = { path: CHAT, body: asking("hi") };
    const { status } = await bench.call(null, "POST", "/v1/quote", question, {
      headers: { "x-api-key": user.key },
    });
    expect(status).toBe(200);
  });

  test.each([
    ["an unknown path", { path: "/v1/nothing", body: {} }, "invalid_parameter", "path"],
    ["a path outside /v1", { path: "/x-users", body: {} }, "invalid_parameter", "path"],
    ["no path", { body: {} }, "missing_parameter", "path"],
    ["no body", { path: CHAT }, "missing_parameter", "body"],
    ["a body that is a text", { path: CHAT, body: "{}" }, "invalid_parameter", "body"],
  ])("of %s is 400", async (_, question, code, named) => {
    const { status, body } = await bench.call(user.key, "POST", "/v1/quote", question);
    expect([status, body.error.code]).toEqual([400, code]);
    expect(body.error.message).toContain(named);
  });
});

describe("a refusal is data", () => {
  test.each<[string, object, string, Record<string, unknown>]>([
    ["a model that nobody priced", { model: "never-heard-of" }, "model_not_priced", {}],
    ["no messages", { messages: undefined }, "missing_parameter", {}],
    ["speed: fast", { speed: "fast" }, "invalid_parameter", {}],
    ["a model that is not allowed", {}, "model_not_allowed", { AllowModels: "gpt-*" }],
    ["a path that is not allowed", {}, "path_not_allowed", { Resources: "/v1/messages" }],
    ["a prompt above TPM", {}, "tpm_exceeded", { TPM: 1 }],
  ])("%s", async (_, more, code, given) => {
    const child = await bench.subaccount(owner, given);
    const found = await quoteOf(child.key, { ...asking("hello there"), ...more });
    expect(found).toMatchObject({ admitted: false, refusal: { code, message: expect.any(String) } });
    const real = await bench.chat(child.key, "hello there", more);
    expect(real.body.error).toMatchObject(found.refusal);
  });

  test("RPM that is used up", async () => {
    const child = await bench.subaccount(owner, { RPM: 1 });
    await bench.chat(child.key, "[[output=1]]");
    expect((await quoteOf(child.key, asking("hi"))).refusal.code).toBe("rpm_exceeded");
  });

  test("a balance that does not reach for the prompt, with what would have been held", async () => {
    const child = await bench.subaccount(owner, { CreditGranted: 2.1 });
    const body = asking("x".repeat(900_000));
    await bench.subaccount(child, { CreditGranted: 2 });
    const found = await quoteOf(child.key, body);
    expect(found).toMatchObject({ admitted: false, refusal: { code: "insufficient_balance" } });
    expect(found.hold).toBeGreaterThan(0.1);
  });

  test("keys of which none is there", async () => {
    const empty = await bench.owner();
    await bench.call(empty.key, "PUT", `/x-keys/${empty.keys[0]!.id}`, { Status: false });
    expect(await quoteOf(empty.key, asking("hi"))).toMatchObject({
      admitted: false,
      refusal: { code: "no_available_key" },
    });
  });
});

describe("a quote of a request that refers to a kept response is what the request then meets", () => {
  const RESPONSES = "/v1/responses";
  const asked = { model: MODEL, input: "on [[output=1]]", max_output_tokens: 5 };
  const ROWS: [what: string, code: string | null, change: (key: string, id: number) => Promise<unknown>][] = [
    ["its own", null, async () => undefined],
    ["its own, whose key has moved to another Level", null, moved],
    ["its own, whose key is disabled", "no_available_key", disabled],
    ["its own, whose key is gone", "previous_response_not_found", gone],
  ];
  function moved(key: string, id: number) {
    return bench.call(key, "PUT", `/x-keys/${id}`, { Level: 4 });
  }
  function disabled(key: string, id: number) {
    return bench.call(key, "PUT", `/x-keys/${id}`, { Status: false });
  }
  function gone(key: string, id: number) {
    return bench.call(key, "DELETE", `/x-keys/${id}`);
  }

  async function agreeing(key: string, id: string): Promise<Json> {
    const body = { ...asked, previous_response_id: id };
    const { refusal, level } = await quoteOf(key, body, RESPONSES);
    const real = await bench.call(key, "POST", RESPONSES, body);
    if (refusal === null) expect(real.headers.get("x-arbor-level")).toBe(String(level));
    else expect(real.body.error).toMatchObject(refusal);
    expect(real.status === 200).toBe(refusal === null);
    return refusal?.code ?? null;
  }

  test.each(ROWS)("%s", async (_, code, change) => {
    const host = await bench.owner({ keys: 1 });
    const made = await bench.call(host.key, "POST", RESPONSES, asked);
    await bench.level(host, 1, 2);
    await change(host.key, host.keys[0]!.id);
    expect(await agreeing(host.key, made.body.id)).toBe(code);
  });

  test("another account's, and nobody's", async () => {
    const made = await bench.call(owner.key, "POST", RESPONSES, asked);
    expect(await agreeing(user.key, made.body.id)).toBe("previous_response_not_found");
    expect(await agreeing(user.key, "resp_nobody")).toBe("previous_response_not_found");
  });
});

test("a model that stands in is quoted at its own price, and with its own hold", async () => {
  const pricing = {
    ChatPricing: { first: { InputText: 1, OutputText: 1 }, second: { InputText: 7, OutputText: 9 } },
  };
  const config = { LEVEL_MAPPER: "first=1,second=2", MODEL_FAILOVER: "first=second" };
  const host = await bench.owner({ pricing, config });
  await bench.level(host, 2, 1);
  const body = { ...asking("[[output=1]]"), model: "first", max_tokens: 50 };
  expect(await quoteOf(host.key, body)).toMatchObject({ model: "first", level: 1 });
  await bench.call(host.key, "PUT", `/x-keys/${host.keys[0]!.id}`, { Status: false });
  const found = await quoteOf(host.key, body);
  expect(found).toMatchObject({ model: "second", level: 2, price: pricing.ChatPricing.second });
  expect(nano(found.hold)).toBe(found.estimated.prompt_tokens * 7_000 + 50 * 9_000);
  const { headers } = await bench.call(host.key, "POST", CHAT, body);
  expect([headers.get("x-arbor-model"), headers.get("x-arbor-level")]).toEqual(["second", "2"]);
});

describe("a quote of a path that counts something else than tokens", () => {
  const ROWS: [string, string, object, number, number, number][] = [
    // Path, model, body, and in nano-dollars the hold, the least and the most.
    [
      "/v1/images/generations",
      "dall-e-3",
      { prompt: "a", n: 2, size: "1024x1792", quality: "hd" },
      24e7,
      24e7,
      24e7,
    ],
    ["/v1/images/generations", "dall-e-3", { prompt: "a", n: 2 }, 24e7, 8e7, 24e7],
    ["/v1/audio/speech", "tts-1", { input: "x".repeat(2_000), voice: "a" }, 3e7, 3e7, 3e7],
    ["/v1/rerank", "rerank-v3.5", { query: "q", documents: new Array(101).fill("d") }, 4e6, 4e6, 4e6],
    ["/v1/embeddings", "text-embedding-3-small", { input: [[1, 2, 3], [4]] }, 80, 80, 80],
    ["/v1/moderations", "omni-moderation-latest", { input: "a" }, 0, 0, 0],
  ];
  test.each(ROWS)("%s with %s", async (path, model, body, hold, least, most) => {
    const found = await quoteOf(user.key, { model, ...body }, path);
    expect(found).toMatchObject({ admitted: true, model, level: 1 });
    expect([found.hold, found.cost.min, found.cost.max].map(nano)).toEqual([hold, least, most]);
  });

  test("needs JSON", async () => {
    for (const path of ["/v1/audio/transcriptions", "/v1/audio/translations"]) {
      const answer = await bench.call(user.key, "POST", "/v1/quote", { path, body: { model: "whisper-1" } });
      expectError(answer, 400, "invalid_parameter");
      expect(answer.body.error.message).toContain("JSON");
    }
  });
});

test("takes nothing: no hold, no charge, no call, no place in a window", async () => {
  const child = await bench.subaccount(owner, { RPM: 1, RPD: 1, TPM: 1_000 });
  const calls = bench.provider.totals().calls;
  for (let i = 0; i < 5; i++) {
    const { admitted } = await quoteOf(child.key, { ...asking("hi"), max_tokens: 900 });
    expect(admitted).toBe(true);
  }
  expect(bench.provider.totals().calls).toBe(calls);
  expect(charges(await bench.ledger(child.key))).toEqual([]);
  expect(await bench.nothingHeld(child.key)).toBe(true);
});

test("hold is what the request really holds while it runs", async () => {
  const child = await bench.subaccount(owner);
  const body = { ...asking("[[output=1 head_ms=400]]"), max_tokens: 123 };
  const { hold } = await quoteOf(child.key, body);
  const running = bench.call(child.key, "POST", CHAT, body);
  await until("it is under way", () => bench.provider.inFlight() > 0);
  const { body: seen } = await bench.call(child.key, "GET", `/dashboard/explain?model=${MODEL}`);
  const [balance] = seen.limits.filter((row: Json) => row.name === "balance");
  expect(nano(balance.limit) - nano(balance.remaining)).toBe(nano(hold));
  expect((await running).status).toBe(200);
});

test("max is never below what the same request is then charged", async () => {
  const child = await bench.subaccount(owner, { CreditGranted: 100, Rates: 1.3 });
  const word = fc.constantFrom("tell", "me", "héllo", "\u{1f680}", "[]", "{", "a-b-c");
  await fc.assert(
    fc.asyncProperty(
      fc.array(word, { maxLength: 40 }),
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 3 }),
      fc.boolean(),
      async (words, output, n, stream) => {
        const body = { ...asking(`${words.join(" ")} [[output=${output}]]`), max_tokens: output, n, stream };
        const { cost } = await quoteOf(child.key, body);
        const before = nano(await bench.balance(child.key));
        expect((await bench.call(child.key, "POST", CHAT, body)).status).toBe(200);
        const paid = before - nano(await bench.balance(child.key));
        expect(paid).toBeGreaterThan(0);
        expect(paid).toBeLessThanOrEqual(nano(cost.max));
        expect(cost.min).toBeLessThanOrEqual(cost.max);
      },
    ),
    { numRuns: 40 },
  );
});
