// What a conversation is made of, across the styles and back: tools, their results, pictures, thinking, formats and why an
// answer stopped. The stand-in is as strict as the providers are, so what it takes, they take.

import { describe, expect, test } from "bun:test";
import { type Json, jsonOf } from "./harness.ts";
import { ask } from "./harness-keys.ts";
import { readStream } from "./streaming.ts";
import { prepared, useBench } from "./use-bench.ts";

const bench = useBench({ settings: { KEY_FAILURES: "1000" } });
const messagesKey = prepared(() => bench.owner({ style: "messages" }));
/** The key speaks the other style. */
const across = prepared(async () => ({ chat: messagesKey, messages: await bench.owner({ style: "chat" }) }));

const sent = (): Json => bench.provider.calls().at(-1)!.body;

async function chat(messages: object[], more: object = {}): Promise<Json> {
  const answer = await ask(bench, across.chat, { more: { messages, ...more } });
  expect(answer.told).toBe("200");
  return answer.body.choices[0];
}

async function message(messages: object[], more: object = {}, user = across.messages): Promise<Json> {
  const answer = await ask(bench, user, { style: "messages", more: { messages, ...more } });
  expect(answer.told).toBe("200");
  return answer.body;
}

const says = (content: unknown) => ({ role: "user", content });

/** The blocks of a streamed message, put together as clients do. */
async function blocksOf(messages: object[], more: object = {}): Promise<{ blocks: Json[]; stop: string }> {
  const answer = await ask(bench, across.messages, {
    style: "messages",
    stream: true,
    more: { messages, ...more },
  });
  expect(answer.told).toBe("200");
  const blocks: Json[] = [];
  let stop = "";
  for (const line of answer.text.split("\n").filter((one) => one.startsWith("data: "))) {
    const event = jsonOf(line.slice("data: ".length));
    if (event.type === "content_block_start") blocks[event.index] = { ...event.content_block, json: "" };
    if (event.type === "content_block_delta") {
      const { text, thinking, partial_json: json } = event.delta;
      const block = blocks[event.index];
      if (text !== undefined) block.text += text;
      if (thinking !== undefined) block.thinking += thinking;
      if (json !== undefined) block.json += json;
    }
    if (event.type === "message_delta") stop = event.delta.stop_reason;
  }
  return { blocks, stop };
}

const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const CHAT_TOOLS = [
  { type: "function", function: { name: "look", description: "looks", parameters: SCHEMA } },
  { type: "function", function: { name: "count", parameters: { type: "object", properties: {} } } },
];
const MESSAGES_TOOLS = [
  { name: "look", description: "looks", input_schema: SCHEMA },
  { name: "count", input_schema: { type: "object", properties: {} } },
];
const PNG = "iVBORw0KGgoAAAANSUhEUg==";
const PICTURE = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };

describe("parallel tools", () => {
  test("chat: called, answered, and the answer given", async () => {
    const asked = says("look twice [[tool=2]]");
    const first = await chat([asked], { tools: CHAT_TOOLS, tool_choice: "auto" });
    expect(sent().tools.map(({ name }: Json) => name)).toEqual(["look", "count"]);
    expect(first.finish_reason).toBe("tool_calls");
    const calls = first.message.tool_calls;
    expect(calls).toHaveLength(2);
    for (const call of calls) expect(jsonOf(call.function.arguments)).toBeObject();
    const results = calls.map(({ id }: Json, i: number) => ({
      role: "tool",
      tool_call_id: id,
      content: `result ${i}`,
    }));
    const last = await chat([asked, first.message, ...results], { tools: CHAT_TOOLS });
    expect(last).toMatchObject({ finish_reason: "stop", message: { role: "assistant" } });
    const [, , user] = sent().messages;
    expect(user.content.map(({ type, tool_use_id: id }: Json) => [type, id])).toEqual(
      calls.map(({ id }: Json) => ["tool_result", id]),
    );
  });

  test("chat, streamed: the same calls, numbered among themselves", async () => {
    const more = { messages: [says("look twice [[tool=2]]")], tools: CHAT_TOOLS };
    const whole = (await ask(bench, across.chat, { more })).body.choices[0].message.tool_calls;
    const { status, headers, text } = await ask(bench, across.chat, { more, stream: true });
    const { events, done } = readStream(status, headers, text);
    const deltas = events.flatMap((event) => event.choices[0]?.delta.tool_calls ?? []);
    const calls = [0, 1].map((index) => {
      const mine = deltas.filter((one) => one.index === index);
      return [mine[0].function.name, mine.map((one) => one.function.arguments).join("")];
    });
    expect(done).toBe(true);
    expect(calls).toEqual(whole.map((one: Json) => [one.function.name, one.function.arguments]));
    expect(events.at(-1).choices[0].finish_reason).toBe("tool_calls");
  });

  test("messages: called, answered with a picture, and the answer given", async () => {
    const asked = says("look twice [[tool=2]]");
    const first = await message([asked], { tools: MESSAGES_TOOLS, tool_choice: { type: "auto" } });
    expect(sent().tools).toMatchObject([
      { type: "function", function: { name: "look", parameters: SCHEMA } },
      {},
    ]);
    expect(first.stop_reason).toBe("tool_use");
    const calls = first.content.filter(({ type }: Json) => type === "tool_use");
    expect(calls).toHaveLength(2);
    const results = calls.map(({ id }: Json, i: number) => ({
      type: "tool_result",
      tool_use_id: id,
      content: i === 0 ? [{ type: "text", text: "seen" }, PICTURE] : "done",
    }));
    const turns = [asked, { role: "assistant", content: first.content }, says(results)];
    const last = await message(turns, { tools: MESSAGES_TOOLS });
    expect(last.stop_reason).toBe("end_turn");
    const [, assistant, one, two, rest] = sent().messages;
    expect(assistant.tool_calls.map(({ id }: Json) => id)).toEqual(calls.map(({ id }: Json) => id));
    expect([one, two]).toMatchObject([
      { role: "tool", tool_call_id: calls[0].id },
      { role: "tool", tool_call_id: calls[1].id, content: "done" },
    ]);
    // A tool's message takes words alone: what it saw comes right behind.
    expect(JSON.stringify([one, two])).not.toContain(PNG);
    expect(rest.role).toBe("user");
    expect(rest.content).toContainEqual({
      type: "image_url",
      image_url: { url: `data:image/png;base64,${PNG}` },
    });
  });

  test.each(["fragments", "whole", "interleaved"])(
    "messages, streamed: calls that come as %s",
    async (form) => {
      const script = `look [[tool=2 tool_form=${form}]]`;
      const { blocks, stop } = await blocksOf([says(script)], { tools: MESSAGES_TOOLS });
      const calls = blocks.filter(({ type }) => type === "tool_use");
      expect([stop, calls.length]).toEqual(["tool_use", 2]);
      for (const { name, json } of calls) {
        expect(["look", "count"]).toContain(name);
        expect(jsonOf(json)).toBeObject();
      }
    },
  );
});

test("a name that the other style cannot spell comes back as the client wrote it", async () => {
  const name = `a_tool_with_a_rather_long_name_${"x".repeat(60)}`;
  const tools = [{ name, input_schema: SCHEMA }];
  const { content } = await message([says("[[tool=1]]")], { tools });
  expect(sent().tools[0].function.name).not.toBe(name);
  expect(content.find(({ type }: Json) => type === "tool_use").name).toBe(name);
});

describe("thinking", () => {
  const asked = says("think [[output=20 reasoning=8 think]]");

  test("chat: is shown, and goes back signed as it came", async () => {
    const first = await chat([asked]);
    expect(first.message.reasoning_content).not.toBe("");
    const [thought] = first.message.thinking_blocks;
    expect(thought).toMatchObject({ type: "thinking", thinking: first.message.reasoning_content });
    await chat([asked, first.message, says("go on")]);
    expect(sent().messages[1].content[0]).toEqual(thought);
  });

  test("chat, streamed: the same words", async () => {
    const { status, headers, text } = await ask(bench, across.chat, {
      stream: true,
      more: { messages: [asked] },
    });
    const { events } = readStream(status, headers, text);
    const said = events.map((event) => event.choices[0]?.delta.reasoning_content ?? "").join("");
    expect(said).toBe((await chat([asked])).message.reasoning_content);
  });

  test("messages: is shown unsigned, and comes back to either style without harm", async () => {
    const first = await message([asked]);
    const [thought, ...rest] = first.content;
    expect(thought).toMatchObject({ type: "thinking", signature: "" });
    const turns = [asked, { role: "assistant", content: first.content }, says("go on")];
    await message(turns);
    expect(JSON.stringify(sent().messages[1])).toContain(rest[0].text);
    // The provider of the client's own style would refuse what it did not sign.
    await message(turns, {}, messagesKey);
    expect(sent().messages[1].content).toEqual(rest);
    const { blocks } = await blocksOf([asked]);
    expect(blocks.map(({ type }) => type)).toEqual(["thinking", "text"]);
    expect(blocks[0].thinking).toBe(thought.thinking);
  });
});

describe("an answer in a format", () => {
  const question = says("where? [[output=20]]");
  test("chat: as its schema says", async () => {
    const json_schema = { name: "place", schema: SCHEMA, strict: true };
    const { message: found } = await chat([question], {
      response_format: { type: "json_schema", json_schema },
    });
    expect(sent().output_config).toMatchObject({ format: { type: "json_schema", schema: SCHEMA } });
    expect(jsonOf(found.content)).toEqual({ city: expect.any(String) });
  });
  test("messages: as its schema says", async () => {
    const format = { type: "json_schema", schema: SCHEMA };
    const { content } = await message([question], { output_config: { format } });
    expect(sent().response_format).toMatchObject({ type: "json_schema", json_schema: { schema: SCHEMA } });
    expect(jsonOf(content[0].text)).toEqual({ city: expect.any(String) });
  });
});

describe("why an answer stopped", () => {
  const FOR_CHAT: readonly (readonly [given: string, told: string])[] = [
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["pause_turn", "length"],
    ["refusal", "content_filter"],
  ];
  test.each(FOR_CHAT)("chat: %s is %s, whole and streamed", async (given, told) => {
    const messages = [says(`[[output=3 finish=${given}]]`)];
    expect((await chat(messages)).finish_reason).toBe(told);
    const { status, headers, text } = await ask(bench, across.chat, { stream: true, more: { messages } });
    const { events, done } = readStream(status, headers, text);
    expect([events.at(-1).choices[0].finish_reason, done]).toEqual([told, true]);
  });

  const FOR_MESSAGES: readonly (readonly [given: string, told: string])[] = [
    ["stop", "end_turn"],
    ["length", "max_tokens"],
    ["content_filter", "refusal"],
    ["something_new", "end_turn"],
  ];
  test.each(FOR_MESSAGES)("messages: %s is %s, whole and streamed", async (given, told) => {
    const messages = [says(`[[output=3 finish=${given}]]`)];
    expect((await message(messages)).stop_reason).toBe(told);
    expect((await blocksOf(messages)).stop).toBe(told);
  });

  test("an output limit is the client's own in either style", async () => {
    const body = { messages: [says("[[output=40]]")], max_tokens: 5 };
    const cut = await ask(bench, across.chat, { more: body });
    expect(cut.body).toMatchObject({
      choices: [{ finish_reason: "length" }],
      usage: { completion_tokens: 5 },
    });
    const other = await ask(bench, across.messages, { style: "messages", more: body });
    expect(other.body).toMatchObject({ stop_reason: "max_tokens", usage: { output_tokens: 5 } });
  });
});
