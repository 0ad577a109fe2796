// A responses client on a chat provider and on a messages provider: one golden case for each rule of the translation of
// its request.

import { describe, expect, test } from "bun:test";
import type { Json } from "../../../src/dialect/json.ts";
import { encryptedContentOf } from "../../../src/dialect/translate/reasoning-item.ts";
import {
  chatRequestOfResponses,
  messagesRequestOfResponses,
} from "../../../src/dialect/translate/request-translations.ts";
import type { ModelFacts } from "../../../src/dialect/translate/translation.ts";
import { bodyOf, PIXEL, PLAIN, PNG_SOURCE, PNG_URL } from "./request-samples.ts";

type Facts = Partial<ModelFacts>;
const request = (extra: Json): Json => ({ model: "asked", input: "hi", ...extra });
const toChat = (extra: Json, facts: Facts = {}) =>
  chatRequestOfResponses(request(extra), { ...PLAIN, ...facts });
const toMessages = (extra: Json, facts: Facts = {}) =>
  messagesRequestOfResponses(request(extra), { ...PLAIN, ...facts });
const atChat = (extra: Json, facts: Facts = {}): Json => bodyOf(toChat(extra, facts));
const atMessages = (extra: Json, facts: Facts = {}): Json => bodyOf(toMessages(extra, facts));

const HI = { role: "user", content: "hi" };
const text = (words: string): Json => ({ type: "text", text: words });
const item = (role: string, ...content: Json[]): Json => ({ type: "message", role, content });
const call = (call_id: string, args = "{}", name = "look"): Json => ({
  ...{ type: "function_call", id: "fc_1", status: "completed" },
  ...{ call_id, name, arguments: args },
});
const output = (call_id: string, value: unknown): Json => ({
  type: "function_call_output",
  call_id,
  output: value,
});
const chatCall = (id: string, args = "{}", name = "look"): Json => ({
  ...{ id, type: "function" },
  function: { name, arguments: args },
});
const use = (id: string, input: Json = {}, name = "look"): Json => ({ type: "tool_use", id, name, input });
const result = (tool_use_id: string, content: unknown): Json => ({
  type: "tool_result",
  tool_use_id,
  content,
});
const PDF = "JVBERi0xLjQK";
const SCHEMA = { type: "object", properties: { at: {} } };
const LOOK = { type: "function", name: "look", description: "Looks.", parameters: SCHEMA, strict: true };
const HEAR = { type: "function", name: "hear" };
const PATCH = {
  ...{ type: "custom", name: "patch", description: "Patches." },
  format: { type: "grammar", syntax: "lark", definition: "start: /a+/" },
};
const LOOK_AT_CHAT = {
  type: "function",
  function: { name: "look", description: "Looks.", parameters: SCHEMA, strict: true },
};
const LOOK_AT_MESSAGES = { name: "look", description: "Looks.", input_schema: SCHEMA, strict: true };
const HEAR_AT_CHAT = {
  type: "function",
  function: { name: "hear", parameters: { type: "object", properties: {} } },
};
const HEAR_AT_MESSAGES = { name: "hear", input_schema: { type: "object", properties: {} } };

/** The fields of a request that are also in `others`. */
const fields = (request: Json, others: Json): Json =>
  Object.fromEntries(Object.keys(others).map((name) => [name, request[name]]));

test("the least request at a chat provider", () =>
  expect(atChat({})).toEqual({ model: "a-model", messages: [HI] }));
test("the least request at a messages provider, which needs a limit", () =>
  expect(atMessages({})).toEqual({ model: "a-model", messages: [HI], max_tokens: 8_192 }));

describe("without an output limit a messages provider receives", () => {
  const sent = (facts: Facts, promptTokens = 0, extra: Json = {}): Json =>
    bodyOf(messagesRequestOfResponses(request(extra), { ...PLAIN, ...facts }, promptTokens));
  const KNOWN = { maxOutputTokens: 64_000, contextWindow: 200_000 };

  test("the longest output of its model", () => {
    expect(sent(KNOWN).max_tokens).toBe(64_000);
    expect(sent({ ...KNOWN, contextWindow: 0 }, 150_000).max_tokens).toBe(64_000);
  });
  test("that with all of its thinking", () => {
    const reasoning = { effort: "medium" };
    const adaptive = { ...KNOWN, quirks: new Set(["adaptive_thinking"]) };
    expect(sent(adaptive, 0, { reasoning })).toMatchObject({
      max_tokens: 64_000,
      thinking: { type: "adaptive" },
    });
    expect(sent(KNOWN, 0, { reasoning })).toMatchObject({
      max_tokens: 64_000,
      thinking: { budget_tokens: 4_096 },
    });
  });
  test("what its context window leaves of it", () => {
    expect(sent(KNOWN, 150_000).max_tokens).toBe(50_000);
    expect(sent(KNOWN, 195_000).max_tokens).toBe(8_192);
  });
  test("8192 where nothing is known of its model", () => expect(sent({}).max_tokens).toBe(8_192));
  test("the client's limit where there is one", () =>
    expect(sent(KNOWN, 0, { max_output_tokens: 9 }).max_tokens).toBe(9));
});

describe("input", () => {
  // biome-ignore format: a table
  const CASES: readonly (readonly [rule: string, extra: Json, chat: readonly Json[], messages: Json])[] = [
    ["instructions are the system's words", { instructions: "a" },
      [{ role: "system", content: "a" }, HI], { system: [text("a")], messages: [HI] }],
    ["leading developer and system messages follow the instructions", { instructions: "a", input: [item("developer", { type: "input_text", text: "b" }), { role: "system", content: "c" }, HI] },
      [{ role: "system", content: "a\nb\nc" }, HI], { system: [text("a"), text("b"), text("c")], messages: [HI] }],
    ["a late developer message is folded into the user's turn", { input: [HI, { role: "assistant", content: "a" }, { role: "developer", content: "b" }, HI] },
      [HI, { role: "assistant", content: "a" }, { role: "user", content: [text("<system>\nb\n</system>"), text("hi")] }],
      { messages: [HI, { role: "assistant", content: "a" }, { role: "user", content: [text("<system>\nb\n</system>"), text("hi")] }] }],
    ["messages without a type are messages", { input: [{ role: "user", content: [{ type: "input_text", text: "hi" }] }] },
      [HI], { messages: [HI] }],
    ["an earlier answer is the assistant's, whole or refused", { input: [HI, item("assistant", { type: "output_text", text: "a", annotations: [] }, { type: "refusal", refusal: "b" }), HI] },
      [HI, { role: "assistant", content: "a\nb" }, HI], { messages: [HI, { role: "assistant", content: [text("a"), text("b")] }, HI] }],
    ["items of one answer are one message", { input: [HI, item("assistant", { type: "output_text", text: "a" }), call("1"), call("2", '{"at":1}'), output("1", "x"), output("2", "y")] },
      [HI, { role: "assistant", content: "a", tool_calls: [chatCall("1"), chatCall("2", '{"at":1}')] }, { role: "tool", tool_call_id: "1", content: "x" }, { role: "tool", tool_call_id: "2", content: "y" }],
      { messages: [HI, { role: "assistant", content: [text("a"), use("1"), use("2", { at: 1 })] }, { role: "user", content: [result("1", "x"), result("2", "y")] }] }],
    ["calls one after another stay so", { input: [HI, call("1"), output("1", "x"), call("2"), output("2", "y")] },
      [HI, { role: "assistant", content: null, tool_calls: [chatCall("1")] }, { role: "tool", tool_call_id: "1", content: "x" }, { role: "assistant", content: null, tool_calls: [chatCall("2")] }, { role: "tool", tool_call_id: "2", content: "y" }],
      { messages: [HI, { role: "assistant", content: [use("1")] }, { role: "user", content: [result("1", "x")] }, { role: "assistant", content: [use("2")] }, { role: "user", content: [result("2", "y")] }] }],
    ["a call without an output gets one", { input: [HI, call("1"), HI] },
      [HI, { role: "assistant", content: null, tool_calls: [chatCall("1")] }, { role: "tool", tool_call_id: "1", content: "Error: no result" }, HI],
      { messages: [HI, { role: "assistant", content: [use("1")] }, { role: "user", content: [{ ...result("1", "no result"), is_error: true }, text("hi")] }] }],
    ["an output without a call is the user's words", { input: [HI, output("1", "x")] },
      [{ role: "user", content: [text("hi"), text("Result of the call 1:"), text("x")] }],
      { messages: [{ role: "user", content: [text("hi"), text("Result of the call 1:"), text("x")] }] }],
    ["an output of parts keeps its pictures", { input: [HI, call("1"), output("1", [{ type: "input_text", text: "x" }, { type: "input_image", image_url: PNG_URL }])] },
      [HI, { role: "assistant", content: null, tool_calls: [chatCall("1")] }, { role: "tool", tool_call_id: "1", content: "x\n[image: see the next user message]" },
        { role: "user", content: [text("From the result of 1:"), { type: "image_url", image_url: { url: PNG_URL } }] }],
      { messages: [HI, { role: "assistant", content: [use("1")] }, { role: "user", content: [result("1", [text("x"), { type: "image", source: PNG_SOURCE }])] }] }],
    ["a custom call has its text as the one argument", { input: [HI, { type: "custom_tool_call", call_id: "1", name: "patch", input: "a\"b" }, { type: "custom_tool_call_output", call_id: "1", output: "x" }] },
      [HI, { role: "assistant", content: null, tool_calls: [chatCall("1", '{"input":"a\\"b"}', "patch")] }, { role: "tool", tool_call_id: "1", content: "x" }],
      { messages: [HI, { role: "assistant", content: [use("1", { input: 'a"b' }, "patch")] }, { role: "user", content: [result("1", "x")] }] }],
    ["arguments that are no JSON are empty", { input: [HI, call("1", "{a"), output("1", "x")] },
      [HI, { role: "assistant", content: null, tool_calls: [chatCall("1")] }, { role: "tool", tool_call_id: "1", content: "x" }],
      { messages: [HI, { role: "assistant", content: [use("1")] }, { role: "user", content: [result("1", "x")] }] }],
    ["arguments keep their text: a large number is not rounded", { input: [HI, call("1", '{ "id": 9007199254740993 }'), output("1", "x")] },
      [HI, { role: "assistant", content: null, tool_calls: [chatCall("1", '{ "id": 9007199254740993 }')] }, { role: "tool", tool_call_id: "1", content: "x" }],
      { messages: [HI, { role: "assistant", content: [use("1", { id: 9_007_199_254_740_992 })] }, {}] }],
    ["blank arguments are none", { input: [HI, call("1", " "), output("1", "x")] },
      [HI, { role: "assistant", content: null, tool_calls: [chatCall("1")] }, { role: "tool", tool_call_id: "1", content: "x" }],
      { messages: [HI, { role: "assistant", content: [use("1")] }, {}] }],
    ["pictures by data and by address", { input: [item("user", { type: "input_image", image_url: PNG_URL, detail: "low" }, { type: "input_image", image_url: "https://a.example/b.png" })] },
      [{ role: "user", content: [{ type: "image_url", image_url: { url: PNG_URL, detail: "low" } }, { type: "image_url", image_url: { url: "https://a.example/b.png" } }] }],
      { messages: [{ role: "user", content: [{ type: "image", source: PNG_SOURCE }, { type: "image", source: { type: "url", url: "https://a.example/b.png" } }] }] }],
    ["a file with its name", { input: [item("user", { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` })] },
      [{ role: "user", content: [{ type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` } }] }],
      { messages: [{ role: "user", content: [{ type: "document", source: { type: "base64", media_type: "application/pdf", data: PDF }, title: "a.pdf" }] }] }],
    ["a file of text is a text, a file of a picture a picture", { input: [item("user", { type: "input_file", filename: "a.txt", file_data: `data:text/plain;base64,${btoa("hi")}` }, { type: "input_file", file_data: `data:image/png;base64,${PIXEL}` })] },
      [{ role: "user", content: [text("a.txt\nhi"), { type: "image_url", image_url: { url: PNG_URL } }] }],
      { messages: [{ role: "user", content: [text("a.txt\nhi"), { type: "image", source: PNG_SOURCE }] }] }],
    ["items of the provider's own tools are dropped", { input: [{ type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "a" } }, HI] },
      [HI], { messages: [HI] }],
    ["thinking of a provider of this style is dropped", { input: [{ type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "a" }], encrypted_content: "gAAAA" }, HI] },
      [HI], { messages: [HI] }],
    ["nothing at all", { input: [] }, [{ role: "user", content: "." }], { messages: [{ role: "user", content: "." }] }],
  ];
  for (const [rule, extra, chat, messages] of CASES) {
    test(`at a chat provider: ${rule}`, () => expect(atChat(extra).messages).toEqual(chat));
    test(`at a messages provider: ${rule}`, () => expect(atMessages(extra)).toMatchObject(messages));
  }
  test("a file at an address goes to a messages provider alone", () => {
    const input = [item("user", { type: "input_file", file_url: "https://a.example/b.pdf" })];
    const source = { type: "url", url: "https://a.example/b.pdf" };
    expect(atMessages({ input }).messages).toEqual([
      { role: "user", content: [{ type: "document", source }] },
    ]);
    expect(toChat({ input })).toMatchObject({ ok: false, refusal: { field: "input.0.content.0.file_url" } });
  });
});

describe("thinking of a translated answer", () => {
  const block = { type: "thinking", thinking: "a", signature: "S" };
  const hidden = { type: "redacted_thinking", data: "D" };
  const reasoning = (carried: Parameters<typeof encryptedContentOf>[0]): Json => ({
    ...{ type: "reasoning", id: "rs_1", summary: [] },
    encrypted_content: encryptedContentOf(carried),
  });
  const loop = (...thoughts: Json[]): Json => ({ input: [HI, ...thoughts, call("1"), output("1", "x")] });
  const carried = { provider: "maker", blocks: [block], text: "" };

  test("goes back to the provider that made it, signed, before the call", () =>
    expect(
      atMessages(loop(reasoning(carried), reasoning({ ...carried, blocks: [hidden] }))).messages,
    ).toEqual([
      HI,
      { role: "assistant", content: [block, hidden, use("1")] },
      { role: "user", content: [result("1", "x")] },
    ]));
  test("goes back in its place among texts and calls", () => {
    const [first, second] = [reasoning(carried), reasoning({ ...carried, blocks: [hidden] })];
    const say = (words: string) => item("assistant", { type: "output_text", text: words });
    const results = [output("a", "1"), output("b", "2")];
    const input = [HI, first, say("x"), second, call("a"), say("y"), first, call("b"), ...results];
    expect((atMessages({ input }).messages as Json[])[1]!.content).toEqual([
      ...[block, text("x"), hidden, use("a")],
      ...[text("y"), block, use("b")],
    ]);
  });
  test("is left out at the end of an answer, where providers refuse it", () => {
    const words = item("assistant", { type: "output_text", text: "x " });
    const begun = (...after: Json[]) =>
      atMessages({ input: [HI, reasoning(carried), words, reasoning(carried), ...after] }).messages;
    expect(begun(HI)).toMatchObject([{}, { content: [block, text("x ")] }, {}]);
    expect(begun()).toMatchObject([{}, { content: [block, text("x")] }]);
  });
  test("lets the model go on thinking after a tool's result", () => {
    const effort = { reasoning: { effort: "low" } };
    const thinking = { type: "enabled", budget_tokens: 1_024 };
    expect(atMessages({ ...loop(reasoning(carried)), ...effort })).toMatchObject({ thinking });
    expect(atMessages({ ...loop(), ...effort }).thinking).toBeUndefined();
  });
  test("goes to no other provider", () =>
    expect(atMessages(loop(reasoning({ ...carried, provider: "other" }))).messages).toMatchObject([
      HI,
      { content: [use("1")] },
      {},
    ]));
  test("of a chat provider goes back as its text, where it is read", () => {
    const own = loop(reasoning({ provider: "maker", blocks: [], text: "why" }));
    const sent = (facts: Facts) => (atChat(own, facts).messages as Json[])[1]!.reasoning_content;
    expect(sent({ readsReasoning: true })).toBe("why");
    expect(sent({})).toBeUndefined();
    expect(sent({ readsReasoning: true, provider: "other" })).toBeUndefined();
  });
  test("that was damaged is dropped", () => {
    for (const content of [
      "arborgate.1.",
      "arborgate.1.%%%",
      `arborgate.1.${btoa("[1]")}`,
      "arborgate.1.e30",
    ]) {
      const damaged = { type: "reasoning", summary: [], encrypted_content: content };
      expect(atMessages(loop(damaged)).messages).toMatchObject([HI, { content: [use("1")] }, {}]);
    }
  });
  test("without a signature is not carried", () =>
    expect(encryptedContentOf({ ...carried, blocks: [{ ...block, signature: "" }] })).toBeNull());
});

describe("tools", () => {
  // biome-ignore format: a table
  const CASES: readonly (readonly [rule: string, extra: Json, chat: Json, messages: Json])[] = [
    ["flat functions", { tools: [LOOK, HEAR] },
      { tools: [LOOK_AT_CHAT, HEAR_AT_CHAT] }, { tools: [LOOK_AT_MESSAGES, HEAR_AT_MESSAGES] }],
    ["a choice without tools means nothing", { tool_choice: "required", parallel_tool_calls: false }, {}, {}],
    ["auto", { tools: [HEAR], tool_choice: "auto" },
      { tools: [HEAR_AT_CHAT], tool_choice: "auto" }, { tools: [HEAR_AT_MESSAGES], tool_choice: { type: "auto" } }],
    ["none", { tools: [HEAR], tool_choice: "none" },
      { tools: [HEAR_AT_CHAT], tool_choice: "none" }, { tools: [HEAR_AT_MESSAGES], tool_choice: { type: "none" } }],
    ["required, one at a time", { tools: [HEAR], tool_choice: "required", parallel_tool_calls: false },
      { tools: [HEAR_AT_CHAT], tool_choice: "required", parallel_tool_calls: false },
      { tools: [HEAR_AT_MESSAGES], tool_choice: { type: "any", disable_parallel_tool_use: true } }],
    ["one function", { tools: [LOOK, HEAR], tool_choice: { type: "function", name: "hear" } },
      { tools: [LOOK_AT_CHAT, HEAR_AT_CHAT], tool_choice: { type: "function", function: { name: "hear" } } },
      { tools: [LOOK_AT_MESSAGES, HEAR_AT_MESSAGES], tool_choice: { type: "tool", name: "hear" } }],
    ["an unknown function means the model's default", { tools: [HEAR], tool_choice: { type: "function", name: "see" } },
      { tools: [HEAR_AT_CHAT] }, { tools: [HEAR_AT_MESSAGES] }],
    ["some of them", { tools: [LOOK, HEAR], tool_choice: { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "hear" }] } },
      { tools: [HEAR_AT_CHAT], tool_choice: "required" }, { tools: [HEAR_AT_MESSAGES], tool_choice: { type: "any" } }],
  ];
  const shown = ({ tools, tool_choice, parallel_tool_calls }: Json): Json => ({
    tools,
    tool_choice,
    parallel_tool_calls,
  });
  for (const [rule, extra, chat, messages] of CASES) {
    test(`at a chat provider: ${rule}`, () => expect(shown(atChat(extra))).toEqual(shown(chat)));
    test(`at a messages provider: ${rule}`, () => expect(shown(atMessages(extra))).toEqual(shown(messages)));
  }

  test("a custom tool is a function with one text, whose description has the grammar", () => {
    const extra = { tools: [PATCH], tool_choice: { type: "custom", name: "patch" } };
    const [chat, messages] = [atChat(extra), atMessages(extra)];
    const { description, parameters } = (chat.tools as { function: Json }[])[0]!.function;
    expect(description).toMatch(/^Patches\.\n[\s\S]*lark grammar:\nstart: \/a\+\/$/);
    expect(parameters).toMatchObject({ required: ["input"], additionalProperties: false });
    expect(Object.keys((parameters as Json).properties as Json)).toEqual(["input"]);
    expect(messages.tools).toEqual([{ name: "patch", description, input_schema: parameters }]);
    expect(chat.tool_choice).toEqual({ type: "function", function: { name: "patch" } });
    expect(messages.tool_choice).toEqual({ type: "tool", name: "patch" });
  });
  test("names that a provider does not take are changed, also in calls and choices", () => {
    const name = "a.b";
    const extra = {
      ...{ tools: [{ ...HEAR, name }], tool_choice: { type: "function", name } },
      input: [HI, call("1", "{}", name), output("1", "x")],
    };
    const translated = toChat(extra);
    const [sent] = translated.ok ? [...translated.toolNames.keys()] : [];
    expect(sent).toMatch(/^a_b_[0-9a-f]{8}$/);
    expect(bodyOf(translated)).toMatchObject({
      tools: [{ function: { name: sent } }],
      tool_choice: { function: { name: sent } },
      messages: [HI, { tool_calls: [{ function: { name: sent } }] }, {}],
    });
  });
});

describe("settings", () => {
  const format = (extra: Json): Json => ({
    text: { format: { type: "json_schema", name: "a", schema: SCHEMA, ...extra } },
  });
  // biome-ignore format: a table
  const CASES: readonly (readonly [rule: string, extra: Json, chat: Json, messages: Json, facts?: Facts])[] = [
    ["a limit", { max_output_tokens: 9 }, { max_tokens: 9 }, { max_tokens: 9 }],
    ["a limit of models that count thinking", { max_output_tokens: 9 }, { max_completion_tokens: 9 }, { max_tokens: 9 }, { reasoning: true }],
    ["a limit above the model's", { max_output_tokens: 9_999 }, { max_tokens: 500 }, { max_tokens: 500 }, { maxOutputTokens: 500 }],
    ["sampling", { temperature: 1.5, top_p: 0.5 }, { temperature: 1.5, top_p: 0.5 }, { temperature: 1, top_p: undefined }],
    ["sampling of models that take none", { temperature: 1.5 }, { temperature: undefined }, { temperature: undefined }, { quirks: new Set(["no_sampling_params"]) }],
    ["an effort", { reasoning: { effort: "low" } }, { reasoning_effort: "low" }, { thinking: { type: "enabled", budget_tokens: 1_024 } }],
    ["an effort that the model lacks", { reasoning: { effort: "xhigh" } }, { reasoning_effort: "high" }, { thinking: { type: "enabled", budget_tokens: 8_192 } }],
    ["an effort of a model that is not known to think", { reasoning: { effort: "high" } }, { reasoning_effort: undefined }, { thinking: undefined }, { efforts: [] }],
    ["a schema", format({ strict: true, description: "b" }), { response_format: { type: "json_schema", json_schema: { name: "a", description: "b", schema: SCHEMA, strict: true } } }, { output_config: { format: { type: "json_schema", schema: SCHEMA } } }],
    ["a schema that is not strict", format({}), { response_format: { type: "json_schema", json_schema: { name: "a", schema: SCHEMA } } }, { output_config: { format: { type: "json_schema", schema: SCHEMA } } }],
    ["a schema of models without schemas", format({}), { response_format: undefined, messages: [{ role: "system", content: expect.stringContaining(JSON.stringify(SCHEMA)) }, HI] }, { system: [text(expect.stringContaining(JSON.stringify(SCHEMA)))] }, { structured: false }],
    ["any JSON", { text: { format: { type: "json_object" } } }, { response_format: { type: "json_object" } }, { system: [text(expect.stringContaining("one JSON object"))] }],
    ["text", { text: { format: { type: "text" } } }, { response_format: undefined }, { output_config: undefined }],
    ["a verbosity", { text: { verbosity: "low" } }, { verbosity: undefined }, { verbosity: undefined }],
    ["a verbosity of models that read it", { text: { verbosity: "low" } }, { verbosity: "low" }, { verbosity: undefined }, { verbosity: true }],
    ["a user", { user: "u" }, { user: "u" }, { metadata: { user_id: "u" } }],
    ["a user by the newer name", { user: "u", safety_identifier: "s" }, { user: "s" }, { metadata: { user_id: "s" } }],
    ["a hint for the cache", { prompt_cache_key: "k" }, { prompt_cache_key: undefined }, { prompt_cache_key: undefined }],
    ["a hint for the cache of hosts that read it", { prompt_cache_key: "k" }, { prompt_cache_key: "k" }, { prompt_cache_key: undefined }, { cacheKey: true }],
    ["a stream", { stream: true }, { stream: true, stream_options: { include_usage: true } }, { stream: true }],
    ["what concerns only providers that keep responses", { store: false, background: false, previous_response_id: null, metadata: { a: "b" }, include: ["reasoning.encrypted_content"], truncation: "auto", service_tier: "auto" },
      { store: undefined, metadata: undefined, include: undefined, truncation: undefined, service_tier: undefined }, { metadata: undefined, store: undefined, service_tier: undefined }],
  ];
  for (const [rule, extra, chat, messages, facts] of CASES) {
    test(`at a chat provider: ${rule}`, () => expect(fields(atChat(extra, facts), chat)).toEqual(chat));
    test(`at a messages provider: ${rule}`, () =>
      expect(fields(atMessages(extra, facts), messages)).toEqual(messages));
  }
});

describe("refused is", () => {
  const GONE = "previous_response_not_found";
  // biome-ignore format: a table
  const CASES: readonly (readonly [extra: Json, field: string, code?: string])[] = [
    [{ previous_response_id: "resp_1" }, "previous_response_id", GONE],
    [{ conversation: "conv_1" }, "conversation", GONE],
    [{ conversation: { id: "conv_1" } }, "conversation", GONE],
    [{ input: [HI, { type: "item_reference", id: "msg_1" }] }, "input.1", GONE],
    [{ input: [{ id: "msg_1" }] }, "input.0", GONE],
    [{ store: true }, "store"],
    [{ background: true }, "background"],
    [{ prompt: { id: "pmpt_1" } }, "prompt"],
    [{ input: [{ type: "compaction", encrypted_content: "a" }] }, "input.0"],
    [{ input: [{ type: "additional_tools", tools: [{ type: "function", name: "f" }] }] }, "input.0"],
    [{ input: [item("user", { type: "input_file", file_id: "file_1" })] }, "input.0.content.0.file_data"],
    [{ input: [item("user", { type: "input_image", file_id: "file_1" })] }, "input.0.content.0.image_url"],
    [{ input: [item("user", { type: "input_image", image_url: "data:image/svg+xml;base64,AAAA" })] }, "input.0.content.0.image_url"],
    [{ input: [item("user", { type: "input_audio", input_audio: {} })] }, "input.0.content.0"],
    [{ input: [call("1"), output("1", [{ type: "input_file", file_id: "file_1" }])] }, "input.1.output.0.file_data"],
    ...["web_search", "web_search_preview", "file_search", "code_interpreter", "computer", "computer_use_preview", "mcp", "image_generation",
      "shell", "local_shell", "apply_patch", "namespace", "tool_search", undefined].map((type): [Json, string] => [{ tools: [LOOK, { type }] }, "tools.1"]),
  ];
  for (const [extra, field, code = "invalid_parameter"] of CASES)
    test(`${field} of ${JSON.stringify(extra).slice(0, 80)}`, () => {
      for (const translate of [toChat, toMessages]) {
        const refused = translate(extra);
        expect(refused).toMatchObject({ ok: false, refusal: { code, field } });
        if (!refused.ok) expect(refused.refusal.message).toStartWith(`${field} `);
      }
    });
});
