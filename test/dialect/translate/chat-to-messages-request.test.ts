// A chat client on a messages provider: one golden case for each rule of the translation of its request.

import { describe, expect, test } from "bun:test";
import type { Json } from "../../../src/dialect/json.ts";
import { messagesRequestOf } from "../../../src/dialect/translate/request-translations.ts";
import type { ModelFacts } from "../../../src/dialect/translate/translation.ts";
import { bodyOf, PIXEL, PLAIN, PNG_SOURCE, PNG_URL } from "./request-samples.ts";

const HI = { role: "user", content: "hi" };
const LEAST = { model: "asked", max_tokens: 100, messages: [HI] };
const translate = (extra: Json, facts: Partial<ModelFacts> = {}) =>
  messagesRequestOf({ ...LEAST, ...extra }, { ...PLAIN, ...facts });
const sent = (extra: Json, facts: Partial<ModelFacts> = {}): Json => bodyOf(translate(extra, facts));
const user = (...content: Json[]): Json => ({ role: "user", content });
const assistant = (content: unknown, extra: Json = {}): Json => ({ role: "assistant", content, ...extra });
const system = (content: unknown, role = "system"): Json => ({ role, content });
const text = (words: string): Json => ({ type: "text", text: words });
const call = (id: string, args: unknown = "{}", name = "look"): Json => ({
  id,
  type: "function",
  function: { name, arguments: args },
});
const calls = (...tool_calls: Json[]): Json => assistant(null, { tool_calls });
const tool = (tool_call_id: string, content: unknown): Json => ({ role: "tool", tool_call_id, content });
const use = (id: string, input: Json = {}, name = "look"): Json => ({ type: "tool_use", id, name, input });
const result = (tool_use_id: string, content: unknown, extra: Json = {}): Json => ({
  type: "tool_result",
  tool_use_id,
  content,
  ...extra,
});
const thought = (signature: string): Json => ({ type: "thinking", thinking: "hm", signature });
const missing = (id: string): Json => result(id, "no result", { is_error: true });
const SCHEMA = { type: "object", properties: { at: {} } };
const LOOK = { type: "function", function: { name: "look", description: "Looks.", parameters: SCHEMA } };
const LOOK_SENT = { name: "look", description: "Looks.", input_schema: SCHEMA };
const HEAR = { type: "function", function: { name: "hear" } };
const HEAR_SENT = { name: "hear", input_schema: { type: "object", properties: {} } };
const quirks = (...names: string[]): Partial<ModelFacts> => ({ quirks: new Set(names) });
const ADAPTIVE = quirks("adaptive_thinking");

test("the least request, for the model as its provider knows it", () =>
  expect(sent({})).toEqual({ model: "a-model", messages: [HI], max_tokens: 100 }));

describe("messages", () => {
  // biome-ignore format: a table
  const CASES: readonly (readonly [
    rule: string,
    messages: readonly Json[],
    expected: Json | readonly Json[],
    facts?: Partial<ModelFacts>,
  ])[] = [
    [
      "leading system and developer messages are system blocks in order",
      [system("a"), system([text("b")], "developer"), HI],
      { system: [text("a"), text("b")], messages: [HI] },
    ],
    [
      "a mid-conversation system message is folded into the user's turn, in a tag",
      [HI, assistant("a"), system("In French."), user(text("b"))],
      [HI, assistant("a"), user(text("<system>\nIn French.\n</system>"), text("b"))],
    ],
    [
      "a mid-conversation system message stays after the user's turn for models that take it",
      [HI, system("In French."), assistant("oui"), HI],
      [HI, system([text("In French.")]), assistant("oui"), HI],
      { lateSystem: true },
    ],
    [
      "a mid-conversation system message before the user's words is folded even then",
      [HI, assistant("a"), system("In French."), HI],
      [HI, assistant("a"), user(text("<system>\nIn French.\n</system>"), text("hi"))],
      { lateSystem: true },
    ],
    [
      "a system message without a conversation is what the user says",
      [system("a")],
      { system: undefined, messages: [{ role: "user", content: "a" }] },
    ],
    [
      "a data URL is a base64 source",
      [user(text("see"), { type: "image_url", image_url: { url: PNG_URL, detail: "low" } })],
      [user(text("see"), { type: "image", source: PNG_SOURCE })],
    ],
    [
      "a data URL that lies about its type is found out",
      [user({ type: "image_url", image_url: { url: `data:image/jpeg;base64,${PIXEL}` } })],
      [user({ type: "image", source: PNG_SOURCE })],
    ],
    [
      "a data URL of an unseen kind is what it says",
      [user({ type: "image_url", image_url: { url: "data:image/jpg;base64,AAAA" } })],
      [user({ type: "image", source: { type: "base64", media_type: "image/jpeg", data: "AAAA" } })],
    ],
    [
      "a web address is a url source",
      [user({ type: "image_url", image_url: { url: "https://a.example/b.png" } })],
      [user({ type: "image", source: { type: "url", url: "https://a.example/b.png" } })],
    ],
    [
      "a PDF file is a document",
      [
        user({
          type: "file",
          file: { filename: "Terms.pdf", file_data: "data:application/pdf;base64,JVBERi0=" },
        }),
      ],
      [
        user({
          type: "document",
          source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
          title: "Terms.pdf",
        }),
      ],
    ],
    [
      "a text file is text under its name",
      [
        user({
          type: "file",
          file: { filename: "a.txt", file_data: `data:text/plain;base64,${btoa("Pay.")}` },
        }),
      ],
      [{ role: "user", content: "a.txt\nPay." }],
    ],
    ["empty and blank text is dropped", [user(text(""), text(" \n"), text("hi"))], [HI]],
    ["a message left empty is dropped", [HI, assistant(""), HI], [user(text("hi"), text("hi"))]],
    ["messages without anything in them are a filler", [user(text(""))], [{ role: "user", content: "." }]],
    [
      "calls are tool_use blocks after the text, their input an object",
      [HI, assistant("I look.", { tool_calls: [call("a", '{"at":"b"}')] }), tool("a", "1")],
      [HI, assistant([text("I look."), use("a", { at: "b" })]), user(result("a", "1"))],
    ],
    [
      "arguments that are no object are {}",
      [HI, calls(call("a", '{"at":'), call("b", "[1]"), call("c", ""), call("d", null)), tool("a", "1")],
      [
        HI,
        assistant([use("a"), use("b"), use("c"), use("d")]),
        user(result("a", "1"), missing("b"), missing("c"), missing("d")),
      ],
    ],
    [
      "consecutive tool messages are merged, the user's text after them",
      [HI, calls(call("a"), call("b")), tool("a", "1"), tool("b", [text("2")]), user(text("and"))],
      [HI, assistant([use("a"), use("b")]), user(result("a", "1"), result("b", "2"), text("and"))],
    ],
    [
      "an empty tool message is a result without content",
      [HI, calls(call("a")), tool("a", "")],
      [HI, assistant([use("a")]), user({ type: "tool_result", tool_use_id: "a" })],
    ],
    [
      "an image in a tool message stays in the result",
      [HI, calls(call("a")), tool("a", [text("1"), { type: "image_url", image_url: { url: PNG_URL } }])],
      [HI, assistant([use("a")]), user(result("a", [text("1"), { type: "image", source: PNG_SOURCE }]))],
    ],
    [
      "a missing tool answer is an error",
      [HI, calls(call("a"), call("b")), tool("b", "2"), HI],
      [HI, assistant([use("a"), use("b")]), user(result("b", "2"), missing("a"), text("hi"))],
    ],
    ["a missing tool answer at the end is an error", [HI, calls(call("a"))], [HI, assistant([use("a")]), user(missing("a"))]],
    [
      "an orphan result is the user's text",
      [HI, assistant("a"), tool("x", "1")],
      [HI, assistant("a"), user(text("Result of the call x:"), text("1"))],
    ],
    [
      "a late result is the user's text",
      [HI, calls(call("a")), HI, assistant("b"), tool("a", "1")],
      [
        HI,
        assistant([use("a")]),
        user(missing("a"), text("hi")),
        assistant("b"),
        user(text("Result of the call a:"), text("1")),
      ],
    ],
    [
      "a result that other words come before is still the first",
      [HI, calls(call("a")), user(text("wait")), tool("a", "1")],
      [HI, assistant([use("a")]), user(result("a", "1"), text("wait"))],
    ],
    [
      "a call without an id gets one, and the first result without one",
      [HI, calls({ function: { name: "look", arguments: "{}" } }), { role: "tool", content: "1" }],
      [HI, assistant([use("call")]), user(result("call", "1"))],
    ],
    [
      "a result without an id that no call is left for is the user's text",
      [HI, calls(call("a")), tool("a", "1"), { role: "tool", content: "2" }],
      [HI, assistant([use("a")]), user(result("a", "1"), text("Result of a tool:"), text("2"))],
    ],
    [
      "the old form of a call and its result",
      [
        HI,
        assistant(null, { function_call: { name: "look", arguments: "{}" } }),
        { role: "function", name: "look", content: "1" },
      ],
      [HI, assistant([use("call")]), user(result("call", "1"))],
    ],
    [
      "a custom call is a call with its input as text",
      [HI, calls({ id: "a", type: "custom", custom: { name: "look", input: "b" } }), tool("a", "1")],
      [HI, assistant([use("a", { input: "b" })]), user(result("a", "1"))],
    ],
    [
      "consecutive roles are merged",
      [HI, user(text("you")), assistant("a"), assistant("b"), HI],
      [user(text("hi"), text("you")), assistant([text("a"), text("b")]), HI],
    ],
    [
      "calls that a client wrote as messages of their own are answered together",
      [HI, calls(call("a")), calls(call("b")), tool("a", "1"), tool("b", "2")],
      [HI, assistant([use("a"), use("b")]), user(result("a", "1"), result("b", "2"))],
    ],
    ["a filler stands first when the assistant begins", [assistant("a"), HI], [{ role: "user", content: "." }, assistant("a"), HI]],
    ["a prefill loses the white space at its end", [HI, assistant("The answer is: \n")], [HI, assistant("The answer is:")]],
    [
      "a prefill of a model that takes none is asked to be continued",
      [HI, assistant("The answer is: ")],
      [HI, assistant("The answer is: "), { role: "user", content: "Continue." }],
      quirks("no_prefill"),
    ],
    ["reasoning without a signature is dropped", [HI, assistant("a", { reasoning_content: "hm", reasoning: "hm" }), HI], [HI, assistant("a"), HI]],
    [
      "signed thinking goes back unchanged before its call",
      [
        HI,
        {
          ...calls(call("a")),
          reasoning_content: "hm",
          thinking_blocks: [
            { type: "thinking", thinking: "hm", signature: "s" },
            { type: "redacted_thinking", data: "x" },
            { type: "thinking", thinking: "mine", signature: "" },
          ],
        },
        tool("a", "1"),
      ],
      [
        HI,
        assistant([
          { type: "thinking", thinking: "hm", signature: "s" },
          { type: "redacted_thinking", data: "x" },
          use("a"),
        ]),
        user(result("a", "1")),
      ],
    ],
    [
      "signed thinking goes before the text and the call of its message",
      [HI, assistant("I look.", { tool_calls: [call("a")], thinking_blocks: [thought("1"), thought("2")] }), tool("a", "1")],
      [HI, assistant([thought("1"), thought("2"), text("I look."), use("a")]), user(result("a", "1"))],
    ],
    [
      "signed thinking inside the content stays where it stands",
      [HI, assistant([thought("1"), text("a"), { type: "redacted_thinking", data: "x" }, text("b")], { tool_calls: [call("a")] }), tool("a", "1")],
      [HI, assistant([thought("1"), text("a"), { type: "redacted_thinking", data: "x" }, text("b"), use("a")]), user(result("a", "1"))],
    ],
    [
      "thinking inside the content needs no text beside it",
      [HI, assistant([thought("1")], { tool_calls: [call("a")] }), tool("a", "1")],
      [HI, assistant([thought("1"), use("a")]), user(result("a", "1"))],
    ],
    ["thinking inside the content without a signature is dropped", [HI, assistant([thought(""), text("a")]), HI], [HI, assistant("a"), HI]],
    [
      "thinking that stands in both places is sent once",
      [HI, assistant([thought("2"), text("a")], { thinking_blocks: [thought("1"), thought("2")] }), HI],
      [HI, assistant([thought("1"), thought("2"), text("a")]), HI],
    ],
    [
      "thinking goes first of an answer that comes as several messages",
      [HI, assistant("I look."), { ...calls(call("a")), thinking_blocks: [thought("1")] }, tool("a", "1")],
      [HI, assistant([thought("1"), text("I look."), use("a")]), user(result("a", "1"))],
    ],
    [
      "thinking alone in a message belongs to the next one of the assistant",
      [HI, assistant(null, { thinking_blocks: [thought("1")] }), assistant("I look."), calls(call("a")), tool("a", "1")],
      [HI, assistant([thought("1"), text("I look."), use("a")]), user(result("a", "1"))],
    ],
    [
      "thinking of the next step stays behind the results of the one before",
      [
        HI,
        { ...calls(call("a")), thinking_blocks: [thought("1")] },
        tool("a", "1"),
        { ...calls(call("b")), thinking_blocks: [thought("2")] },
        tool("b", "2"),
        assistant("done", { thinking_blocks: [thought("3")] }),
        HI,
      ],
      [
        HI,
        assistant([thought("1"), use("a")]),
        user(result("a", "1")),
        assistant([thought("2"), use("b")]),
        user(result("b", "2")),
        assistant([thought("3"), text("done")]),
        HI,
      ],
    ],
    [
      "a mark for the cache on an answer stands on its last text, never on thinking",
      [HI, assistant([text("a"), thought("1")], { cache_control: { type: "ephemeral" }, tool_calls: [call("a")] }), tool("a", "1")],
      [HI, assistant([{ ...text("a"), cache_control: { type: "ephemeral" } }, thought("1"), use("a")]), user(result("a", "1"))],
    ],
    [
      "a refusal is what the assistant said",
      [HI, assistant(null, { refusal: "No." }), HI, assistant([{ type: "refusal", refusal: "Never." }]), HI],
      [HI, assistant("No."), HI, assistant("Never."), HI],
    ],
    [
      "a mark for the cache on a whole message stands on its last part",
      [{ ...user(text("a"), text("b")), cache_control: { type: "ephemeral", ttl: "2h" } }],
      [user(text("a"), { ...text("b"), cache_control: { type: "ephemeral" } })],
    ],
    [
      "a client's marks for the cache pass, others do not",
      [
        system([{ ...text("a"), cache_control: { type: "ephemeral", ttl: "1h", more: 1 } }]),
        user({ ...text("b"), cache_control: { type: "eternal" } }, text("c")),
      ],
      {
        system: [{ ...text("a"), cache_control: { type: "ephemeral", ttl: "1h" } }],
        messages: [user(text("b"), text("c"))],
      },
    ],
  ];
  for (const [rule, messages, expected, facts] of CASES)
    test(rule, () => {
      const wanted = Array.isArray(expected) ? { messages: expected } : (expected as Json);
      const body = sent({ messages }, facts);
      expect({ system: body.system, messages: body.messages }).toEqual({
        system: undefined,
        ...wanted,
      } as never);
    });

  test("ids in other letters are rewritten the same way in the tool message", () => {
    const id = "functions.look:0";
    const messages = sent({ messages: [HI, calls(call(id)), tool(id, "1")] }).messages as Json[];
    const sentId = (messages[1]!.content as Json[])[0]!.id as string;
    expect(sentId).toMatch(/^functions_look_0_[0-9a-f]{8}$/);
    expect(messages[2]).toEqual(user(result(sentId, "1")));
  });
  test("arguments nested deeper than anything can write are {}", () => {
    const args = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    const body = sent({ messages: [HI, calls(call("a", args)), tool("a", "1")] });
    expect(JSON.stringify(body)).toContain('"input":{}');
  });
});

describe("fields", () => {
  const BUDGETS = { efforts: ["low", "medium", "high", "xhigh", "max"] } as const;
  // biome-ignore format: a table
  const CASES: readonly (readonly [rule: string, given: Json, fields: Json, facts?: Partial<ModelFacts>])[] =
    [
      ["max_completion_tokens goes before max_tokens", { max_completion_tokens: 7 }, { max_tokens: 7 }],
      ["max_tokens is 8192 without a limit", { max_tokens: null }, { max_tokens: 8_192 }],
    ["max_tokens without a limit is 8192 although the model's is more", { max_tokens: null }, { max_tokens: 8_192 }, { maxOutputTokens: 64_000 }],
    ["max_tokens without a limit is the model's if that is less", { max_tokens: undefined }, { max_tokens: 4_096 }, { maxOutputTokens: 4_096 }],
    ["max_tokens is cut to the model's limit", { max_tokens: 9_000 }, { max_tokens: 4_096 }, { maxOutputTokens: 4_096 }],
      ["a stop text is an array", { stop: "END" }, { stop_sequences: ["END"] }],
      ["stop texts of white space are dropped", { stop: ["\n", "", "END"] }, { stop_sequences: ["END"] }],
      ["stop texts of nothing else are none", { stop: "\n" }, {}],
      ["a temperature over 1 is 1", { temperature: 1.7 }, { temperature: 1 }],
      ["a temperature below 1 passes", { temperature: 0.2 }, { temperature: 0.2 }],
      ["top_p beside a temperature is dropped", { temperature: 0.2, top_p: 0.9 }, { temperature: 0.2 }],
      ["top_p alone passes, top_k too", { top_p: 0.9, top_k: 4 }, { top_p: 0.9, top_k: 4 }],
    ["models without sampling parameters get none", { temperature: 0.2, top_k: 4 }, {}, quirks("no_sampling_params")],
      ["tools have an input_schema", { tools: [LOOK] }, { tools: [LOOK_SENT] }],
      ["a tool without parameters takes an empty object", { tools: [HEAR] }, { tools: [HEAR_SENT] }],
      [
        "a tool's mark for the cache passes",
        { tools: [{ ...HEAR, cache_control: { type: "ephemeral", ttl: "5m" } }] },
        { tools: [{ ...HEAR_SENT, cache_control: { type: "ephemeral", ttl: "5m" } }] },
      ],
    ["an empty description is dropped", { tools: [{ type: "function", function: { name: "hear", description: "" } }] }, { tools: [HEAR_SENT] }],
      ["an empty list of functions of the old form is nothing", { functions: [] }, {}],
    ["tools that others' servers run are dropped beside functions", { tools: [{ type: "web_search" }, HEAR] }, { tools: [HEAR_SENT] }],
    ["tool_choice none", { tools: [HEAR], tool_choice: "none" }, { tools: [HEAR_SENT], tool_choice: { type: "none" } }],
    ["tool_choice auto", { tools: [HEAR], tool_choice: "auto" }, { tools: [HEAR_SENT], tool_choice: { type: "auto" } }],
    ["tool_choice required", { tools: [HEAR], tool_choice: "required" }, { tools: [HEAR_SENT], tool_choice: { type: "any" } }],
      [
        "tool_choice of one function",
        { tools: [LOOK, HEAR], tool_choice: { type: "function", function: { name: "hear" } } },
        { tools: [LOOK_SENT, HEAR_SENT], tool_choice: { type: "tool", name: "hear" } },
      ],
      [
        "tool_choice of a function that is not there is none",
        { tools: [LOOK], tool_choice: { type: "function", function: { name: "hear" } } },
        { tools: [LOOK_SENT] },
      ],
      [
        "tool_choice among allowed tools offers those alone",
        {
          tools: [LOOK, HEAR],
          tool_choice: { type: "allowed_tools", allowed_tools: { mode: "required", tools: [HEAR] } },
        },
        { tools: [HEAR_SENT], tool_choice: { type: "any" } },
      ],
      [
        "a choice that the model cannot be forced to is an offer",
        { tools: [LOOK, HEAR], tool_choice: { type: "function", function: { name: "hear" } } },
        { tools: [HEAR_SENT], tool_choice: { type: "auto" } },
        quirks("no_forced_tool_choice"),
      ],
      [
        "a call that the model cannot be forced to is its own decision",
        { tools: [LOOK, HEAR], tool_choice: "required" },
        { tools: [LOOK_SENT, HEAR_SENT], tool_choice: { type: "auto" } },
        quirks("no_forced_tool_choice"),
      ],
      [
        "parallel_tool_calls false needs a choice",
        { tools: [HEAR], parallel_tool_calls: false },
        { tools: [HEAR_SENT], tool_choice: { type: "auto", disable_parallel_tool_use: true } },
      ],
      [
        "parallel_tool_calls false beside a choice",
        { tools: [HEAR], tool_choice: "required", parallel_tool_calls: false },
        { tools: [HEAR_SENT], tool_choice: { type: "any", disable_parallel_tool_use: true } },
      ],
      ["choices without tools are dropped", { tool_choice: "auto", parallel_tool_calls: false }, {}],
      [
        "response_format json_schema is output_config.format",
        {
          response_format: { type: "json_schema", json_schema: { name: "n", schema: SCHEMA, strict: true } },
        },
        { output_config: { format: { type: "json_schema", schema: SCHEMA } } },
      ],
      ["response_format text is nothing", { response_format: { type: "text" } }, {}],
      [
        "a low effort is a budget of 1024",
        { reasoning_effort: "low", max_tokens: 20_000 },
        { max_tokens: 20_000, thinking: { type: "enabled", budget_tokens: 1_024 } },
      ],
      [
        "a medium effort is a budget of 4096, and the limit above it where the client sets none",
        { reasoning_effort: "medium", max_tokens: null },
        { max_tokens: 12_288, thinking: { type: "enabled", budget_tokens: 4_096 } },
      ],
      [
        "a high effort is a budget of 8192",
        { reasoning_effort: "high", max_tokens: null },
        { max_tokens: 16_384, thinking: { type: "enabled", budget_tokens: 8_192 } },
      ],
      [
        "the greatest effort is a budget of 32768",
        { reasoning_effort: "max", max_tokens: null },
        { max_tokens: 40_960, thinking: { type: "enabled", budget_tokens: 32_768 } },
        BUDGETS,
      ],
      [
        "a budget leaves a quarter of the client's limit for the answer",
        { reasoning_effort: "high", max_tokens: 4_000 },
        { max_tokens: 4_000, thinking: { type: "enabled", budget_tokens: 3_000 } },
      ],
    ["a limit too small for any budget is one without thinking", { reasoning_effort: "high", max_tokens: 1_365 }, { max_tokens: 1_365 }],
      [
        "thinking goes without sampling parameters",
        { reasoning_effort: "low", max_tokens: 20_000, temperature: 0.5, top_p: 0.5, top_k: 5 },
        { max_tokens: 20_000, thinking: { type: "enabled", budget_tokens: 1_024 } },
      ],
      [
        "an adaptive model is sent the effort, and asked to show its thinking",
        { reasoning_effort: "medium" },
        { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "medium" } },
        ADAPTIVE,
      ],
      [
        "the least effort of an adaptive model is the least it has",
        { reasoning_effort: "minimal" },
        { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "low" } },
        ADAPTIVE,
      ],
      ["an effort of none is no thinking", { reasoning_effort: "none" }, {}, ADAPTIVE],
    ["a model that does not think is not asked to", { reasoning_effort: "high", temperature: 0.5 }, { temperature: 0.5 }, { efforts: [] }],
      [
        "a forced call goes without thinking",
        { reasoning_effort: "high", max_tokens: 20_000, tools: [HEAR], tool_choice: "required" },
        { max_tokens: 20_000, tools: [HEAR_SENT], tool_choice: { type: "any" } },
      ],
      [
        "an adaptive model's forced call keeps the effort alone",
        { reasoning_effort: "high", tools: [HEAR], tool_choice: "required" },
        { tools: [HEAR_SENT], tool_choice: { type: "any" }, output_config: { effort: "high" } },
        ADAPTIVE,
      ],
      ["user is metadata.user_id", { user: "u1" }, { metadata: { user_id: "u1" } }],
      ["safety_identifier is metadata.user_id", { safety_identifier: "u2" }, { metadata: { user_id: "u2" } }],
    ["a stream is a stream, without options", { stream: true, stream_options: { include_usage: true } }, { stream: true }],
      ["n of 1 is dropped", { n: 1 }, {}],
      [
        "what the other side has no word for is dropped",
        {
          logprobs: true,
          top_logprobs: 3,
          seed: 1,
          logit_bias: {},
          frequency_penalty: 1,
          presence_penalty: 1,
          store: true,
          modalities: ["text"],
          metadata: { a: "b" },
          service_tier: "flex",
          verbosity: "low",
          unknown: 1,
        },
        {},
      ],
  ];
  for (const [rule, given, fields, facts] of CASES)
    test(rule, () => {
      const { model, messages, ...rest } = sent(given, facts);
      expect(messages).toEqual([HI]);
      expect(rest).toEqual({ max_tokens: 100, ...fields });
    });

  const INSTRUCTED: readonly (readonly [
    rule: string,
    response_format: Json,
    facts: Partial<ModelFacts>,
    end: string,
  ])[] = [
    ["json_object is an instruction", { type: "json_object" }, {}, "no code fence."],
    [
      "a json_schema without a schema is one too",
      { type: "json_schema", json_schema: { name: "n" } },
      {},
      "no code fence.",
    ],
    [
      "a json_schema is one where the model cannot be held to it",
      { type: "json_schema", json_schema: { name: "n", schema: SCHEMA } },
      { structured: false },
      `\n${JSON.stringify(SCHEMA)}`,
    ],
  ];
  for (const [rule, response_format, facts, end] of INSTRUCTED)
    test(rule, () => {
      const body = sent({ response_format, messages: [system("a"), HI] }, facts);
      expect(body.output_config).toBeUndefined();
      const [first, instruction] = body.system as Json[];
      expect(first).toEqual(text("a"));
      expect(instruction!.text).toStartWith("Answer with");
      expect(instruction!.text).toEndWith(end);
    });
});

test("an answer may come as messages of any number", () => {
  const messages = Array.from({ length: 100_000 }, (_, nth) =>
    assistant([thought(`s${nth}`), text("a")], { thinking_blocks: [thought(`s${nth}`)] }),
  );
  const [, answer] = sent({ messages: [HI, ...messages, HI] }).messages as Json[];
  const kinds = (answer!.content as Json[]).map(({ type }) => type);
  expect([kinds.length, kinds.lastIndexOf("thinking")]).toEqual([200_000, 99_999]);
});

describe("a budget for thinking is left out", () => {
  const asked = { reasoning_effort: "high", max_tokens: 20_000 };
  const loop = (blocks: Json) => [HI, { ...calls(call("a")), ...blocks }, tool("a", "1")];
  const SIGNED = { thinking_blocks: [{ type: "thinking", thinking: "hm", signature: "s" }] };

  test("amid calls whose thinking is gone", () =>
    expect(sent({ ...asked, messages: loop({}) }).thinking).toBeUndefined());
  test("but not where the signed thinking is there", () =>
    expect(sent({ ...asked, messages: loop(SIGNED) }).thinking).toBeDefined());
  test("where the signed thinking comes after words, since an answer with calls must begin with it", () => {
    const content = [text("a"), { type: "thinking", thinking: "t", signature: "1" }];
    const request = sent({ ...asked, messages: loop({ content }) });
    expect(request.thinking).toBeUndefined();
    expect((request.messages as Json[])[1]).toEqual(assistant([...content, use("a")]));
    expect(sent({ ...asked, messages: loop({ content: content.reverse() }) }).thinking).toBeDefined();
  });
  test("nor once the calls are done with", () => {
    const messages = [...loop({}), assistant("done"), HI];
    expect(sent({ ...asked, messages }).thinking).toBeDefined();
  });
  test("before a prefill", () =>
    expect(sent({ ...asked, messages: [HI, assistant("{")] }).thinking).toBeUndefined());
  test("while an adaptive model goes on thinking amid calls", () =>
    expect(sent({ ...asked, messages: loop({}) }, ADAPTIVE).thinking).toBeDefined());
});

test("names in letters that the provider does not take are rewritten everywhere alike, and mapped back", () => {
  const request = translate({
    tools: [{ type: "function", function: { name: "a.b" } }],
    tool_choice: { type: "function", function: { name: "a.b" } },
    messages: [HI, calls(call("1", "{}", "a.b")), tool("1", "x")],
  });
  const body = bodyOf(request);
  const name = (body.tools as Json[])[0]!.name as string;
  expect(name).toMatch(/^a_b_[0-9a-f]{8}$/);
  expect(body.tool_choice).toEqual({ type: "tool", name });
  expect((body.messages as Json[])[1]).toEqual(assistant([use("1", {}, name)]));
  expect(request.ok && [...request.toolNames]).toEqual([[name, "a.b"]]);
});

describe("refused", () => {
  const part = (one: Json) => ({ messages: [HI, assistant("a"), user(text("b"), one)] });
  const AT = "messages.2.content.1";
  // biome-ignore format: a table
  const CASES: readonly (readonly [rule: string, given: Json, field: string])[] = [
    ["audio", part({ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }), AT],
    ["video", part({ type: "video_url", video_url: { url: "https://a.example" } }), AT],
    ["an empty file", part({ type: "file", file: { file_data: "data:application/pdf;base64," } }), `${AT}.file`],
    ["a file id", part({ type: "file", file: { file_id: "f" } }), `${AT}.file`],
    ["a file of another kind", part({ type: "file", file: { file_data: "data:application/zip;base64,AAAA" } }), `${AT}.file`],
    ["an image of another kind", part({ type: "image_url", image_url: { url: "data:image/svg+xml;base64,AAAA" } }), `${AT}.image_url`],
    ["an image that is not base64", part({ type: "image_url", image_url: { url: "data:image/png,AAAA" } }), `${AT}.image_url`],
    ["an image without an address", part({ type: "image_url" }), `${AT}.image_url`],
    ["more answers than one", { n: 2 }, "n"],
    ["custom tools", { tools: [LOOK, { type: "custom", custom: { name: "c" } }] }, "tools"],
    ["tools that others' servers run, alone", { tools: [{ type: "web_search" }] }, "tools"],
    ["functions of the old form", { functions: [{ name: "f" }] }, "functions"],
  ];
  for (const [rule, given, field] of CASES)
    test(rule, () => {
      const request = translate(given);
      expect(request).toMatchObject({ ok: false, refusal: { code: "invalid_parameter", field } });
      expect(!request.ok && request.refusal.message).toStartWith(`${field} `);
    });
});
