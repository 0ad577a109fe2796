// What the stand-in says in the messages dialect: whole answers, the order of a stream's events, tools, thoughts.

import { afterAll, describe, expect, test } from "bun:test";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { askMessages, eventsOf, type Json, jsonOf } from "./asking.ts";
import { startProvider } from "./provider.ts";

const provider = startProvider();
afterAll(() => provider.close());
const STREAM = { stream: true };

const streamed = async (text: string, extra: object = {}) =>
  eventsOf(await askMessages(provider, text, { ...STREAM, ...extra }));

/** The blocks that a reader puts together from a stream's events. */
function blocksOf(events: readonly Json[]): Json[] {
  const blocks: Json[] = [];
  let open: number | null = null;
  for (const { type, index, content_block, delta } of events) {
    if (type === "content_block_start") {
      expect([open, index]).toEqual([null, blocks.length]);
      open = index;
      blocks.push({ ...content_block, json: "" });
    } else if (type === "content_block_delta") {
      expect(index).toBe(open);
      const block = blocks[index];
      if (delta.type === "text_delta") block.text += delta.text;
      if (delta.type === "thinking_delta") block.thinking += delta.thinking;
      if (delta.type === "signature_delta") block.signature += delta.signature;
      if (delta.type === "input_json_delta") block.json += delta.partial_json;
    } else if (type === "content_block_stop") {
      expect(index).toBe(open);
      open = null;
    }
  }
  return blocks.map(({ json, ...block }) =>
    block.type === "tool_use" ? { ...block, input: JSON.parse(json) } : block,
  );
}

describe("a whole answer", () => {
  test("is a message that echoes, adds words and counts both", async () => {
    const response = await askMessages(provider, "Good morning [[output=6]]");
    expect(response.headers.get("request-id")).toStartWith("req_");
    expect(response.headers.get("anthropic-ratelimit-requests-limit")).toBe("4000");
    expect(response.headers.has("x-request-id")).toBe(false);
    expect(await jsonOf(response)).toEqual({
      id: expect.stringMatching(/^msg_\d+$/),
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-5",
      content: [{ type: "text", text: "Say. Good morning time year people", citations: null }],
      stop_reason: "end_turn",
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: {
        // Three words, three for the message, three for the answer.
        input_tokens: 9,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens: 6,
        output_tokens_details: null,
        server_tool_use: null,
        service_tier: "standard",
      },
    });
  });

  test("names the tier of the script", async () => {
    const { usage } = await jsonOf(await askMessages(provider, "[[tier=priority]]"));
    expect(usage.service_tier).toBe("priority");
  });

  test("has words of one token of o200k each", async () => {
    const body = await jsonOf(await askMessages(provider, "[[output=64]]", { max_tokens: 64 }));
    expect(encode(body.content[0].text)).toHaveLength(64 + 1);
    expect(body.stop_reason).toBe("end_turn");
  });

  test.each([
    ["length", "max_tokens"],
    ["tool_calls", "tool_use"],
    ["content_filter", "refusal"],
    ["pause_turn", "pause_turn"],
  ])("finish=%s stops it with %s", async (finish, reason) => {
    const body = await jsonOf(await askMessages(provider, `[[finish=${finish}]]`));
    expect(body.stop_reason).toBe(reason);
    expect(body.stop_details).toEqual(
      reason === "refusal" ? { type: "refusal", category: null, explanation: null } : null,
    );
  });
});

describe("max_tokens", () => {
  test.each([false, true])("ends an answer, stream: %p", async (stream) => {
    const response = await askMessages(provider, "[[output=50]]", { max_tokens: 7, stream });
    if (!stream) {
      const { stop_reason, usage } = await jsonOf(response);
      expect([stop_reason, usage.output_tokens]).toEqual(["max_tokens", 7]);
      return;
    }
    const end = (await eventsOf(response)).at(-2);
    expect([end.delta.stop_reason, end.usage.output_tokens]).toEqual(["max_tokens", 7]);
  });

  test("has the thoughts inside", async () => {
    const body = await jsonOf(
      await askMessages(provider, "[[think reasoning=20 output=30]]", { max_tokens: 5 }),
    );
    expect(body.usage).toMatchObject({ output_tokens: 5, output_tokens_details: { thinking_tokens: 5 } });
    expect(body.content).toHaveLength(1);
    expect(body.content[0].thinking.split(" ")).toHaveLength(5);
  });

  test("of 0 warms the cache and says nothing", async () => {
    const body = await jsonOf(await askMessages(provider, "[[cache_write=9]]", { max_tokens: 0 }));
    expect([body.content, body.stop_reason, body.usage.output_tokens]).toEqual([[], "max_tokens", 0]);
  });
});

describe("a stream", () => {
  test("is named events in order, each with its name as type", async () => {
    const text = await (await askMessages(provider, "[[output=2]]", STREAM)).text();
    const events = text
      .trimEnd()
      .split("\n\n")
      .map((event) => event.split("\n"));
    expect(events.map(([name]) => name)).toEqual([
      "event: message_start",
      "event: content_block_start",
      "event: content_block_delta",
      "event: content_block_delta",
      "event: content_block_stop",
      "event: message_delta",
      "event: message_stop",
    ]);
    for (const [name, data] of events) expect(JSON.parse(data!.slice(6)).type).toBe(name!.slice(7));
  });

  test("opens with an unfinished message and a placeholder of output", async () => {
    const [{ message }] = await streamed("[[output=50 prompt=100 cached=60]]");
    expect(message).toMatchObject({ type: "message", content: [], stop_reason: null, stop_sequence: null });
    expect(message.id).toStartWith("msg_");
    expect(message.usage).toMatchObject({ input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 3 });
  });

  test("ends with the reason and the cumulative usage", async () => {
    expect((await streamed("[[output=50 prompt=100 cached=60]]")).at(-2)).toEqual({
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: {
        input_tokens: 40,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 60,
        output_tokens: 50,
        output_tokens_details: null,
        server_tool_use: null,
      },
    });
  });

  test("says the same as the whole answer", async () => {
    const whole = await jsonOf(await askMessages(provider, "[[output=20 utf8]]"));
    const [block] = blocksOf(await streamed("[[output=20 utf8]]"));
    expect(block.text).toBe(whole.content[0].text);
    expect(block.text).toContain("日本");
  });
});

describe("thoughts", () => {
  const knobs = "[[think reasoning=4 output=6]]";

  test("are a signed block before the text", async () => {
    const { content, usage } = await jsonOf(await askMessages(provider, knobs));
    expect(content.map((block: Json) => block.type)).toEqual(["thinking", "text"]);
    expect(content[0].thinking.split(" ")).toHaveLength(4);
    expect(content[0].signature).not.toBe("");
    expect(usage).toMatchObject({ output_tokens: 6, output_tokens_details: { thinking_tokens: 4 } });
  });

  test("stream word by word, their signature last", async () => {
    const { content } = await jsonOf(await askMessages(provider, knobs));
    const events = await streamed(knobs);
    expect(blocksOf(events).map(({ citations: _, ...block }) => block)).toEqual(
      content.map(({ citations: _, ...block }: Json) => block),
    );
    const kinds = events.flatMap((event) => (event.index === 0 && event.delta ? [event.delta.type] : []));
    expect(kinds).toEqual([...Array(4).fill("thinking_delta"), "signature_delta"]);
  });
});

const TOOLS = ["look_up", "add"].map((name) => ({ name, input_schema: { type: "object", properties: {} } }));

describe("tools", () => {
  const CALLS = [
    { type: "tool_use", id: "toolu_00standin", name: "look_up", input: { text: "Say. Paris" } },
    { type: "tool_use", id: "toolu_01standin", name: "add", input: { text: "Say. Paris" } },
  ];

  test("are called when given and asked for", async () => {
    const body = await jsonOf(await askMessages(provider, "Paris [[tool=2]]", { tools: TOOLS }));
    expect([body.stop_reason, body.content]).toEqual(["tool_use", CALLS]);
  });

  test.each([
    ["any", "tool_use"],
    ["tool", "tool_use"],
    ["auto", "end_turn"],
    ["none", "end_turn"],
  ])("tool_choice %s, unasked, stops with %s", async (type, reason) => {
    const extra = { tools: TOOLS, tool_choice: { type, name: "add" } };
    expect((await jsonOf(await askMessages(provider, "Paris", extra))).stop_reason).toBe(reason);
  });

  test("those of the server, without a schema, are never called", async () => {
    const tools = [{ type: "web_search_20250305", name: "web_search" }];
    const body = await jsonOf(await askMessages(provider, "Paris [[tool]]", { tools }));
    expect(body.stop_reason).toBe("end_turn");
  });

  test.each([
    ["fragments", 3],
    ["whole", 1],
  ])("stream their input as %s", async (form, atLeast) => {
    const events = await streamed(`Paris [[tool=2 tool_form=${form}]]`, { tools: TOOLS });
    expect(blocksOf(events)).toEqual(CALLS);
    const parts = events
      .filter((event) => event.index === 1 && event.delta)
      .map((event) => event.delta.partial_json);
    if (form === "whole") expect(parts).toHaveLength(atLeast);
    else expect([parts[0], parts.length >= atLeast]).toEqual(["", true]);
  });

  test("answered, get words, though the marker is still in sight", async () => {
    const messages = [
      { role: "user", content: "Paris [[tool=2]]" },
      { role: "assistant", content: CALLS },
      {
        role: "user",
        content: CALLS.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "sunny" })),
      },
    ];
    const body = await jsonOf(await askMessages(provider, "", { messages, tools: TOOLS }));
    expect([body.stop_reason, body.content[0].text.startsWith("Paris time")]).toEqual(["end_turn", true]);
  });
});
