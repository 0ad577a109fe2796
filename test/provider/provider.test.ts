// The stand-in's answers, accounts and behaviours, seen through plain fetch and the official client.
// What goes wrong on purpose is in faults.test.ts.

import { afterAll, expect, test } from "bun:test";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import OpenAI from "openai";
import { ask, chatBody, eventsOf, jsonOf, until } from "./asking.ts";
import { startProvider } from "./provider.ts";

const provider = startProvider();
afterAll(() => provider.close());

const client = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: "sk-client-0001", maxRetries: 0 });
const lastCall = (key: string) => provider.calls().findLast((call) => call.key === key)!;

test("a whole answer echoes the message, adds words and counts both", async () => {
  const body = await jsonOf(await ask(provider, "Good morning dear machine"));
  expect(body.object).toBe("chat.completion");
  expect(body.choices[0].message.content).toStartWith("Good morning dear machine time year");
  expect(body.choices[0].finish_reason).toBe("stop");
  expect(body.usage).toEqual({ prompt_tokens: 10, completion_tokens: 12, total_tokens: 22 });
});

test("the same request gets the same words", async () => {
  const [one, two] = await Promise.all([ask(provider, "same"), ask(provider, "same")]);
  expect((await jsonOf(one)).choices).toEqual((await jsonOf(two)).choices);
});

test("one word of the stand-in is one token of o200k", async () => {
  const body = await jsonOf(await ask(provider, "[[output=64]]"));
  expect(encode(body.choices[0].message.content)).toHaveLength(64);
});

test("the official client reads a stream with its usage at the end", async () => {
  const stream = await client.chat.completions.create({
    model: "gpt-4o",
    messages: [{ role: "user", content: "Hi [[output=5 prompt=100 cached=60]]" }],
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = await Array.fromAsync(stream);
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");
  expect(text).toBe("Hi time year people way");
  expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
  expect(chunks.at(-1)!.choices).toEqual([]);
  expect(chunks.at(-1)!.usage).toEqual({
    prompt_tokens: 100,
    completion_tokens: 5,
    total_tokens: 105,
    prompt_tokens_details: { cached_tokens: 60 },
  });
});

test("a stream does not speak of usage unless asked, and ends with [DONE]", async () => {
  const text = await (await ask(provider, "Hi", { stream: true })).text();
  expect(text).not.toContain('"usage"');
  expect(text).toEndWith("data: [DONE]\n\n");
});

test("the choices of n > 1 interleave and usage covers them all", async () => {
  const extra = { n: 3, stream: true, stream_options: { include_usage: true } };
  const events = await eventsOf(await ask(provider, "[[output=4]]", extra));
  const order = events.flatMap((event) => event.choices.map((choice: { index: number }) => choice.index));
  expect(order.slice(0, 6)).toEqual([0, 1, 2, 0, 1, 2]);
  expect(events.at(-1).usage.completion_tokens).toBe(12);
  const whole = await jsonOf(await ask(provider, "[[output=4]]", { n: 3 }));
  expect(whole.choices).toHaveLength(3);
  expect(whole.usage.completion_tokens).toBe(12);
});

test.each(["max_tokens", "max_completion_tokens"])("%s ends an answer with length", async (field) => {
  const body = await jsonOf(await ask(provider, "[[output=50]]", { [field]: 7 }));
  expect(body.choices[0].finish_reason).toBe("length");
  expect(body.usage.completion_tokens).toBe(7);
});

test("counts of a kind are reported inside their totals", async () => {
  const knobs = "[[prompt=2006 cached=1920 cache_write=6 audio_in=10 output=300 reasoning=200 audio_out=50]]";
  const { usage } = await jsonOf(await ask(provider, knobs));
  expect(usage).toEqual({
    prompt_tokens: 2006,
    completion_tokens: 300,
    total_tokens: 2306,
    prompt_tokens_details: { cached_tokens: 1920, cache_write_tokens: 6, audio_tokens: 10 },
    completion_tokens_details: { reasoning_tokens: 200, audio_tokens: 50 },
  });
});

test("think sends the reasoning as text of its own", async () => {
  const knobs = "[[think reasoning=4 output=6]]";
  const whole = await jsonOf(await ask(provider, knobs));
  const events = await eventsOf(await ask(provider, knobs, { stream: true }));
  const streamed = events.map((event) => event.choices[0].delta.reasoning_content ?? "").join("");
  expect(streamed.split(" ")).toHaveLength(4);
  expect(whole.choices[0].message.reasoning_content).toBe(streamed);
});

const TOOLS = [
  { type: "function" as const, function: { name: "look_up", parameters: { type: "object" } } },
  { type: "function" as const, function: { name: "add", parameters: { type: "object" } } },
];

test("a tool is called when tools are given and asked, and its answer gets words", async () => {
  const messages = [{ role: "user" as const, content: "Paris weather [[tool=2]]" }];
  const first = await client.chat.completions.create({ model: "gpt-4o", messages, tools: TOOLS });
  const [choice] = first.choices;
  expect(choice!.finish_reason).toBe("tool_calls");
  const calls = choice!.message.tool_calls!.map((call) => call.type === "function" && call.function);
  expect(calls).toEqual([
    { name: "look_up", arguments: '{"text":"Paris weather"}' },
    { name: "add", arguments: '{"text":"Paris weather"}' },
  ]);
  const answers = choice!.message.tool_calls!.map((call) => ({
    role: "tool" as const,
    tool_call_id: call.id,
    content: "sunny",
  }));
  const second = await client.chat.completions.create({
    model: "gpt-4o",
    messages: [...messages, choice!.message, ...answers],
    tools: TOOLS,
  });
  expect(second.choices[0]!.finish_reason).toBe("stop");
});

test.each(["fragments", "whole", "repeat_id", "no_index", "zero_index"])(
  "streamed tool calls come as %s and hold the same arguments",
  async (form) => {
    const events = await eventsOf(
      await ask(provider, `Paris [[tool=2 tool_form=${form}]]`, { stream: true, tools: TOOLS }),
    );
    const parts = events.flatMap((event) => event.choices[0].delta.tool_calls ?? []);
    expect(parts.map((part) => part.function.arguments).join("")).toBe('{"text":"Paris"}'.repeat(2));
    expect(parts.map((part) => part.function.name).filter(Boolean)).toEqual(["look_up", "add"]);
    expect(new Set(parts.map((part) => part.index)).size).toBe(
      ["no_index", "zero_index"].includes(form) ? 1 : 2,
    );
  },
);

const COMMON = { prompt_tokens: 50, completion_tokens: 5, total_tokens: 55 };
const WITH_CACHED = { ...COMMON, prompt_tokens_details: { cached_tokens: 20 } };

test.each([
  ["none", [], undefined],
  ["zero", ["own"], { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
  ["last_chunk", ["finish"], WITH_CACHED],
  ["cumulative", ["every"], WITH_CACHED],
  ["null_details", ["own"], { ...COMMON, prompt_tokens_details: null, completion_tokens_details: null }],
  ["deepseek", ["finish"], { ...WITH_CACHED, prompt_cache_hit_tokens: 20, prompt_cache_miss_tokens: 30 }],
  ["moonshot", ["finish"], { ...COMMON, cached_tokens: 20 }],
])("usage=%s is carried so in a stream and in a whole answer", async (form, [place], expected) => {
  const knobs = `[[usage=${form} prompt=50 output=5 cached=20]]`;
  const extra = { stream: true, stream_options: { include_usage: true } };
  const events = await eventsOf(await ask(provider, knobs, extra));
  const carrying = events.filter((event) => event.usage);
  if (place === undefined) expect(carrying).toHaveLength(0);
  else expect(carrying.at(-1).usage).toEqual(expected);
  if (place === "own") expect(carrying.map((event) => event.choices)).toEqual([[]]);
  if (place === "finish") expect(carrying.map((event) => event.choices[0].finish_reason)).toEqual(["stop"]);
  if (place === "every") {
    const counts = carrying.map((event) => event.usage.completion_tokens);
    expect(counts).toEqual([0, 1, 2, 3, 4, 5, 5]);
  }
  expect((await jsonOf(await ask(provider, knobs))).usage).toEqual(expected);
});

test("usage=always comes unasked, usage=garbage is garbage, usage=beside leaves reasoning out", async () => {
  const always = await eventsOf(await ask(provider, "[[usage=always]]", { stream: true }));
  expect(always.at(-1).usage.total_tokens).toBeGreaterThan(0);
  const garbage = await jsonOf(await ask(provider, "[[usage=garbage]]"));
  expect(garbage.usage).toMatchObject({ prompt_tokens: -5, completion_tokens: "12", total_tokens: 1e300 });
  const beside = await jsonOf(await ask(provider, "[[usage=beside prompt=10 output=30 reasoning=20]]"));
  expect(beside.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 10, total_tokens: 40 });
});

test("the memory of a call holds what came, without secrets, and the true count", async () => {
  const response = await fetch(`${provider.url}/v1/chat/completions?x=1`, {
    method: "POST",
    headers: { authorization: "Bearer sk-memory-0002", "x-forwarded-for": "10.0.0.1", cookie: "a=b" },
    body: JSON.stringify(chatBody("Remember [[usage=none prompt=9 output=3]]")),
  });
  await response.text();
  const call = lastCall("0002");
  expect(call).toMatchObject({
    path: "/v1/chat/completions",
    query: "x=1",
    model: "gpt-4o",
    stream: false,
    status: 200,
    outcome: "complete",
    aborted: false,
    usage: { prompt: 9, completion: 3, cached: 0 },
  });
  expect(call.headers).toMatchObject({ "x-forwarded-for": "10.0.0.1", cookie: "a=b" });
  expect(call.headers).not.toHaveProperty("authorization");
  expect(call.startedAt).toBeWithin(Date.now() - 60_000, Date.now() + 1);
});

test("a client that leaves a stream is seen, and only what was generated is counted", async () => {
  const leaving = new AbortController();
  const response = await ask(
    provider,
    "[[output=500 chunk_ms=5]]",
    { stream: true },
    "sk-leaver-0003",
    leaving.signal,
  );
  const reader = response.body!.getReader();
  await reader.read();
  expect(lastCall("0003").outcome).toBeNull();
  leaving.abort();
  await until(() => lastCall("0003").outcome !== null);
  const call = lastCall("0003");
  expect(call).toMatchObject({ aborted: true, outcome: "aborted" });
  expect(call.usage!.completion).toBeLessThan(100);
});

test("calls in flight are counted, and their peak", async () => {
  const own = startProvider();
  const answers = Array.from({ length: 8 }, () => ask(own, "[[head_ms=60]]"));
  await until(() => own.inFlight() === 8);
  await Promise.all((await Promise.all(answers)).map((response) => response.text()));
  expect(own.inFlight()).toBe(0);
  expect(own.peakInFlight()).toBe(8);
  own.reset();
  expect(own.calls()).toHaveLength(0);
  expect(own.peakInFlight()).toBe(0);
  own.close();
});

test("a key behaves as told over what the request says, for so many calls", async () => {
  const bad = "sk-bad-0004";
  provider.behave(bad, "fault=429 retry=7", 2);
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await ask(provider, "[[output=3]]", {}, bad)).status);
  expect(statuses).toEqual([429, 429, 200]);
  provider.behave(bad, "fault=500");
  expect((await ask(provider, "hi", {}, bad)).status).toBe(500);
  provider.behave(bad, null);
  expect((await ask(provider, "hi", {}, bad)).status).toBe(200);
  provider.behave(bad, "fault=none");
  expect((await ask(provider, "[[fault=500]]", {}, bad)).status).toBe(200);
});

test("a marker may be for one key, one model or each n-th call", async () => {
  const text = "[[fault=500 key=0005]] [[fault=503 model=gpt-4o-mini]]";
  expect((await ask(provider, text, {}, "sk-marked-0005")).status).toBe(500);
  expect((await ask(provider, text, {}, "sk-other-0006")).status).toBe(200);
  expect((await ask(provider, text, { model: "gpt-4o-mini" }, "sk-other-0006")).status).toBe(503);
  const statuses = [];
  for (let i = 0; i < 4; i++) {
    statuses.push((await ask(provider, "[[fault=500 every=2]]", {}, "sk-every-0007")).status);
  }
  expect(statuses).toEqual([200, 500, 200, 500]);
});

test("only the last user message is read for markers", async () => {
  const messages = [
    { role: "user", content: "[[fault=500]]" },
    { role: "assistant", content: "sorry [[fault=502]]" },
    { role: "user", content: [{ type: "text", text: "again [[output=2]]" }] },
  ];
  const response = await ask(provider, "", { messages });
  expect(response.status).toBe(200);
  expect((await jsonOf(response)).usage.completion_tokens).toBe(2);
});

test.each(["[[falt=500]]", "[[fault=brake]]", "[[output=many]]", "[[usage=some]]"])(
  "the mistaken script %s is refused by name",
  async (text) => {
    const response = await ask(provider, text);
    expect(response.status).toBe(400);
    expect((await jsonOf(response)).error.code).toBe("bad_script");
  },
);

test.each([
  [{ model: undefined }, "you must provide a model parameter"],
  [{ messages: undefined }, "Missing required parameter: 'messages'."],
  [{ stream_options: { include_usage: true } }, "The 'stream_options' parameter is only allowed when"],
])("a request lacking sense is a 400: %j", async (extra, message) => {
  const response = await ask(provider, "hi", extra);
  expect(response.status).toBe(400);
  expect((await jsonOf(response)).error.message).toStartWith(message);
});

test("no key is a 401, an unknown path a 404, a broken body a 400", async () => {
  const bare = await fetch(`${provider.url}/v1/chat/completions`, { method: "POST", body: "{}" });
  expect([bare.status, (await jsonOf(bare)).error.type]).toEqual([401, "invalid_request_error"]);
  const headers = { authorization: "Bearer sk-a" };
  expect((await fetch(`${provider.url}/v1/nothing`, { headers })).status).toBe(404);
  const broken = await fetch(`${provider.url}/v1/chat/completions`, { method: "POST", headers, body: "{" });
  expect(broken.status).toBe(400);
});

test("models are listed", async () => {
  const models = await Array.fromAsync(client.models.list());
  expect(models.map((model) => model.id)).toContain("gpt-4o");
});

test("a deployment path takes api-key", async () => {
  const response = await fetch(
    `${provider.url}/openai/deployments/mine/chat/completions?api-version=2024-10-21`,
    {
      method: "POST",
      headers: { "api-key": "sk-azure-0008" },
      body: JSON.stringify(chatBody("hi")),
    },
  );
  expect(response.status).toBe(200);
  await response.text();
  expect(lastCall("0008").query).toBe("api-version=2024-10-21");
});

test("large bodies, chunked bodies and many calls on one connection are read whole", async () => {
  const long = "word ".repeat(200_000);
  expect((await jsonOf(await ask(provider, `${long}[[output=1]]`))).usage.prompt_tokens).toBe(200_006);
  const body = JSON.stringify(chatBody("chunked größe [[output=1]]"));
  const streamed = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (const byte of Buffer.from(body)) {
        controller.enqueue(Uint8Array.of(byte));
        if (byte === 0xc3) await Bun.sleep(2);
      }
      controller.close();
    },
  });
  const response = await fetch(`${provider.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: "Bearer sk-chunked" },
    body: streamed,
  });
  expect((await jsonOf(response)).choices[0].message.content).toBe("chunked");
  for (let i = 0; i < 50; i++) expect((await ask(provider, "hi")).status).toBe(200);
});

test("without memory only totals are kept", async () => {
  const own = startProvider({ remember: false });
  await (await ask(own, "[[prompt=10 output=4]]")).text();
  await (await ask(own, "[[fault=500]]")).text();
  expect(own.calls()).toHaveLength(0);
  expect(own.totals()).toMatchObject({ calls: 2, refused: 1, promptTokens: 10, completionTokens: 4 });
  own.close();
});

test("plain answers are ready-made: one whole, one stream of a hundred events", async () => {
  const own = startProvider({ plain: true });
  const whole = await jsonOf(await ask(own, "anything"));
  expect(whole.usage.completion_tokens).toBe(96);
  const text = await (await ask(own, "anything", { stream: true })).text();
  expect(text.split("\n\n").filter(Boolean)).toHaveLength(100);
  expect(own.totals()).toMatchObject({ calls: 2, complete: 2, completionTokens: 192 });
  own.close();
});
