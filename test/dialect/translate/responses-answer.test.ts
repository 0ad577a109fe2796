// What a responses client receives of a chat provider's and of a messages provider's whole answer: one fixture for each
// kind of item and ending, the fields of the request that are repeated, usage and errors.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  responsesAnswerOfChat,
  responsesAnswerOfMessages,
} from "../../../src/dialect/translate/answer-translations.ts";
import { responseErrorOf, responsesErrorOf } from "../../../src/dialect/translate/error-translation.ts";
import { carriedThinking } from "../../../src/dialect/translate/reasoning-item.ts";
import { odd } from "./provider-streams.ts";
import { CONTEXT, type Row } from "./streams.ts";

const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
const ofChat = (message: Row, choice: Row = {}, context = CONTEXT) =>
  responsesAnswerOfChat(
    { choices: [{ index: 0, message, finish_reason: "stop", ...choice }], usage: USAGE },
    context,
  );
const ofMessages = (content: unknown, beside: Row = {}, context = CONTEXT) =>
  responsesAnswerOfMessages({ content, stop_reason: "end_turn", ...beside }, context);
const output = (response: Row) => response.output as Row[];
const outputText = (text: string) => ({ type: "output_text", annotations: [], logprobs: [], text });
const message = (index: number, content: Row[], status = "completed") => ({
  ...{ id: `msg_A1_${index}`, type: "message", status, role: "assistant", content },
});
const fcall = (index: number, call_id: string, name: string, json: string, status = "completed") => ({
  ...{ id: `fc_A1_${index}`, type: "function_call", status, call_id, name, arguments: json },
});
const FIGURES = {
  input_tokens: 9,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 4,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 13,
};

test("an ordinary answer", () =>
  expect(ofChat({ content: "a" })).toEqual({
    id: "resp_A1",
    object: "response",
    created_at: 1_700_000_000,
    completed_at: 1_700_000_000,
    status: "completed",
    error: null,
    incomplete_details: null,
    output: [message(0, [outputText("a")])],
    usage: FIGURES,
    background: false,
    model: "asked-for",
    previous_response_id: null,
    store: false,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    metadata: {},
    parallel_tool_calls: true,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    temperature: 1,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    truncation: "disabled",
    user: null,
  }));

describe("the request's own fields", () => {
  const asked = (request: Row) => ofChat({ content: "a" }, {}, { ...CONTEXT, repeatedFields: request });
  // biome-ignore format: a table
  const ROWS: readonly (readonly [what: string, request: Row, repeated: Row])[] = [
    ["as they were", { instructions: "i", max_output_tokens: 9, metadata: { a: "b" }, user: "u", temperature: 0, top_p: 0.5, tool_choice: "none", parallel_tool_calls: false, truncation: "auto" },
      { instructions: "i", max_output_tokens: 9, metadata: { a: "b" }, user: "u", temperature: 0, top_p: 0.5, tool_choice: "none", parallel_tool_calls: false, truncation: "auto" }],
    ["null is the default", { instructions: null, tools: null, text: null, reasoning: null }, { instructions: null, tools: [], text: { format: { type: "text" } }, reasoning: { effort: null, summary: null } }],
    ["parts of objects", { reasoning: { effort: "low" }, text: { verbosity: "low" } }, { reasoning: { effort: "low", summary: null }, text: { format: { type: "text" }, verbosity: "low" } }],
    ["a function with all that its type has", { tools: [{ type: "function", name: "f" }] }, { tools: [{ type: "function", name: "f", parameters: null, strict: null }] }],
    ["a custom tool as it is", { tools: [{ type: "custom", name: "f" }] }, { tools: [{ type: "custom", name: "f" }] }],
    ["of a wrong type", { tools: 7, metadata: "x", text: [1] }, { tools: [], metadata: {}, text: { format: { type: "text" } } }],
    ["never stored", { store: true, background: true, previous_response_id: "r" }, { store: false, background: false, previous_response_id: null }],
    ["no others", { input: "secret", model: "other", api_key: "k" }, { input: undefined, model: "asked-for", api_key: undefined }],
  ];
  test.each(ROWS)("%s", (_what, request, repeated) => {
    const response = asked(request);
    expect(Object.fromEntries(Object.keys(repeated).map((key) => [key, response[key]]))).toEqual(repeated);
  });
});

describe("the items of a chat provider's answer:", () => {
  const reasoning = (index: number, text: string) => ({
    ...{ id: `rs_A1_${index}`, type: "reasoning", summary: [{ type: "summary_text", text }] },
    encrypted_content: expect.any(String),
  });
  const call = (id: string, name: string, json: unknown) => ({ id, function: { name, arguments: json } });
  // biome-ignore format: a table
  const ROWS: readonly (readonly [what: string, message: Row, items: Row[]])[] = [
    ["reasoning and text", { reasoning_content: "hm", content: "a" }, [reasoning(0, "hm"), message(1, [outputText("a")])]],
    ["reasoning under another name", { reasoning: "hm", content: "a" }, [reasoning(0, "hm"), message(1, [outputText("a")])]],
    ["thinking among the parts", { content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }, { type: "text", text: "a" }] }, [reasoning(0, "hm"), message(1, [outputText("a")])]],
    ["a refusal", { content: null, refusal: "no" }, [message(0, [{ type: "refusal", refusal: "no" }])]],
    ["text and a refusal", { content: "a", refusal: "no" }, [message(0, [outputText("a"), { type: "refusal", refusal: "no" }])]],
    ["a refusal among the parts", { content: [{ type: "refusal", refusal: "no" }] }, [message(0, [{ type: "refusal", refusal: "no" }])]],
    ["text and calls", { content: "a", tool_calls: [call("t1", "f", '{"x":1}'), call("t2", "short", "{}")] },
      [message(0, [outputText("a")]), fcall(1, "t1", "f", '{"x":1}'), fcall(2, "t2", "the_name_as_the_client_wrote_it", "{}")]],
    ["a call without id and arguments", { tool_calls: [call("", "f", null)] }, [fcall(0, "call_A1_0", "f", "{}")]],
    ["a call in the old form", { function_call: { name: "f", arguments: "{}" } }, [fcall(0, "call_A1_0", "f", "{}")]],
    ["a call without a name is none", { tool_calls: [call("t", "", "{}")] }, [message(0, [outputText("")])]],
    ["nothing", {}, [message(0, [outputText("")])]],
  ];
  test.each(ROWS)("%s", (_what, given, items) => expect(output(ofChat(given))).toEqual(items));

  test("reasoning carries its text for the provider that made it", () =>
    expect(carriedThinking(output(ofChat({ reasoning: "hm" }))[0]!)).toEqual({
      ...{ provider: "anthropic", blocks: [], text: "hm", calls: [] },
    }));
  test("reasoning carries nothing for a provider that does not read it", () => {
    const context = { ...CONTEXT, readsReasoning: false };
    const summary = [{ type: "summary_text", text: "hm" }];
    expect(output(ofChat({ reasoning: "hm" }, {}, context))[0]).toEqual({
      ...{ id: "rs_A1_0", type: "reasoning", summary },
    });
    const signed = { type: "thinking", thinking: "hm", signature: "s" };
    const [item] = output(ofMessages([signed], {}, context));
    expect(carriedThinking(item!)!.blocks).toEqual([signed]);
  });
});

describe("the items of a messages provider's answer:", () => {
  const TEXT = { type: "text", text: "a" };
  const THINKING = { type: "thinking", thinking: "hm", signature: "s" };
  const HIDDEN = { type: "redacted_thinking", data: "d" };
  const use = (id: unknown, name: string, input: unknown) => ({ type: "tool_use", id, name, input });
  const types = (content: unknown[]) => output(ofMessages(content)).map(({ type }) => type);

  test("each block of thinking is an item that carries it with its signature", () => {
    const items = output(ofMessages([THINKING, HIDDEN, { ...THINKING, thinking: "" }, TEXT]));
    expect(items.map(({ summary }) => summary)).toEqual([
      [{ type: "summary_text", text: "hm" }],
      [],
      [],
      undefined,
    ]);
    expect(items.slice(0, 3).map((item) => carriedThinking(item)!.blocks)).toEqual([
      [THINKING],
      [HIDDEN],
      [{ ...THINKING, thinking: "" }],
    ]);
    expect(items.map(({ id }) => id)).toEqual(["rs_A1_0", "rs_A1_1", "rs_A1_2", "msg_A1_3"]);
  });
  test("thinking without text, signature and data is none", () =>
    expect(types([{ type: "thinking", thinking: "" }, { type: "redacted_thinking" }, TEXT])).toEqual([
      "message",
    ]));
  test("texts that were cut where they cite are one", () =>
    expect(output(ofMessages([TEXT, { ...TEXT, text: "b", citations: [{}] }]))).toEqual([
      message(0, [outputText("ab")]),
    ]));
  test("the order is the provider's", () =>
    expect(types([THINKING, TEXT, use("t1", "f", {}), THINKING, TEXT, use("t2", "f", {})])).toEqual([
      ...["reasoning", "message", "function_call", "reasoning", "message", "function_call"],
    ]));
  test("calls", () =>
    expect(output(ofMessages([use("t1", "f", { x: [1] }), use(null, "short", "[]")]))).toEqual([
      fcall(0, "t1", "f", '{"x":[1]}'),
      fcall(1, "call_A1_1", "the_name_as_the_client_wrote_it", "{}"),
    ]));
  test("the provider's own tools and news are dropped", () =>
    expect(
      types([{ type: "server_tool_use", id: "s", name: "web_search" }, { type: "new" }, null, TEXT]),
    ).toEqual(["message"]));
});

describe("a custom tool's call", () => {
  const request = {
    tools: [
      { type: "custom", name: "patch" },
      { type: "custom", name: "the_name_as_the_client_wrote_it" },
    ],
  };
  const called = (json: string, name = "patch") =>
    output(
      ofChat(
        { tool_calls: [{ id: "t", function: { name, arguments: json } }] },
        {},
        { ...CONTEXT, repeatedFields: request },
      ),
    );
  // biome-ignore format: a table
  const ROWS: readonly (readonly [what: string, json: string, input: string])[] = [
    ["is the text of its input", '{"input":"*** Begin\\n\\"x\\""}', '*** Begin\n"x"'],
    ["is empty without arguments", "", ""],
    ["is the arguments when there is no input", '{"patch":"x"}', '{"patch":"x"}'],
    ["is the arguments when the input is no text", '{"input":7}', '{"input":7}'],
    ["is what a host sent instead of JSON", "*** Begin", "*** Begin"],
  ];
  test.each(ROWS)("%s", (_what, json, input) =>
    expect(called(json)).toEqual([
      { id: "ctc_A1_0", type: "custom_tool_call", call_id: "t", name: "patch", input },
    ]),
  );
  // biome-ignore format: a table
  const CUT: readonly (readonly [what: string, json: string, input: string])[] = [
    ["in its text, has the text so far", '{"input":"*** Begin\\n\\"x\\" y', '*** Begin\n"x" y'],
    ["after its text, has all of it", '{ "input" : "a\\u00e9" ', "a\u00e9"],
    ["in an escape, ends before it", '{"input":"a\\', "a"],
    ["in an escape of four digits, ends before it", '{"input":"a\\u00e', "a"],
    ["in a character of two escapes, ends before it", '{"input":"a\\ud83d', "a"],
    ["before its text, is empty", '{"inp', ""],
    ["in another argument, is empty", '{"patch":"x', ""],
    ["before its first argument, is empty", "", ""],
    ["after its arguments, has its input", '{"input":"x"}', "x"],
    ["in what a host sent instead of JSON, has that", "*** Beg", "*** Beg"],
  ];
  test.each(CUT)("that was cut %s", (_what, json, input) => {
    const calls = { tool_calls: [{ id: "t", function: { name: "patch", arguments: json } }] };
    const answer = ofChat(calls, { finish_reason: "length" }, { ...CONTEXT, repeatedFields: request });
    expect(output(answer)).toMatchObject([{ type: "custom_tool_call", input }]);
  });
  test("is known by the client's name of the tool", () =>
    expect(called('{"input":"x"}', "short")).toMatchObject([
      { type: "custom_tool_call", name: "the_name_as_the_client_wrote_it" },
    ]));
});

describe("a function's call that was cut", () => {
  const cut = (json: string) =>
    output(
      ofChat(
        { tool_calls: [{ id: "t", function: { name: "f", arguments: json } }] },
        { finish_reason: "length" },
      ),
    );
  test("keeps what it has", () =>
    expect(cut('{"a')).toMatchObject([{ arguments: '{"a', status: "incomplete" }]));
  test("before its first argument has none", () => {
    expect(cut("")).toMatchObject([{ arguments: "", status: "incomplete" }]);
    const use = { type: "tool_use", id: "t", name: "f", input: {} };
    expect(output(ofMessages([use], { stop_reason: "max_tokens" }))).toMatchObject([{ arguments: "" }]);
    expect(output(ofMessages([use]))).toMatchObject([{ arguments: "{}" }]);
  });
});

describe("the status of", () => {
  // biome-ignore format: a table
  const CHAT: readonly (readonly [finish: unknown, status: string, reason: string | null])[] = [
    ["stop", "completed", null],
    ["tool_calls", "completed", null],
    ["length", "incomplete", "max_output_tokens"],
    ["MAX_TOKENS", "incomplete", "max_output_tokens"],
    ["model_length", "incomplete", "max_output_tokens"],
    ["content_filter", "incomplete", "content_filter"],
    ["sensitive", "incomplete", "content_filter"],
    [null, "completed", null],
    ["eos", "completed", null],
  ];
  // biome-ignore format: a table
  const MESSAGES: typeof CHAT = [
    ["end_turn", "completed", null],
    ["stop_sequence", "completed", null],
    ["tool_use", "completed", null],
    ["max_tokens", "incomplete", "max_output_tokens"],
    ["model_context_window_exceeded", "incomplete", "max_output_tokens"],
    ["pause_turn", "incomplete", "max_output_tokens"],
    ["compaction", "incomplete", "max_output_tokens"],
    ["refusal", "incomplete", "content_filter"],
    [{ odd: 1 }, "completed", null],
  ];
  const stated = (status: string, reason: string | null) => ({
    status,
    incomplete_details: reason === null ? null : { reason },
    completed_at: status === "completed" ? 1_700_000_000 : null,
    output: [{ status: "completed", type: "function_call" }, { status }],
  });
  test.each(CHAT)("a chat answer that ends by %j is %s", (finish_reason, status, reason) => {
    const calls = [
      { id: "t1", function: { name: "f" } },
      { id: "t2", function: { name: "f", arguments: '{"x' } },
    ];
    expect(ofChat({ tool_calls: calls }, { finish_reason })).toMatchObject(stated(status, reason));
  });
  test.each(MESSAGES)("a message that ends by %j is %s", (stop_reason, status, reason) => {
    const content = [
      { type: "tool_use", id: "t", name: "f" },
      { type: "text", text: "a" },
    ];
    expect(ofMessages(content, { stop_reason })).toMatchObject(stated(status, reason));
  });
  test("an answer that was filtered before its first word", () =>
    expect(ofMessages([], { stop_reason: "refusal" })).toMatchObject({ status: "incomplete", output: [] }));
});

describe("usage", () => {
  test("of a chat provider", () =>
    expect(
      responsesAnswerOfChat(
        {
          choices: [],
          usage: {
            ...USAGE,
            prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
            completion_tokens_details: { reasoning_tokens: 3 },
          },
        },
        CONTEXT,
      ).usage,
    ).toEqual({
      ...FIGURES,
      input_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
      output_tokens_details: { reasoning_tokens: 3 },
    }));
  test("of a messages provider, whose input is beside its cached tokens", () =>
    expect(
      ofMessages([], {
        usage: {
          ...{
            input_tokens: 3,
            cache_read_input_tokens: 5,
            cache_creation_input_tokens: 7,
            output_tokens: 4,
          },
          output_tokens_details: { thinking_tokens: 2 },
        },
      }).usage,
    ).toEqual({
      input_tokens: 15,
      input_tokens_details: { cached_tokens: 5, cache_write_tokens: 7 },
      output_tokens: 4,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 19,
    }));
  test("that never came is estimated", () =>
    expect(ofMessages([{ type: "text", text: "x".repeat(40) }]).usage).toMatchObject({
      ...{ input_tokens: 77, output_tokens: 10, total_tokens: 87 },
    }));
});

describe("an error", () => {
  const error = { type: "overloaded_error", code: "", status: 529, message: "m" };
  test("of a messages provider has the chat form", () =>
    expect(responsesErrorOf.messages(error)).toEqual({
      ...{ type: "service_unavailable_error", code: "overloaded", status: 503, message: "m" },
    }));
  test("of a chat provider stays", () => {
    const quota = { type: "insufficient_quota", code: "insufficient_quota", status: 429 };
    expect(responsesErrorOf.chat(quota)).toEqual(quota);
  });
  // biome-ignore format: a table
  const ROWS: readonly (readonly [code: string, type: string, known: string])[] = [
    ["upstream_error", "api_error", "server_error"],
    ["upstream_timeout", "timeout_error", "server_error"],
    ["upstream_rate_limited", "rate_limit_error", "rate_limit_exceeded"],
    ["rate_limit_exceeded", "", "rate_limit_exceeded"],
    ["context_length_exceeded", "invalid_request_error", "context_length_exceeded"],
    ["", "invalid_request_error", "invalid_prompt"],
    ["constructor", "__proto__", "server_error"],
  ];
  test.each(ROWS)("%j of type %j fails a response as %s", (code, type, known) =>
    expect(responseErrorOf({ code, type, message: "m" })).toEqual({ code: known, message: "m" }),
  );
});

test("never throws, and its items are of known types", () =>
  fc.assert(
    fc.property(odd, odd, odd, odd, (content, tool_calls, finish_reason, usage) => {
      const request = { tools: content, text: usage, instructions: tool_calls };
      const context = { ...CONTEXT, repeatedFields: request };
      const given = { content, tool_calls, reasoning: finish_reason, function_call: usage };
      const blocks = [
        content,
        { type: "tool_use", name: "f", input: usage },
        { type: "thinking", signature: "s" },
      ];
      for (const response of [
        ofChat(given, { finish_reason }, context),
        ofMessages(blocks, { stop_reason: finish_reason, usage }, context),
      ]) {
        expect(JSON.parse(JSON.stringify(response))).toMatchObject({ object: "response" });
        for (const { type } of output(response))
          expect(["message", "reasoning", "function_call"]).toContain(type as string);
      }
    }),
  ));
