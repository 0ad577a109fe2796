// What the stand-in says in the responses dialect, whole and streamed, seen through plain fetch and the official client.

import { afterAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { eventsOf, failure, type Json, jsonOf, post } from "./asking.ts";
import { startProvider } from "./provider.ts";

const provider = startProvider();
afterAll(() => provider.close());
const client = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: "sk-client-0001", maxRetries: 0 });
const ask = (input: unknown, extra: object = {}) =>
  post(provider, "/v1/responses", { model: "gpt-4o", input, ...extra });
const whole = async (input: unknown, extra: object = {}) => jsonOf(await ask(input, extra));
const streamed = async (input: unknown, extra: object = {}) =>
  eventsOf(await ask(input, { stream: true, ...extra }));
const typesOf = (events: readonly Json[]): string[] =>
  events.map(({ type }) => type.replace("response.", "")).filter((type, nth, all) => type !== all[nth - 1]);
const TOOLS = [
  { type: "function" as const, name: "look_up", parameters: { type: "object" }, strict: false },
  { type: "function" as const, name: "add", parameters: { type: "object" }, strict: false },
];

test("a whole answer echoes the last user's text and counts what came and went", async () => {
  const { output, usage, status, object } = await whole("Good morning [[cached=2 output=4]]");
  expect([object, status]).toEqual(["response", "completed"]);
  expect(output).toMatchObject([
    {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: "Good morning time year", annotations: [] }],
    },
  ]);
  expect(usage).toEqual({
    input_tokens: 8,
    input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
    output_tokens: 4,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 12,
  });
  expect(provider.calls().at(-1)!.usage).toMatchObject({ prompt: 8, completion: 4, cached: 2 });
});

test("instructions and the texts of items are the prompt", async () => {
  const input = [
    { role: "user", content: [{ type: "input_text", text: "one two" }] },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "three" }] },
    { role: "user", content: "four" },
  ];
  expect((await whole(input, { instructions: "be kind" })).usage.input_tokens).toBe(6 + 5 * 3);
});

test("a stream tells the message in the provider's order, numbered, and usage only at its end", async () => {
  const events = await streamed("Hi [[output=3]]");
  expect(typesOf(events)).toEqual([
    "created",
    "in_progress",
    "output_item.added",
    "content_part.added",
    "output_text.delta",
    "output_text.done",
    "content_part.done",
    "output_item.done",
    "completed",
  ]);
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, nth) => nth));
  expect(events.filter((event) => event.response?.usage != null)).toHaveLength(1);
  expect(events.at(-1).response.usage.output_tokens).toBe(3);
});

test("each event is named by its type, and no [DONE] follows", async () => {
  const text = await (await ask("Hi", { stream: true })).text();
  const names = Array.from(text.matchAll(/^event: (.*)\ndata: {"type":"(.*?)"/gm), ([, name, type]) => [
    name,
    type,
  ]);
  expect(names.every(([name, type]) => name === type)).toBe(true);
  expect(names).toHaveLength(text.match(/^data: /gm)!.length);
  expect(text).not.toContain("[DONE]");
});

test("a streamed answer ends as the whole one", async () => {
  const input = "Hi [[output=6 reasoning=2 think searches=1]]";
  const { output } = await whole(input);
  const last = (await streamed(input)).at(-1).response;
  const bare = (items: Json) => items.map(({ id: _, ...item }: Json) => item);
  expect(bare(last.output)).toEqual(bare(output));
});

test("reasoning is an item before the message, with a summary when it is told", async () => {
  const events = await streamed("Hi [[output=6 reasoning=4 think]]", {
    include: ["reasoning.encrypted_content"],
  });
  expect(typesOf(events).slice(2, 8)).toEqual([
    "output_item.added",
    "reasoning_summary_part.added",
    "reasoning_summary_text.delta",
    "reasoning_summary_text.done",
    "reasoning_summary_part.done",
    "output_item.done",
  ]);
  const { output, usage } = events.at(-1).response;
  expect(output.map((item: Json) => item.type)).toEqual(["reasoning", "message"]);
  expect(output[0]).toMatchObject({
    encrypted_content: expect.any(String),
    summary: [{ type: "summary_text" }],
  });
  expect([usage.output_tokens, usage.output_tokens_details.reasoning_tokens]).toEqual([6, 4]);
  expect((await whole("Hi [[reasoning=4]]")).output[0].summary).toEqual([]);
});

test("searches are items of the output", async () => {
  const { output } = await whole("Hi [[searches=2]]");
  expect(output.map((item: Json) => item.type)).toEqual(["web_search_call", "web_search_call", "message"]);
  expect(provider.calls().at(-1)!.usage!.searches).toBe(2);
});

test.each(["fragments", "whole", "interleaved"])("calls of functions are streamed as %s", async (form) => {
  const events = await streamed(`Paris [[tool=2 tool_form=${form}]]`, { tools: TOOLS });
  const deltas = events.filter(({ type }) => type === "response.function_call_arguments.delta");
  const of = (index: number) =>
    deltas
      .filter((event) => event.output_index === index)
      .map((event) => event.delta)
      .join("");
  expect([of(0), of(1)]).toEqual(['{"text":"Paris"}', '{"text":"Paris"}']);
  const changes = deltas.filter((event, nth) => event.output_index !== deltas[nth - 1]?.output_index);
  expect(changes.length).toBe(form === "interleaved" ? deltas.length : 2);
  expect(events.at(-1).response.output).toMatchObject([
    { type: "function_call", name: "look_up", call_id: expect.any(String), arguments: '{"text":"Paris"}' },
    { type: "function_call", name: "add" },
  ]);
});

test("a function whose output came back is not called again", async () => {
  const input = [
    { role: "user", content: "Paris [[tool]]" },
    { type: "function_call", call_id: "call_1", name: "look_up", arguments: "{}" },
    { type: "function_call_output", call_id: "call_1", output: "sunny" },
  ];
  expect((await whole(input, { tools: TOOLS })).output[0].type).toBe("message");
});

describe("endings", () => {
  test("the limit makes an answer incomplete", async () => {
    const body = await whole("[[output=50]]", { max_output_tokens: 7 });
    expect(body).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      usage: { output_tokens: 7 },
    });
  });

  test.each([
    ["length", "incomplete", { incomplete_details: { reason: "max_output_tokens" } }],
    ["content_filter", "incomplete", { incomplete_details: { reason: "content_filter" } }],
    ["failed", "failed", { error: { code: "server_error" }, usage: null }],
  ])("finish=%s ends a stream with response.%s", async (finish, status, more) => {
    const events = await streamed(`Hi [[finish=${finish}]]`);
    const ends = events.filter(({ type }) => /\.(completed|incomplete|failed)$/.test(type));
    expect(ends.map(({ type }) => type)).toEqual([`response.${status}`]);
    expect(events.at(-1)).toMatchObject({ type: `response.${status}`, response: { status, ...more } });
    expect(await whole(`Hi [[finish=${finish}]]`)).toMatchObject({ status, ...more });
  });

  test("a failed response can tell its usage", async () => {
    const { usage } = await whole("Hi [[finish=failed usage=always output=5]]");
    expect(usage.output_tokens).toBe(5);
  });

  test("a refusal is a part of its own", async () => {
    const events = await streamed("Hi [[finish=refusal output=2]]");
    expect(typesOf(events)).toContain("refusal.delta");
    expect(events.at(-1).response.output[0].content).toEqual([{ type: "refusal", refusal: "Hi time" }]);
  });
});

test.each([
  ["none", null],
  ["zero", { input_tokens: 0, output_tokens: 0, total_tokens: 0 }],
  ["null_details", { input_tokens_details: null, output_tokens_details: null }],
])("usage=%s is told so", async (form, expected) => {
  const { usage } = await whole(`Hi [[usage=${form}]]`);
  if (expected === null) expect(usage).toBeNull();
  else expect(usage).toMatchObject(expected);
});

test("structured output follows its schema", async () => {
  const schema = { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } } };
  const format = { type: "json_schema" as const, name: "trip", schema, strict: true };
  const response = await client.responses.create({ model: "gpt-4o", input: "Rome", text: { format } });
  expect(JSON.parse(response.output_text)).toEqual({ city: "Rome", days: 4 });
});

test.each([
  [{ model: undefined }, "model"],
  [{ input: undefined }, "input"],
  [{ input: [{ role: "user", content: [{ type: "input_image", image_url: "file:///x" }] }] }, "input"],
])("a request lacking sense is a 400: %j", async (extra, param) => {
  const response = await ask("hi", extra);
  expect([response.status, (await jsonOf(response)).error.param]).toEqual([400, param]);
});

describe("the official client", () => {
  test("reads a whole answer", async () => {
    const response = await client.responses.create({ model: "gpt-4o", input: "Hi [[output=3]]" });
    expect([response.output_text, response.usage!.output_tokens]).toEqual(["Hi time year", 3]);
  });

  test("puts a stream together", async () => {
    const stream = client.responses.stream({ model: "gpt-4o", input: "Hi [[output=4 reasoning=1 think]]" });
    const response = await stream.finalResponse();
    expect([response.output_text, response.usage!.output_tokens]).toEqual(["Hi time year", 4]);
  });

  test("puts interleaved calls together", async () => {
    const input = "Paris [[tool=2 tool_form=interleaved]]";
    const response = await client.responses.stream({ model: "gpt-4o", input, tools: TOOLS }).finalResponse();
    expect(response.output.map((item) => item.type === "function_call" && item.arguments)).toEqual([
      '{"text":"Paris"}',
      '{"text":"Paris"}',
    ]);
  });

  test("raises the error event", async () => {
    const stream = await client.responses.create({
      model: "gpt-4o",
      input: "Hi [[fault=error_event after=4]]",
      stream: true,
    });
    const events: Json[] = [];
    const error = await failure(
      (async () => {
        for await (const event of stream) events.push(event);
        if (events.at(-1).type === "error") throw new Error(events.at(-1).message);
      })(),
    );
    expect(error.message).toContain("The server had an error");
  });
});

test("the error event has its place in the order", async () => {
  const events = await streamed("Hi [[fault=error_event after=4]]");
  expect(events).toHaveLength(5);
  expect(events.at(-1)).toMatchObject({
    type: "error",
    code: "server_error",
    param: null,
    sequence_number: 4,
  });
});
