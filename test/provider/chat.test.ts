// What the stand-in says in the chat dialect, seen through plain fetch and the official client.

import { afterAll, expect, test } from "bun:test";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import OpenAI from "openai";
import { ask, chatBody, eventsOf, jsonOf } from "./asking.ts";
import { startProvider } from "./provider.ts";

const provider = startProvider();
afterAll(() => provider.close());

const client = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: "sk-client-0001", maxRetries: 0 });

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

test.each([
  [{ model: undefined }, "you must provide a model parameter"],
  [{ messages: undefined }, "Missing required parameter: 'messages'."],
  [{ stream_options: { include_usage: true } }, "The 'stream_options' parameter is only allowed when"],
])("a request lacking sense is a 400: %j", async (extra, message) => {
  const response = await ask(provider, "hi", extra);
  expect(response.status).toBe(400);
  expect((await jsonOf(response)).error.message).toStartWith(message);
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
  expect(provider.calls().at(-1)!.query).toBe("api-version=2024-10-21");
});
