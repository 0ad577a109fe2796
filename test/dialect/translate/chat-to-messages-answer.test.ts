// A chat provider's whole answer as a messages client reads it: one fixture for each thing that hosts do.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { messagesAnswerOf } from "../../../src/dialect/translate/answer-translations.ts";
import { odd } from "./provider-streams.ts";
import { CONTEXT, type Row } from "./streams.ts";

const answered = (message: unknown, choice: Row = {}, beside: Row = {}) =>
  messagesAnswerOf(
    { id: "c", choices: [{ index: 0, message, finish_reason: "stop", ...choice }], ...beside },
    CONTEXT,
  );
const called = (...tool_calls: unknown[]) => answered({ role: "assistant", content: null, tool_calls });
const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };

test("an ordinary answer", () =>
  expect(answered({ role: "assistant", content: "Hello" }, {}, { usage: USAGE, model: "theirs" })).toEqual({
    id: "msg_A1",
    type: "message",
    role: "assistant",
    model: "asked-for",
    content: [{ type: "text", text: "Hello" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 4, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  }));

describe("the content of", () => {
  const THINKING = { type: "thinking", thinking: "hm", signature: "" };
  const TEXT = { type: "text", text: "a" };
  // biome-ignore format: a table
  const ROWS: readonly (readonly [what: string, message: unknown, content: unknown])[] = [
    ["reasoning and text", { reasoning_content: "hm", content: "a" }, [THINKING, TEXT]],
    ["reasoning under its other name", { reasoning: "hm", content: "a" }, [THINKING, TEXT]],
    ["reasoning under both names, written once", { reasoning: "hm", reasoning_content: "hm" }, [THINKING]],
    [
      "parts, with their thinking in parts",
      {
        content: [
          { type: "thinking", thinking: [{ type: "text", text: "h" }, { text: "m" }] },
          { type: "text", text: "a" },
        ],
      },
      [THINKING, TEXT],
    ],
    ["parts of one kind in turn, as one block", { content: [{ text: "a" }, { text: "b" }] }, [{ type: "text", text: "ab" }]],
    ["a refusal", { content: null, refusal: "no" }, [{ type: "text", text: "no" }]],
    ["nothing", { content: null }, [{ type: "text", text: "" }]],
    ["an empty text", { content: "" }, [{ type: "text", text: "" }]],
    ["thinking in its own words, which may be the answer", { content: "<think>hm</think>a" }, [{ type: "text", text: "<think>hm</think>a" }]],
    ["no message", null, [{ type: "text", text: "" }]],
  ];
  test.each(ROWS)("%s", (_what, message, content) => expect(answered(message).content).toEqual(content));
  test("no choice at all", () =>
    expect(messagesAnswerOf({ choices: [] }, CONTEXT)).toMatchObject({
      content: [{ type: "text", text: "" }],
      stop_reason: "end_turn",
    }));
  test("several choices is that of the first", () =>
    expect(
      messagesAnswerOf(
        {
          choices: [
            { index: 1, message: { content: "b" } },
            { index: 0, message: { content: "a" } },
          ],
        },
        CONTEXT,
      ).content,
    ).toEqual([TEXT]));
});

describe("a call", () => {
  const use = (input: unknown, id = "t1", name = "f") => ({ type: "tool_use", id, name, input });
  test("after the text that leads to it", () =>
    expect(
      answered({
        content: "a",
        tool_calls: [{ id: "t1", type: "function", function: { name: "f", arguments: '{"x":[1]}' } }],
      }).content,
    ).toEqual([{ type: "text", text: "a" }, use({ x: [1] })]));
  const ARGUMENTS: readonly (readonly [what: string, given: unknown, input: unknown])[] = [
    ["no text is given nothing", "", {}],
    ["nothing is given nothing", null, {}],
    ["broken JSON is given nothing", '{"x":', {}],
    ["a list is given nothing", "[1]", {}],
    ["an object that was not written out is given it", { x: 1 }, { x: 1 }],
    ["JSON too deep for anybody is given nothing", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`, {}],
  ];
  test.each(ARGUMENTS)("with %s", (_what, given, input) =>
    expect(called({ id: "t1", function: { name: "f", arguments: given } }).content).toEqual([use(input)]),
  );
  test("without an id gets one", () =>
    expect(called({ function: { name: "f" } }, { id: "", function: { name: "g" } }).content).toEqual([
      use({}, "toolu_A1_0"),
      use({}, "toolu_A1_1", "g"),
    ]));
  test("keeps an id of any form, which the host may read again", () =>
    expect(called({ id: "functions.f:0", function: { name: "f" } }).content).toEqual([
      use({}, "functions.f:0"),
    ]));
  test("has the name by which the client knows it", () =>
    expect(called({ id: "t1", function: { name: "short" } }).content).toEqual([
      use({}, "t1", "the_name_as_the_client_wrote_it"),
    ]));
  test("without a name is none", () =>
    expect(called({ id: "t1", function: {} }, null, 7)).toMatchObject({
      content: [{ type: "text", text: "" }],
      stop_reason: "end_turn",
    }));
  test("in the old form", () =>
    expect(
      answered({ function_call: { name: "f", arguments: "{}" } }, { finish_reason: "function_call" }),
    ).toMatchObject({ content: [use({}, "toolu_A1_0")], stop_reason: "tool_use" }));
});

describe("the stop reason of", () => {
  const CALL = { tool_calls: [{ id: "t", function: { name: "f" } }] };
  const ROWS: readonly (readonly [finish: unknown, message: unknown, stop: string])[] = [
    ["stop", {}, "end_turn"],
    ["stop", CALL, "tool_use"],
    ["length", {}, "max_tokens"],
    ["length", CALL, "max_tokens"],
    ["model_length", {}, "model_context_window_exceeded"],
    ["MAX_TOKENS", {}, "max_tokens"],
    ["tool_calls", CALL, "tool_use"],
    ["tool_calls", {}, "end_turn"],
    ["function_call", CALL, "tool_use"],
    ["content_filter", {}, "refusal"],
    ["sensitive", {}, "refusal"],
    ["stop", { refusal: "no" }, "refusal"],
    ["", {}, "end_turn"],
    [null, {}, "end_turn"],
    [null, CALL, "tool_use"],
    [undefined, {}, "end_turn"],
    ["eos", {}, "end_turn"],
    [{ odd: 1 }, {}, "end_turn"],
  ];
  test.each(ROWS)("%j with %j is %s", (finish_reason, message, stop_reason) =>
    expect(answered(message, { finish_reason })).toMatchObject({ stop_reason, stop_sequence: null }),
  );
  test.each(["stop_reason", "matched_stop"])("a host that names the sequence under %s", (field) =>
    expect(answered({ content: "a" }, { [field]: "END" })).toMatchObject({
      stop_reason: "stop_sequence",
      stop_sequence: "END",
    }),
  );
  test("a host that names a token's number", () =>
    expect(answered({ content: "a" }, { matched_stop: 151_645 })).toMatchObject({ stop_reason: "end_turn" }));
});

describe("usage", () => {
  const usageOf = (usage: unknown) => answered({ content: "x".repeat(40) }, {}, { usage }).usage;
  const ROWS: readonly (readonly [what: string, usage: unknown, figures: Row])[] = [
    [
      "cached and written tokens beside the input",
      { ...USAGE, prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 } },
      { input_tokens: 1, cache_read_input_tokens: 5, cache_creation_input_tokens: 3, output_tokens: 4 },
    ],
    [
      "cached tokens under another name",
      { ...USAGE, prompt_cache_hit_tokens: 5, prompt_cache_miss_tokens: 4 },
      { input_tokens: 4, cache_read_input_tokens: 5, cache_creation_input_tokens: 0, output_tokens: 4 },
    ],
    [
      "more cached than there is",
      { ...USAGE, prompt_tokens_details: { cached_tokens: 50 } },
      { input_tokens: 0, cache_read_input_tokens: 9, cache_creation_input_tokens: 0, output_tokens: 4 },
    ],
    [
      "thinking",
      { ...USAGE, completion_tokens_details: { reasoning_tokens: 3 } },
      {
        ...{ input_tokens: 9, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 4 },
        output_tokens_details: { thinking_tokens: 3 },
      },
    ],
  ];
  test.each(ROWS)("%s", (_what, usage, figures) => expect(usageOf(usage)).toEqual(figures));
  test.each([
    [null],
    [undefined],
    ["9"],
    [{ prompt_tokens: -1 }],
    [{ prompt_tokens: 0, completion_tokens: 0 }],
  ])("of %j is estimated", (usage) =>
    expect(usageOf(usage)).toEqual({
      ...{ input_tokens: 77, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 10 },
    }),
  );
});

test("never throws, and always has content of known blocks", () =>
  fc.assert(
    fc.property(odd, odd, odd, odd, (content, tool_calls, finish_reason, usage) => {
      for (const message of [
        content,
        { content, tool_calls, reasoning: finish_reason, function_call: usage },
      ]) {
        const whole = answered(message, { finish_reason }, { usage });
        const blocks = whole.content as Row[];
        expect(blocks.length).toBeGreaterThan(0);
        for (const { type } of blocks) expect(["text", "thinking", "tool_use"]).toContain(type as string);
      }
    }),
  ));
