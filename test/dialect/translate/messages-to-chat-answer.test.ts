// A messages provider's whole answer as a chat client reads it: one fixture for each kind of block and ending.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { chatAnswerOf } from "../../../src/dialect/translate/answer-translations.ts";
import { odd } from "./provider-streams.ts";
import { CONTEXT, type Row } from "./streams.ts";

const answered = (content: unknown, beside: Row = {}) =>
  chatAnswerOf(
    { id: "msg_1", type: "message", role: "assistant", content, stop_reason: "end_turn", ...beside },
    CONTEXT,
  );
const messageOf = (...content: unknown[]) => (answered(content).choices as Row[])[0]!.message as Row;
const finishOf = (stop_reason: unknown, ...content: unknown[]) =>
  (answered(content, { stop_reason }).choices as Row[])[0]!.finish_reason;
const TEXT = { type: "text", text: "a" };
const CALL = { type: "tool_use", id: "toolu_1", name: "f", input: { x: [1] } };
const written = (id: string, name: string, given: string) => ({
  id,
  type: "function",
  function: { name, arguments: given },
});

test("an ordinary answer", () =>
  expect(answered([TEXT], { usage: { input_tokens: 9, output_tokens: 4 } })).toEqual({
    id: "chatcmpl-A1",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "asked-for",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: "a", refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: {
      ...{ prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 },
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  }));

describe("the message of", () => {
  const MESSAGE = { role: "assistant", content: "a", refusal: null };
  // biome-ignore format: a table
  const ROWS: readonly (readonly [what: string, content: readonly unknown[], message: Row])[] = [
    ["texts, joined as they were cut", [{ type: "text", text: "Hel" }, { type: "text", text: "lo" }], { ...MESSAGE, content: "Hello" }],
    ["a call alone", [CALL], { ...MESSAGE, content: null, tool_calls: [written("toolu_1", "f", '{"x":[1]}')] }],
    ["text and a call", [TEXT, CALL], { ...MESSAGE, tool_calls: [written("toolu_1", "f", '{"x":[1]}')] }],
    [
      "calls in turn",
      [CALL, { type: "tool_use", id: "toolu_2", name: "short", input: {} }],
      {
        ...MESSAGE,
        content: null,
        tool_calls: [
          written("toolu_1", "f", '{"x":[1]}'),
          written("toolu_2", "the_name_as_the_client_wrote_it", "{}"),
        ],
      },
    ],
    ["a call without input or id", [{ type: "tool_use", name: "f" }], { ...MESSAGE, content: null, tool_calls: [written("call_A1_0", "f", "{}")] }],
    [
      "thinking, signed, and thinking that nobody may read",
      [{ type: "thinking", thinking: "hm", signature: "s" }, { type: "redacted_thinking", data: "d" }, TEXT],
      {
        ...MESSAGE,
        reasoning_content: "hm",
        thinking_blocks: [
          { type: "thinking", thinking: "hm", signature: "s" },
          { type: "redacted_thinking", data: "d" },
        ],
      },
    ],
    [
      "the provider's own tools",
      [
        { type: "server_tool_use", id: "s", name: "web_search", input: { query: "q" } },
        { type: "web_search_tool_result", tool_use_id: "s", content: [] },
        { ...TEXT, citations: [{ cited_text: "c" }] },
      ],
      MESSAGE,
    ],
    ["nothing", [], { ...MESSAGE, content: "" }],
    ["what nobody knows", [{ type: "new", text: "b" }, null, 7, TEXT], MESSAGE],
  ];
  test.each(ROWS)("%s", (_what, content, message) => expect(messageOf(...content)).toEqual(message));
});

describe("the arguments of an input", () => {
  const ROWS: readonly (readonly [what: string, input: unknown, given: string])[] = [
    ["that is written out already", '{"x":1}', '{"x":1}'],
    ["that is a text and no JSON", "x", "{}"],
    ["that is a list", [1], "{}"],
    ["too deep for anybody", JSON.parse(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`), "{}"],
  ];
  test.each(ROWS)("%s", (_what, input, given) =>
    expect(messageOf({ ...CALL, input }).tool_calls).toEqual([written("toolu_1", "f", given)]),
  );
});

describe("the finish reason of", () => {
  const ROWS: readonly (readonly [stop: unknown, content: unknown, finish: string])[] = [
    ["end_turn", TEXT, "stop"],
    ["stop_sequence", TEXT, "stop"],
    ["max_tokens", TEXT, "length"],
    ["max_tokens", CALL, "length"],
    ["model_context_window_exceeded", TEXT, "length"],
    ["compaction", TEXT, "length"],
    ["pause_turn", TEXT, "length"],
    ["tool_use", CALL, "tool_calls"],
    ["tool_use", TEXT, "stop"],
    ["refusal", TEXT, "content_filter"],
    ["something_new", TEXT, "stop"],
    [null, TEXT, "stop"],
    [null, CALL, "tool_calls"],
    [{ odd: 1 }, TEXT, "stop"],
  ];
  test.each(ROWS)("%j with %j is %s", (stop, content, finish) =>
    expect(finishOf(stop, content)).toBe(finish),
  );
});

describe("usage", () => {
  const usageOf = (usage: unknown) => answered([{ type: "text", text: "x".repeat(40) }], { usage }).usage;
  test("has cached and written tokens, of either life, inside the prompt", () =>
    expect(
      usageOf({
        ...{ input_tokens: 3, cache_read_input_tokens: 5, cache_creation_input_tokens: 7, output_tokens: 4 },
        cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 2 },
        output_tokens_details: { thinking_tokens: 2 },
      }),
    ).toEqual({
      ...{ prompt_tokens: 15, completion_tokens: 4, total_tokens: 19 },
      prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 7 },
      completion_tokens_details: { reasoning_tokens: 2 },
    }));
  test.each([[null], [undefined], [{ input_tokens: 1.5 }], [{ input_tokens: 0, output_tokens: 0 }]])(
    "of %j is estimated",
    (usage) =>
      expect(usageOf(usage)).toMatchObject({ prompt_tokens: 77, completion_tokens: 10, total_tokens: 87 }),
  );
});

test("never throws, and its calls are objects in JSON", () =>
  fc.assert(
    fc.property(odd, odd, odd, odd, (content, input, stop_reason, usage) => {
      for (const given of [content, [content, { type: "tool_use", name: "f", id: usage, input }]]) {
        const [choice] = answered(given, { stop_reason, usage }).choices as Row[];
        const calls = ((choice!.message as Row).tool_calls ?? []) as { function: { arguments: string } }[];
        for (const { function: called } of calls) expect(JSON.parse(called.arguments)).toBeObject();
      }
    }),
  ));
