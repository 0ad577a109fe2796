// The path of a request that goes well: what the client gets, what the provider gets, and that told, charged and booked
// are one number.

import { describe, expect, test } from "bun:test";
import { asking, charges, fresh, MODEL, nano } from "./harness.ts";
import { streamChat } from "./streaming.ts";
import { prepared, useBench } from "./use-bench.ts";

const bench = useBench();
const owner = prepared(() => bench.owner());
const user = prepared(() => bench.subaccount(owner));

const lastCall = () => bench.provider.calls().at(-1)!;
const lastCharge = async () => charges(await bench.ledger(user.key)).at(-1)!;

describe("a whole answer", () => {
  test("is a chat.completion with the fields of the specification", async () => {
    const { status, body } = await bench.chat(user.key, "hello there [[output=6]]");
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: "chat.completion", model: MODEL });
    expect(body.id).toBeString();
    expect(body.created).toBeInteger();
    expect(body.system_fingerprint).toBeString();
    expect(body.choices).toHaveLength(1);
    expect(body.choices[0]).toMatchObject({ index: 0, finish_reason: "stop" });
    expect(body.choices[0].message).toMatchObject({
      role: "assistant",
      content: "hello there time year people way",
    });
    expect(body.usage).toEqual({ prompt_tokens: 8, completion_tokens: 6, total_tokens: 14 });
  });

  test("carries model, Level, attempts and cost, and the cost equals the ledger and the balance to the last digit", async () => {
    const before = await bench.balance(user.key);
    const { headers } = await bench.chat(user.key, "price me [[prompt=123 output=77 cached=23]]");
    const line = await lastCharge();
    expect(headers.get("x-arbor-model")).toBe(MODEL);
    expect(headers.get("x-arbor-level")).toBe("1");
    expect(headers.get("x-arbor-attempts")).toBe("1");
    // 100 x 1 + 23 x 0.5 + 77 x 2 millionths of a dollar.
    expect(headers.get("x-arbor-cost")).toBe("0.0002655");
    expect(line).toMatchObject({
      amount: -0.0002655,
      basis: "provider",
      prompt_tokens: 123,
      completion_tokens: 77,
    });
    expect(nano(before) - nano(await bench.balance(user.key))).toBe(265_500);
  });

  test("with n choices has n, and all of them are charged", async () => {
    const { body, headers } = await bench.chat(user.key, "three [[output=5]]", { n: 3, max_tokens: 5 });
    expect(body.choices.map((choice: { index: number }) => choice.index)).toEqual([0, 1, 2]);
    expect(body.usage.completion_tokens).toBe(15);
    expect(nano(headers.get("x-arbor-cost")!)).toBe(body.usage.prompt_tokens * 1_000 + 15 * 2_000);
  });

  test("may be as large as it likes: a field of 2 MB arrives whole", async () => {
    const { status, text } = await bench.chat(user.key, "[[fault=huge]]");
    expect(status).toBe(200);
    expect(text.length).toBeGreaterThan(2 * 1024 * 1024);
  });
});

describe("a streamed answer", () => {
  test("is chat.completion.chunk events and ends with [DONE]", async () => {
    const stream = await streamChat(bench, user.key, "hello there [[output=6]]");
    expect(stream.status).toBe(200);
    expect(stream.headers.get("content-type")).toStartWith("text/event-stream");
    expect(stream.events.every((event) => event.object === "chat.completion.chunk")).toBe(true);
    expect(stream.said).toBe("hello there time year people way");
    expect(stream.done).toBe(true);
    expect(stream.text).toEndWith("data: [DONE]\n\n");
  });

  test("has its usage chunk when include_usage asks, and none otherwise; the provider is asked either way", async () => {
    const asked = await streamChat(bench, user.key, "[[output=4]]", {
      stream_options: { include_usage: true },
    });
    expect(lastCall().body).toMatchObject({ stream_options: { include_usage: true } });
    expect(asked.events.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 4 } });
    const silent = await streamChat(bench, user.key, "[[output=4]]");
    expect(lastCall().body).toMatchObject({ stream_options: { include_usage: true } });
    expect(silent.usage).toBeUndefined();
    expect(silent.events.every((event) => event.choices.length > 0)).toBe(true);
    expect(silent.cost).toBe(asked.cost);
  });

  test("has its cost in a comment right before [DONE] when asked with x-arbor-cost: stream, and only then", async () => {
    const asked = await streamChat(bench, user.key, "[[prompt=50 output=25]]");
    expect(asked.text).toEndWith("\n\n: cost=0.0001\n\ndata: [DONE]\n\n");
    expect((await lastCharge()).amount).toBe(-0.0001);
    const silent = await streamChat(bench, user.key, "[[output=4]]", {}, { "x-arbor-cost": "" });
    expect(silent.comments).toEqual([]);
    expect(silent.headers.has("x-arbor-cost")).toBe(false);
  });

  test("carries model, Level and attempts on its head", async () => {
    const { headers } = await streamChat(bench, user.key, "[[output=1]]");
    expect(headers.get("x-arbor-model")).toBe(MODEL);
    expect(headers.get("x-arbor-level")).toBe("1");
    expect(headers.get("x-arbor-attempts")).toBe("1");
  });
});

describe("x-request-id", () => {
  const fit = [
    "abc",
    "a b/c:~!",
    "x".repeat(128),
    `${"9".repeat(20)}`,
    '{"not":"json"}',
    "prototype",
    "__proto__",
  ];
  test.each(fit)("is the client's when it is fit: %s", async (id) => {
    const whole = await bench.chat(user.key, "[[output=1]]", {}, { headers: { "x-request-id": id } });
    expect(whole.headers.get("x-request-id")).toBe(id);
    expect(await lastCharge()).toMatchObject({ request_id: id });
    const stream = await streamChat(bench, user.key, "[[output=1]]", {}, { "x-request-id": id });
    expect(stream.headers.get("x-request-id")).toBe(id);
  });

  test.each(["", "x".repeat(129), "caf\u00e9"])("is a fresh one when it is not: %s", async (id) => {
    const answer = await bench.chat(user.key, "[[output=1]]", {}, { headers: { "x-request-id": id } });
    const given = answer.headers.get("x-request-id")!;
    expect(given).toMatch(/^[0-9A-Z]{26}$/);
    expect(await lastCharge()).toMatchObject({ request_id: given, id: given });
  });

  test("the same one twice is two charges with two ids", async () => {
    const headers = { "x-request-id": `twice-${fresh()}` };
    for (let i = 0; i < 2; i++) await bench.chat(user.key, "[[output=1]]", {}, { headers });
    const lines = charges(await bench.ledger(user.key)).slice(-2);
    expect(lines.map((line) => line.request_id)).toEqual([headers["x-request-id"], headers["x-request-id"]]);
    expect(new Set(lines.map((line) => line.id)).size).toBe(2);
  });
});

describe("the provider", () => {
  test("gets unknown fields unchanged, its own secret and the model, and nothing of ours", async () => {
    const unknown = {
      temperature: 0.25,
      seed: 7,
      metadata: { a: [1, { b: null }], "\u00fc": "\u{1f389}" },
      logit_bias: { 50256: -100 },
      future_field: true,
    };
    const sent = { ...unknown, max_tokens: 9, stop: ["\n\n"] };
    await bench.chat(user.key, "pass it on [[output=2]]", sent, {
      headers: {
        "x-request-id": "only-ours",
        "x-api-key": user.key,
        cookie: "session=ours",
        "x-forwarded-for": "203.0.113.9",
        "idempotency-key": "ours",
      },
    });
    const call = lastCall();
    expect(call.body).toEqual({ ...asking("pass it on [[output=2]]"), ...sent });
    expect(call.path).toBe("/v1/chat/completions");
    expect(call.key).toBe(owner.secrets[0]!.slice(-4));
    const everythingSent = JSON.stringify([call.headers, call.body]);
    for (const ours of [
      user.key,
      "only-ours",
      "session=ours",
      "203.0.113.9",
      "x-arbor",
      "idempotency",
      '"x-request-id"',
    ]) {
      expect(everythingSent).not.toContain(ours);
    }
  });

  test("keeps its rate limits, organisation, cookies and ids to itself", async () => {
    for (const answer of [
      await bench.chat(user.key, "[[output=1]]"),
      await streamChat(bench, user.key, "[[output=1]]"),
    ]) {
      const names = [...answer.headers.keys()];
      for (const name of [
        "openai-organization",
        "openai-processing-ms",
        "set-cookie",
        "server",
        "x-ratelimit-limit-requests",
      ]) {
        expect(names).not.toContain(name);
      }
      expect(answer.headers.get("x-request-id")).not.toStartWith("req_");
    }
  });
});

describe("a client", () => {
  test("may send its key as x-api-key on /v1", async () => {
    const answer = await bench.call(null, "POST", "/v1/chat/completions", asking("[[output=1]]"), {
      headers: { "x-api-key": user.key },
    });
    expect(answer.status).toBe(200);
  });

  test("reads rate limits of the tightest window in the headers, and none without limits", async () => {
    expect((await bench.chat(user.key, "[[output=1]]")).headers.has("x-ratelimit-limit-requests")).toBe(
      false,
    );
    const owner = await bench.owner();
    const limited = await bench.subaccount(owner, { RPM: 5, RPD: 3, TPM: 100_000 });
    const { headers } = await bench.chat(limited.key, "[[output=1]]", { max_tokens: 100 });
    expect(headers.get("x-ratelimit-limit-requests")).toBe("3");
    expect(headers.get("x-ratelimit-remaining-requests")).toBe("2");
    expect(headers.get("x-ratelimit-limit-tokens")).toBe("100000");
    expect(Number(headers.get("x-ratelimit-remaining-tokens"))).toBeWithin(99_000, 99_900);
    expect(headers.get("x-ratelimit-reset-requests")).toMatch(/^\d+s$/);
  });
});

test.each(["\u00fcml\u00e4ut \u{1f680}", "two\nlines", "a\r\nset-cookie: x=1", "\ud800 alone", "100%"])(
  "a model of any name (%j) is served and charged, and its name cannot break a header",
  async (model) => {
    const owner = await bench.owner({ pricing: { ChatPricing: { "*": { InputText: 1, OutputText: 1 } } } });
    const child = await bench.subaccount(owner);
    const whole = await bench.chat(child.key, "[[output=1]]", { model });
    const stream = await streamChat(bench, child.key, "[[output=1]]", { model });
    expect([whole.status, stream.status, stream.done]).toEqual([200, 200, true]);
    expect(whole.headers.get("x-arbor-model")).toMatch(/^[\x21-\x7e]+$/);
    expect(whole.headers.has("set-cookie")).toBe(false);
    expect(charges(await bench.ledger(child.key))).toHaveLength(2);
  },
);
