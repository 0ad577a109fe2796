// Structured output, images in prompts and interleaved calls of tools, in chat and messages; by the official client too.

import { afterAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { askIn, BOTH, chatBody, eventsOf, jsonOf, STYLES } from "./asking.ts";
import { startProvider } from "./provider.ts";

const provider = startProvider();
afterAll(() => provider.close());
const client = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: "sk-client-0001", maxRetries: 0 });

const SCHEMA = {
  type: "object",
  properties: {
    city: { type: "string" },
    kind: { enum: ["big", "small"] },
    days: { type: "array", items: { type: "integer" } },
    note: { type: ["null", "string"] },
    place: { anyOf: [{ type: "object", properties: { near: { type: "boolean" } } }, { type: "null" }] },
  },
};
const FORMATS = {
  chat: { response_format: { type: "json_schema", json_schema: { name: "trip", schema: SCHEMA } } },
  messages: { output_config: { format: { type: "json_schema", schema: SCHEMA } } },
};

describe.each(BOTH)("structured output of $name", (style) => {
  const asked = askIn(style);
  const extra = FORMATS[style.name];

  test("follows its schema, streamed as whole, and is counted as it is sent", async () => {
    const whole = await jsonOf(await asked(provider, "Rome", extra));
    const value = JSON.parse(style.textOf(whole));
    expect(value).toEqual({
      city: expect.stringContaining("Rome"),
      kind: "big",
      days: [expect.any(Number)],
      note: null,
      place: { near: true },
    });
    const stream = await eventsOf(await asked(provider, "Rome", { stream: true, ...extra }));
    expect(JSON.parse(stream.map(style.wordOf).join(""))).toEqual(value);
    expect(provider.calls().at(-1)!.usage!.completion).toBe(style.outputOf(whole));
  });

  test("is cut by the limit", async () => {
    const whole = await jsonOf(await asked(provider, "Rome", { ...extra, max_tokens: 3 }));
    expect(() => JSON.parse(style.textOf(whole))).toThrow();
    expect(style.outputOf(whole)).toBe(3);
  });
});

test("json_object is any object", async () => {
  const body = await client.chat.completions.create({
    model: "gpt-4o",
    messages: [{ role: "user", content: "Rome" }],
    response_format: { type: "json_object" },
  });
  expect(JSON.parse(body.choices[0]!.message.content!)).toEqual({ text: "Rome" });
});

const DATA = "iVBORw0KGgo=";
const chatImage = (url: unknown) => [
  { type: "text", text: "Look" },
  { type: "image_url", image_url: { url } },
];
const claudeImage = (source: unknown) => [
  { type: "text", text: "Look" },
  { type: "image", source },
];
const base64 = (media_type: string, data: unknown = DATA) => ({ type: "base64", media_type, data });

describe("an image", () => {
  const chat = (content: unknown) =>
    askIn(STYLES.chat)(provider, "", { messages: [{ role: "user", content }] });
  const messages = (content: unknown) =>
    askIn(STYLES.messages)(provider, "", { messages: [{ role: "user", content }] });

  test.each([`data:image/png;base64,${DATA}`, "https://x.example/a.png"])(
    "in chat can be %s",
    async (url) => {
      const { usage } = await jsonOf(await chat(chatImage(url)));
      expect(usage.prompt_tokens).toBe(1 + 6 + 85);
    },
  );

  test.each(["file:///a.png", "data:text/plain;base64,AAAA", 5])("in chat cannot be %s", async (url) => {
    expect((await chat(chatImage(url))).status).toBe(400);
  });

  test.each([
    base64("image/png"),
    { type: "url", url: "https://x.example/a" },
    { type: "file", file_id: "f" },
  ])("in messages can be %j", async (source) => {
    const { usage } = await jsonOf(await messages(claudeImage(source)));
    expect(usage.input_tokens).toBe(1 + 6 + 85);
  });

  test.each([
    base64("image/tiff"),
    base64("image/png", `data:image/png;base64,${DATA}`),
    { type: "url" },
    null,
  ])("in messages cannot be %j", async (source) => {
    expect((await messages(claudeImage(source))).status).toBe(400);
  });
});

const TOOLS = ["look_up", "add"].map((name) => ({
  type: "function" as const,
  function: { name, parameters: { type: "object" } },
}));

test("interleaved calls of tools alternate fragment by fragment, and the official client puts them together", async () => {
  const stream = client.chat.completions.stream({
    ...(chatBody("Paris [[tool=2 tool_form=interleaved]]") as { model: string }),
    messages: [{ role: "user", content: "Paris [[tool=2 tool_form=interleaved]]" }],
    tools: TOOLS,
  });
  const order: number[] = [];
  for await (const chunk of stream) {
    for (const call of chunk.choices[0]?.delta.tool_calls ?? []) order.push(call.index);
  }
  expect(order).toEqual(order.map((_, nth) => nth % 2));
  const completion = await stream.finalChatCompletion();
  expect(
    completion.choices[0]!.message.tool_calls!.map((call) => call.type === "function" && call.function),
  ).toMatchObject([
    { name: "look_up", arguments: '{"text":"Paris"}' },
    { name: "add", arguments: '{"text":"Paris"}' },
  ]);
});

test("messages tell of searches of the web", async () => {
  const { usage } = await jsonOf(await askIn(STYLES.messages)(provider, "[[searches=3]]"));
  expect(usage.server_tool_use).toEqual({ web_search_requests: 3, web_fetch_requests: 0 });
  expect(provider.calls().at(-1)!.usage!.searches).toBe(3);
});
