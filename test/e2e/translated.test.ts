// A request in one style at a key of the other, end to end: who is charged what, to the last digit as if nothing had been
// translated; and all that a client sees around the answer: heads, errors, repeats, costs.

import { describe, expect, test } from "bun:test";
import type { ApiStyle } from "../../src/gateway/codec/key-formats.ts";
import { type Account, charges, type Json, jsonOf, MODEL, nano } from "./harness.ts";
import { ask } from "./harness-keys.ts";
import { readStream } from "./streaming.ts";
import { prepared, useBench } from "./use-bench.ts";

const PRICE = { InputText: 1, OutputText: 2, CachedText: 0.5, CacheWrite: 4, ReasonText: 8 };
const STYLES = ["chat", "messages"] as const;
const OTHER: Readonly<Record<ApiStyle, ApiStyle>> = { chat: "messages", messages: "chat" };

const bench = useBench({ settings: { KEY_FAILURES: "1000" } });
const at = async (style: ApiStyle) =>
  bench.subaccount(await bench.owner({ style, pricing: { ChatPricing: { [MODEL]: PRICE } } }));
/** For each style: an account whose only key speaks it, and one whose only key speaks the other. */
const straight = prepared(async () => ({ chat: await at("chat"), messages: await at("messages") }));
const across = prepared(async () => ({ chat: await at("messages"), messages: await at("chat") }));

const lastCharge = async ({ key }: Account): Promise<Json> => charges(await bench.ledger(key)).at(-1);
const lastCall = () => bench.provider.calls().at(-1)!;
const PATHS: Readonly<Record<ApiStyle, string>> = { chat: "/v1/chat/completions", messages: "/v1/messages" };
const COST = { "x-arbor-cost": "stream" };

/** Events of a messages stream by their data, and the comments before each. */
const eventsOf = (text: string): Json[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => jsonOf(line.slice("data: ".length)));

describe("costs to the nano-dollar what the same answer costs untranslated", () => {
  const PARTS = "prompt=100 cached=40 cache_write=10 output=30 reasoning=12";
  const EXACT = 50 * 1_000 + 40 * 500 + 10 * 4_000 + 18 * 2_000 + 12 * 8_000;
  const ROWS: readonly (readonly [what: string, script: string, cost: number | null])[] = [
    ["cache buckets and thinking", PARTS, EXACT],
    ["everything from the cache", "prompt=80 cached=80 output=5", 80 * 500 + 5 * 2_000],
    ["plain", "prompt=7 output=3", 7 * 1_000 + 3 * 2_000],
    ["nothing generated", "prompt=50 output=0", 50_000],
    ["shown thinking", "prompt=20 output=30 reasoning=12 think", 20_000 + 18 * 2_000 + 12 * 8_000],
    // Neither provider reports usage: it is counted, and the same texts are the same tokens.
    ["usage that never comes", "output=20 usage=none", null],
    ["usage of zeros", "output=20 usage=zero", null],
  ];
  for (const style of STYLES)
    for (const stream of [false, true])
      test.each(ROWS)(`${style}, ${stream ? "streamed" : "whole"}: %s`, async (_, script, cost) => {
        const asked = { style, stream, said: `count these words [[${script}]]`, headers: COST };
        const plain = await ask(bench, straight[style], asked);
        const expected = await lastCharge(straight[style]);
        const answer = await ask(bench, across[style], asked);
        const line = await lastCharge(across[style]);
        expect([plain.result, answer.result]).toEqual(["200", "200"]);
        if (cost !== null) expect(-nano(expected.amount)).toBe(cost);
        const { amount, basis, prompt_tokens, completion_tokens } = expected;
        expect(line).toMatchObject({ amount, basis, prompt_tokens, completion_tokens, path: PATHS[style] });
        expect(basis).toBe(cost === null ? "estimate" : "provider");
        const reportedCost = stream
          ? /^: cost=(\S+)$/m.exec(answer.text)?.[1]
          : answer.headers.get("x-arbor-cost");
        expect(nano(reportedCost!)).toBe(-nano(line.amount));
        expect(lastCall().path).toEndWith(PATHS[OTHER[style]]);
      });
});

describe("the usage that a client reads is the one it pays for", () => {
  const said = "[[prompt=100 cached=40 cache_write=10 output=30 reasoning=12]]";
  const CHAT_USAGE = {
    prompt_tokens: 100,
    completion_tokens: 30,
    total_tokens: 130,
    prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 10 },
    completion_tokens_details: { reasoning_tokens: 12 },
  };
  const MESSAGES_USAGE = {
    input_tokens: 50,
    cache_creation_input_tokens: 10,
    cache_read_input_tokens: 40,
    output_tokens: 30,
  };

  test("chat, whole", async () => {
    expect((await ask(bench, across.chat, { said })).body.usage).toEqual(CHAT_USAGE);
  });
  test("chat, streamed: for a client that asks", async () => {
    const more = { stream_options: { include_usage: true } };
    const { status, headers, text } = await ask(bench, across.chat, { said, stream: true, more });
    const { usage, events } = readStream(status, headers, text);
    expect(usage).toEqual(CHAT_USAGE);
    expect(events.at(-1).choices).toEqual([]);
  });
  test("chat, streamed: not for one that does not", async () => {
    expect((await ask(bench, across.chat, { said, stream: true })).text).not.toContain("usage");
  });
  test("messages, whole", async () => {
    const { body } = await ask(bench, across.messages, { said, style: "messages" });
    expect(body.usage).toMatchObject(MESSAGES_USAGE);
  });
  test("messages, streamed", async () => {
    const { text } = await ask(bench, across.messages, { said, style: "messages", stream: true });
    const delta = eventsOf(text).find(({ type }) => type === "message_delta");
    expect(delta.usage).toMatchObject(MESSAGES_USAGE);
    // The provider was asked for it, whatever the client knows of such options.
    expect(lastCall().body).toMatchObject({ stream_options: { include_usage: true } });
  });
});

describe("the cost stands in a comment right before the closing event, for who asks", () => {
  test("chat", async () => {
    const { text } = await ask(bench, across.chat, { stream: true, headers: COST });
    expect(text).toMatch(/\n\n: cost=\S+\n\ndata: \[DONE\]\n\n$/);
    expect((await ask(bench, across.chat, { stream: true })).text).not.toContain(": cost=");
  });
  test("messages", async () => {
    const { text } = await ask(bench, across.messages, { style: "messages", stream: true, headers: COST });
    expect(text).toMatch(/\n\n: cost=\S+\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n$/);
  });
});

describe("the head of an answer", () => {
  test("has a fingerprint for chat clients, the same whole and streamed", async () => {
    const whole = (await ask(bench, across.chat)).body.system_fingerprint;
    expect(whole).toMatch(/^fp_[0-9a-f]{10}$/);
    const { status, headers, text } = await ask(bench, across.chat, { stream: true });
    const { events } = readStream(status, headers, text);
    expect(new Set(events.map((event) => event.system_fingerprint))).toEqual(new Set([whole]));
  });

  test("has limits, ids and our own headers in the client's style", async () => {
    for (const style of STYLES) {
      const owner = await bench.owner({ style: OTHER[style] });
      const limited = await bench.subaccount(owner, { RPM: 9 });
      const { headers } = await ask(bench, limited, { style });
      expect(headers.get("x-ratelimit-limit-requests")).toBe(style === "chat" ? "9" : null);
      expect(headers.get("anthropic-ratelimit-requests-limit")).toBe(style === "chat" ? null : "9");
      expect(headers.has("request-id")).toBe(style === "messages");
      expect([headers.get("x-arbor-model"), headers.get("x-arbor-attempts")]).toEqual([MODEL, "1"]);
    }
  });

  test("names the model as it is mapped, and an answer has ids of the client's style", async () => {
    const chat = await ask(bench, across.chat);
    expect(chat.body).toMatchObject({ object: "chat.completion", model: MODEL });
    expect(chat.body.id).toStartWith("chatcmpl-");
    const message = await ask(bench, across.messages, { style: "messages" });
    expect(message.body).toMatchObject({ type: "message", role: "assistant", model: MODEL });
    expect(message.body.id).toStartWith("msg_");
  });
});

describe("what goes to the provider", () => {
  const headers = { "openai-beta": "x=1", "anthropic-version": "2024-01-01", "anthropic-beta": "y" };
  const sent = () => lastCall().headers;
  test("has the version that was written, and no features that the client asked for by header", async () => {
    await ask(bench, across.chat, { headers });
    expect(sent()["anthropic-version"]).toBe("2023-06-01");
    expect([sent()["anthropic-beta"], sent()["openai-beta"]]).toEqual([undefined, undefined]);
    await ask(bench, across.messages, { style: "messages", headers });
    expect([sent()["anthropic-version"], sent()["anthropic-beta"]]).toEqual([undefined, undefined]);
  });
  test("has no features of the other maker in the messages style either", async () => {
    await ask(bench, straight.messages, { style: "messages", headers });
    expect(sent()).toMatchObject({ "anthropic-version": "2024-01-01", "anthropic-beta": "y" });
    expect(sent()["openai-beta"]).toBeUndefined();
  });
  test("is all of a large body", async () => {
    const data = Buffer.alloc(2_000_000, "picture").toString("base64");
    const png = `iVBORw0KGgo${data}`;
    const text = { type: "text", text: "[[output=2]]" };
    const forChat = [text, { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } }];
    const source = { type: "base64", media_type: "image/png", data: png };
    const forMessages = [text, { type: "image", source }];
    const asked = (content: object[]) => ({ more: { messages: [{ role: "user", content }] } });
    expect((await ask(bench, across.chat, asked(forChat))).result).toBe("200");
    expect(lastCall().body).toMatchObject({ messages: [{ content: forMessages }] });
    expect((await ask(bench, across.messages, { style: "messages", ...asked(forMessages) })).result).toBe(
      "200",
    );
    expect(lastCall().body).toMatchObject({ messages: [{ content: forChat }] });
  });
});

describe("an error", () => {
  const ERRORS: readonly (readonly [ApiStyle, string, number, type: string, code: string])[] = [
    ["chat", "400", 400, "invalid_request_error", "upstream_rejected"],
    ["chat", "409", 409, "invalid_request_error", "conflict"],
    ["chat", "413", 413, "invalid_request_error", "request_too_large"],
    ["messages", "400", 400, "invalid_request_error", "invalid_type"],
    ["messages", "409", 409, "conflict_error", "conflict"],
    ["messages", "413", 413, "request_too_large", "request_too_large"],
    ["messages", "422", 422, "invalid_request_error", "upstream_rejected"],
  ];
  test.each(ERRORS)(
    "%s: the provider's %s is said in the client's words",
    async (style, fault, ...expected) => {
      for (const stream of [false, true]) {
        const { status, body } = await ask(bench, across[style], {
          style,
          stream,
          said: `[[fault=${fault}]]`,
        });
        const { type, code, message } = body.error;
        expect([status, type, code]).toEqual(expected);
        expect(message).not.toBe("");
        expect(body.type).toBe(style === "messages" ? "error" : undefined);
      }
    },
  );

  test("inside a stream is an event of the client's style, and what was delivered is charged", async () => {
    for (const style of STYLES) {
      const said = "[[output=12 fault=error_event after=6]]";
      const { text, result } = await ask(bench, across[style], { style, stream: true, said });
      expect(result).toStartWith("cut ");
      const last = text.trimEnd().split("\n\n").at(-1)!;
      expect(last).toStartWith(style === "chat" ? 'data: {"error":{' : 'event: error\ndata: {"type":"error"');
      expect(text).not.toContain(style === "chat" ? "[DONE]" : "message_stop");
      expect(await lastCharge(across[style])).toMatchObject({ basis: "partial" });
    }
  });
});

describe("a repeat with the same Idempotency-Key", () => {
  test.each(STYLES)(
    "%s: gets the client's own bytes again, and is neither asked nor charged",
    async (style) => {
      const user = await bench.subaccount(await bench.owner({ style: OTHER[style] }));
      const calls = bench.provider.totals().calls;
      const headers = { "idempotency-key": "one" };
      const first = await ask(bench, user, { style, headers });
      const again = await ask(bench, user, { style, headers });
      expect([first.result, again.text]).toEqual(["200", first.text]);
      expect(again.headers.get("x-arbor-cost")).toBe(first.headers.get("x-arbor-cost"));
      expect(bench.provider.totals().calls - calls).toBe(1);
      expect(charges(await bench.ledger(user.key))).toHaveLength(1);
    },
  );
});

describe("where nothing is translated", () => {
  test("vectors at a provider of messages are a 400 that says so", async () => {
    const { status, body } = await bench.call(across.chat.key, "POST", "/v1/embeddings", {
      model: MODEL,
      input: "hi",
    });
    expect([status, body.error.code]).toEqual([400, "invalid_parameter"]);
    expect(body.error.message).toContain("not translated");
  });

  test("tokens are counted here for models whose providers do not count, free and without a call", async () => {
    const user = across.messages;
    const calls = bench.provider.totals().calls;
    const lines = (await bench.ledger(user.key)).length;
    const asked = { model: MODEL, messages: [{ role: "user", content: "one two three four five" }] };
    const counted = await bench.call(user.key, "POST", "/v1/messages/count_tokens", asked);
    expect(counted.status).toBe(200);
    expect(counted.body).toEqual({ input_tokens: expect.any(Number) });
    expect(counted.body.input_tokens).toBeWithin(5, 8);
    expect(counted.headers.get("x-arbor-cost")).toBe("0");
    expect(counted.headers.get("x-arbor-attempts")).toBe("0");
    expect(bench.provider.totals().calls).toBe(calls);
    expect((await bench.ledger(user.key)).length).toBe(lines);
    const quoted = { path: "/v1/messages/count_tokens", body: asked };
    expect((await bench.call(user.key, "POST", "/v1/quote", quoted)).body).toMatchObject({ admitted: true });
  });

  test("tokens are counted by the provider where it can, for nothing", async () => {
    const { key } = straight.messages;
    const calls = bench.provider.totals().calls;
    const lines = (await bench.ledger(key)).length;
    const asked = { model: MODEL, messages: [{ role: "user", content: "hi" }] };
    const { status, headers } = await bench.call(key, "POST", "/v1/messages/count_tokens", asked);
    expect([status, bench.provider.totals().calls - calls]).toEqual([200, 1]);
    expect(headers.get("x-arbor-cost")).toBe("0");
    expect((await bench.ledger(key)).length).toBe(lines);
  });
});
