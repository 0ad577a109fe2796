// A messages client on a chat provider: one golden case for each rule of the translation of its request.

import { describe, expect, test } from "bun:test";
import type { Json } from "../../../src/dialect/json.ts";
import { chatRequestOf } from "../../../src/dialect/translate/request-translations.ts";
import type { ModelFacts } from "../../../src/dialect/translate/translation.ts";
import { bodyOf, PIXEL, PLAIN, PNG_SOURCE, PNG_URL } from "./request-samples.ts";

const HI = { role: "user", content: "hi" };
const LEAST = { model: "asked", max_tokens: 100, messages: [HI] };
const translate = (extra: Json, facts: Partial<ModelFacts> = {}) =>
  chatRequestOf({ ...LEAST, ...extra }, { ...PLAIN, ...facts });
const sent = (extra: Json, facts: Partial<ModelFacts> = {}): Json => bodyOf(translate(extra, facts));
const said = (messages: readonly Json[], facts: Partial<ModelFacts> = {}) =>
  sent({ messages }, facts).messages;
const user = (...content: Json[]): Json => ({ role: "user", content });
const assistant = (...content: Json[]): Json => ({ role: "assistant", content });
const text = (words: string): Json => ({ type: "text", text: words });
const use = (id: string, name = "look", input: unknown = {}): Json => ({ type: "tool_use", id, name, input });
const result = (id: string, content?: unknown, extra: Json = {}): Json => ({
  type: "tool_result",
  tool_use_id: id,
  ...(content === undefined ? {} : { content }),
  ...extra,
});
const call = (id: string, args = "{}", name = "look"): Json => ({
  id,
  type: "function",
  function: { name, arguments: args },
});
const calls = (...tool_calls: Json[]): Json => ({ role: "assistant", content: null, tool_calls });
const tool = (tool_call_id: string, content: string): Json => ({ role: "tool", tool_call_id, content });
const LOOK = {
  name: "look",
  description: "Looks.",
  input_schema: { type: "object", properties: { at: {} } },
};
const LOOK_SENT = {
  type: "function",
  function: { name: "look", description: "Looks.", parameters: LOOK.input_schema },
};

test("the least request, for the model as its provider knows it", () =>
  expect(sent({})).toEqual({ model: "a-model", messages: [HI], max_tokens: 100 }));

describe("messages", () => {
  // biome-ignore format: a table
  const CASES: readonly (readonly [
    rule: string,
    given: Json,
    messages: unknown,
    facts?: Partial<ModelFacts>,
  ])[] = [
    ["a system text leads", { system: "Be kind." }, [{ role: "system", content: "Be kind." }, HI]],
    [
      "system blocks are one message, without marks for a cache",
      { system: [{ ...text("a"), cache_control: { type: "ephemeral" } }, text("b")] },
      [{ role: "system", content: "a\nb" }, HI],
    ],
    [
      "a client's billing line, which differs with every call, is left out",
      { system: [text("x-anthropic-billing-header: cch=1"), text("b")] },
      [{ role: "system", content: "b" }, HI],
    ],
    [
      "a mid-conversation system message stays in place",
      { messages: [HI, { role: "system", content: "Now in French." }, assistant(text("oui"))] },
      [HI, { role: "system", content: "Now in French." }, { role: "assistant", content: "oui" }],
      { lateSystem: true },
    ],
    [
      "a mid-conversation system message is the user's, in a tag, where the provider takes none",
      { messages: [HI, { role: "system", content: "Now in French." }, assistant(text("oui"))] },
      [user(text("hi"), text("<system>\nNow in French.\n</system>")), { role: "assistant", content: "oui" }],
    ],
    ["one text block is a string", { messages: [user(text("hi"))] }, [HI]],
    [
      "texts and an image are parts",
      { messages: [user(text("a"), text("b"), { type: "image", source: PNG_SOURCE })] },
      [user(text("a"), text("b"), { type: "image_url", image_url: { url: PNG_URL } })],
    ],
    [
      "an image at an address keeps it",
      { messages: [user({ type: "image", source: { type: "url", url: "https://a.example/b.png" } })] },
      [user({ type: "image_url", image_url: { url: "https://a.example/b.png" } })],
    ],
    [
      "a PDF is a file",
      {
        messages: [
          user({
            type: "document",
            title: "Terms.pdf",
            source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
          }),
        ],
      },
      [
        user({
          type: "file",
          file: { filename: "Terms.pdf", file_data: "data:application/pdf;base64,JVBERi0=" },
        }),
      ],
    ],
    [
      "a PDF without a title gets a file name",
      {
        messages: [
          user({
            type: "document",
            source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
          }),
        ],
      },
      [
        user({
          type: "file",
          file: { filename: "document.pdf", file_data: "data:application/pdf;base64,JVBERi0=" },
        }),
      ],
    ],
    [
      "a document of text is text under its title",
      { messages: [user({ type: "document", title: "Terms", source: { type: "text", data: "Pay." } })] },
      [{ role: "user", content: "Terms\nPay." }],
    ],
    [
      "a document of parts is its parts",
      {
        messages: [user({ type: "document", source: { type: "content", content: [text("a"), text("b")] } })],
      },
      [user(text("a"), text("b"))],
    ],
    [
      "a search result is text under its title and source",
      {
        messages: [
          user({ type: "search_result", title: "T", source: "https://s", content: [text("found")] }),
        ],
      },
      [{ role: "user", content: "T\nhttps://s\nfound" }],
    ],
    ["empty text blocks are dropped", { messages: [user(text(""), text("hi"))] }, [HI]],
    [
      "consecutive roles are merged",
      { messages: [HI, user(text("you")), assistant(text("a")), assistant(text("b"))] },
      [user(text("hi"), text("you")), { role: "assistant", content: "a\nb" }],
    ],
    [
      "tool results come first, then the rest of the user's turn",
      {
        messages: [HI, assistant(use("a"), use("b")), user(text("and"), result("a", "1"), result("b", "2"))],
      },
      [HI, calls(call("a"), call("b")), tool("a", "1"), tool("b", "2"), { role: "user", content: "and" }],
    ],
    [
      "a result of text blocks is one text",
      { messages: [HI, assistant(use("a")), user(result("a", [text("1"), text("2")]))] },
      [HI, calls(call("a")), tool("a", "1\n2")],
    ],
    [
      "a result without content is an empty text",
      { messages: [HI, assistant(use("a"), use("b")), user(result("a"), result("b", []))] },
      [HI, calls(call("a"), call("b")), tool("a", ""), tool("b", "")],
    ],
    [
      "is_error keeps the text after a word that says so",
      { messages: [HI, assistant(use("a")), user(result("a", "no file", { is_error: true }))] },
      [HI, calls(call("a")), tool("a", "Error: no file")],
    ],
    [
      "images in tool results are shown in the user's message, never as text",
      {
        messages: [
          HI,
          assistant(use("a")),
          user(result("a", [text("seen"), { type: "image", source: PNG_SOURCE }]), text("well?")),
        ],
      },
      [
        HI,
        calls(call("a")),
        tool("a", "seen\n[image: see the next user message]"),
        user(
          text("From the result of a:"),
          { type: "image_url", image_url: { url: PNG_URL } },
          text("well?"),
        ),
      ],
    ],
    [
      "text and calls are one message",
      { messages: [HI, assistant(text("I look."), use("a", "look", { at: "b" })), user(result("a", "1"))] },
      [HI, { ...calls(call("a", '{"at":"b"}')), content: "I look." }, tool("a", "1")],
    ],
    [
      "a call without input has {}",
      { messages: [HI, assistant({ type: "tool_use", id: "a", name: "look" }), user(result("a", "1"))] },
      [HI, calls(call("a")), tool("a", "1")],
    ],
    [
      "texts side by side, cut by citations, are one",
      { messages: [HI, assistant(text("The sky "), { ...text("is blue"), citations: [] }, text("."))] },
      [HI, { role: "assistant", content: "The sky is blue." }],
    ],
    [
      "a provider's own mark on a call goes back to it",
      {
        messages: [
          HI,
          assistant({ ...use("a"), extra_content: { google: { thought_signature: "s" } } }),
          user(result("a", "1")),
        ],
      },
      [HI, calls({ ...call("a"), extra_content: { google: { thought_signature: "s" } } }), tool("a", "1")],
    ],
    [
      "thinking is reasoning_content where the provider reads it",
      {
        messages: [HI, assistant({ type: "thinking", thinking: "hm", signature: "s" }, text("a")), HI],
      },
      [HI, { role: "assistant", content: "a", reasoning_content: "hm" }, HI],
      { readsReasoning: true },
    ],
    [
      "thinking is never visible text where the provider does not read it",
      {
        messages: [HI, assistant({ type: "thinking", thinking: "hm", signature: "s" }, text("a")), HI],
      },
      [HI, { role: "assistant", content: "a" }, HI],
    ],
    [
      "redacted thinking is dropped",
      { messages: [HI, assistant({ type: "redacted_thinking", data: "x" }, text("a")), HI] },
      [HI, { role: "assistant", content: "a" }, HI],
      { readsReasoning: true },
    ],
    ["a prefill stays the last message", { messages: [HI, assistant(text("{"))] }, [HI, { role: "assistant", content: "{" }]],
    [
      "a missing tool result is added",
      { messages: [HI, assistant(use("a"), use("b")), user(result("b", "2"))] },
      [HI, calls(call("a"), call("b")), tool("b", "2"), tool("a", "Error: no result")],
    ],
    ["an orphan tool result is a text of the user", { messages: [user(result("x", "1"))] }, [user(text("Result of the call x:"), text("1"))]],
    [
      "a second result of the same call is an orphan",
      { messages: [HI, assistant(use("a")), user(result("a", "1"), result("a", "2"))] },
      [HI, calls(call("a")), tool("a", "1"), user(text("Result of the call a:"), text("2"))],
    ],
    [
      "an id used again is another in call and result alike",
      {
        messages: [
          HI,
          assistant(use("a")),
          user(result("a", "1")),
          assistant(use("a")),
          user(result("a", "2")),
        ],
      },
      [HI, calls(call("a")), tool("a", "1"), calls(call("a_2")), tool("a_2", "2")],
    ],
    [
      "two calls of one id in one turn are answered in their order",
      { messages: [HI, assistant(use("a"), use("a")), user(result("a", "1"), result("a", "2"))] },
      [HI, calls(call("a"), call("a_2")), tool("a", "1"), tool("a_2", "2")],
    ],
    [
      "system messages one after the other stay so",
      { messages: [HI, { role: "system", content: "a" }, { role: "system", content: "b" }, HI] },
      [HI, { role: "system", content: "a" }, { role: "system", content: "b" }, HI],
      { lateSystem: true },
    ],
    [
      "thinking of turns that are merged is merged",
      {
        messages: [
          HI,
          assistant({ type: "thinking", thinking: "hm", signature: "" }, text("a")),
          assistant(text("b")),
          assistant({ type: "thinking", thinking: "so", signature: "" }, text("c")),
        ],
      },
      [HI, { role: "assistant", content: "a\nb\nc", reasoning_content: "hm\nso" }],
      { readsReasoning: true },
    ],
    [
      "blocks of tools that servers run are dropped",
      {
        messages: [
          HI,
          assistant({ type: "server_tool_use", id: "s", name: "web_search", input: {} }, text("a")),
          user({ type: "web_search_tool_result", tool_use_id: "s", content: [] }, text("hi")),
        ],
      },
      [HI, { role: "assistant", content: "a" }, HI],
    ],
    ["messages without anything in them are a filler", { messages: [user(text(""))] }, [{ role: "user", content: "." }]],
  ];
  for (const [rule, given, messages, facts] of CASES)
    test(rule, () => expect(sent(given, facts).messages).toEqual(messages));

  test("ids in any letters are kept", () => {
    const id = "functions.look:0";
    const messages = said([HI, assistant(use(id)), user(result(id, "1"))]) as Json[];
    expect([(messages[1]!.tool_calls as Json[])[0]!.id, messages[2]]).toEqual([id, tool(id, "1")]);
  });
  test("ids that are too long are rewritten the same way at call and result", () => {
    const long = `toolu.${"x".repeat(60)}`;
    const messages = said([HI, assistant(use(long)), user(result(long, "1"))]) as Json[];
    const id = (messages[1]!.tool_calls as Json[])[0]!.id as string;
    expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
    expect(messages[2]).toEqual(tool(id, "1"));
  });
});

describe("fields", () => {
  // biome-ignore format: a table
  const CASES: readonly (readonly [rule: string, given: Json, fields: Json, facts?: Partial<ModelFacts>])[] =
    [
    ["max_tokens is cut to the model's limit", { max_tokens: 32_000 }, { max_tokens: 4_096 }, { maxOutputTokens: 4_096 }],
    ["max_tokens has another name for models that reason", {}, { max_completion_tokens: 100 }, { reasoning: true }],
      ["max_tokens of 0 is the least there is", { max_tokens: 0 }, { max_tokens: 1 }],
      ["one stop sequence is an array", { stop_sequences: ["END"] }, { stop: ["END"] }],
    ["stop sequences are at most 4", { stop_sequences: ["a", "b", "", "c", "d", "e"] }, { stop: ["a", "b", "c", "d"] }],
      ["models that reason take no stop", { stop_sequences: ["END"] }, {}, { reasoning: true }],
      ["sampling parameters pass", { temperature: 0.5, top_p: 0.9 }, { temperature: 0.5, top_p: 0.9 }],
      ["top_k is dropped", { top_k: 5 }, {}],
      ["top_k passes where it is known", { top_k: 5 }, { top_k: 5 }, { topK: true }],
    ["models that reason take no sampling parameters", { temperature: 0.5, top_p: 0.9 }, {}, { reasoning: true }],
      [
        "models without sampling parameters get none",
        { temperature: 0.5, top_p: 0.9, top_k: 3 },
        {},
        { quirks: new Set(["no_sampling_params"]), topK: true },
      ],
      ["tools are functions", { tools: [LOOK] }, { tools: [LOOK_SENT] }],
      [
        "a schema without type and properties gets them",
        { tools: [{ name: "look", input_schema: {} }] },
        {
          tools: [
            { type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } },
          ],
        },
      ],
      [
        "a strict tool stays strict, and its cache_control is dropped",
        { tools: [{ ...LOOK, type: "custom", strict: true, cache_control: { type: "ephemeral" } }] },
        { tools: [{ type: "function", function: { ...LOOK_SENT.function, strict: true } }] },
      ],
    ["server tools are dropped beside others", { tools: [{ type: "web_search_20250305", name: "web_search" }, LOOK] }, { tools: [LOOK_SENT] }],
    ["tool_choice auto", { tools: [LOOK], tool_choice: { type: "auto" } }, { tools: [LOOK_SENT], tool_choice: "auto" }],
    ["tool_choice any", { tools: [LOOK], tool_choice: { type: "any" } }, { tools: [LOOK_SENT], tool_choice: "required" }],
    ["tool_choice none", { tools: [LOOK], tool_choice: { type: "none" } }, { tools: [LOOK_SENT], tool_choice: "none" }],
      [
        "tool_choice of one tool",
        { tools: [LOOK], tool_choice: { type: "tool", name: "look" } },
        { tools: [LOOK_SENT], tool_choice: { type: "function", function: { name: "look" } } },
      ],
      [
        "tool_choice of a tool that was dropped is none",
        {
          tools: [{ type: "bash_20250124", name: "bash" }, LOOK],
          tool_choice: { type: "tool", name: "bash" },
        },
        { tools: [LOOK_SENT] },
      ],
    ["tool_choice without tools is dropped", { tool_choice: { type: "auto", disable_parallel_tool_use: true } }, {}],
      [
        "disable_parallel_tool_use",
        { tools: [LOOK], tool_choice: { type: "auto", disable_parallel_tool_use: true } },
        { tools: [LOOK_SENT], tool_choice: "auto", parallel_tool_calls: false },
      ],
    ["a thinking budget below 2048 is a low effort", { thinking: { type: "enabled", budget_tokens: 2_047 } }, { reasoning_effort: "low" }],
    ["a thinking budget below 8192 is a medium effort", { thinking: { type: "enabled", budget_tokens: 2_048 } }, { reasoning_effort: "medium" }],
    ["any other thinking budget is a high effort", { thinking: { type: "enabled", budget_tokens: 8_192 } }, { reasoning_effort: "high" }],
      [
        "adaptive thinking with an effort is that effort",
        { thinking: { type: "adaptive" }, output_config: { effort: "low" } },
        { reasoning_effort: "low" },
      ],
      ["adaptive thinking without an effort is the model's habit", { thinking: { type: "adaptive" } }, {}],
    ["the greatest effort is the highest that the provider knows", { output_config: { effort: "max" } }, { reasoning_effort: "high" }],
    ["disabled thinking is left out", { thinking: { type: "disabled" }, output_config: { effort: "high" } }, {}],
    ["disabled thinking is none where that is known", { thinking: { type: "disabled" } }, { reasoning_effort: "none" }, { efforts: ["none", "low"] }],
    ["a model that takes no effort gets none", { thinking: { type: "enabled", budget_tokens: 2_000 } }, {}, { efforts: [] }],
      [
        "output_config.format is response_format",
        { output_config: { format: { type: "json_schema", schema: { type: "object" } } } },
        {
          response_format: {
            type: "json_schema",
            json_schema: { name: "response", schema: { type: "object" }, strict: true },
          },
        },
      ],
      ["metadata.user_id is user", { metadata: { user_id: "u1" } }, { user: "u1" }],
      [
        "metadata.user_id over 64 characters is hashed",
        { metadata: { user_id: "u".repeat(65) } },
        { user: new Bun.CryptoHasher("sha256").update("u".repeat(65)).digest("hex") },
      ],
    ["metadata.user_id of 64 characters is kept", { metadata: { user_id: "u".repeat(64) } }, { user: "u".repeat(64) }],
    ["a stream asks for its usage", { stream: true }, { stream: true, stream_options: { include_usage: true } }],
      [
        "what the other side has no word for is dropped",
        {
          cache_control: { type: "ephemeral" },
          context_management: {},
          container: "c",
          service_tier: "auto",
          mcp_servers: [],
          unknown: 1,
        },
        {},
      ],
  ];
  for (const [rule, given, fields, facts = {}] of CASES)
    test(rule, () => {
      const { model, messages, ...rest } = sent(given, facts);
      expect(messages).toEqual([HI]);
      const limited = "max_tokens" in fields || "max_completion_tokens" in fields;
      const limit = facts.reasoning === true ? { max_completion_tokens: 100 } : { max_tokens: 100 };
      expect(rest).toEqual({ ...(limited ? {} : limit), ...fields });
    });

  test("a schema is asked for in words where the model cannot be held to it", () => {
    const format = { type: "json_schema", schema: { type: "object" } };
    const { messages, response_format } = sent({ output_config: { format } }, { structured: false });
    expect(response_format).toBeUndefined();
    expect((messages as Json[])[0]).toMatchObject({ role: "system" });
    expect((messages as Json[])[0]!.content).toEndWith('\n{"type":"object"}');
  });
});

describe("names over 64 characters", () => {
  const long = "n".repeat(100);
  const given = {
    tools: [{ ...LOOK, name: long }],
    tool_choice: { type: "tool", name: long },
    messages: [HI, assistant(use("a", long)), user(result("a", "1"))],
  };

  test("are shortened with a hash everywhere alike, and mapped back", () => {
    const request = translate(given);
    const { tools, tool_choice, messages } = bodyOf(request) as Record<string, Json[]>;
    const name = (tools![0]!.function as Json).name as string;
    expect(name).toMatch(/^n{55}_[0-9a-f]{8}$/);
    expect(tool_choice as unknown).toEqual({ type: "function", function: { name } });
    expect(messages![1]).toEqual(calls(call("a", "{}", name)));
    expect(request.ok && [...request.toolNames]).toEqual([[name, long]]);
  });
  test("of just 64 are kept", () => {
    const request = translate({ tools: [{ ...LOOK, name: "n".repeat(64) }] });
    expect(request.ok && request.toolNames.size).toBe(0);
  });
  test("that differ at their end alone stay different", () => {
    const tools = sent({ tools: [LOOK, { ...LOOK, name: `${long}1` }, { ...LOOK, name: `${long}2` }] })
      .tools as { function: { name: string } }[];
    expect(new Set(tools.map((one) => one.function.name)).size).toBe(3);
  });
});

describe("refused", () => {
  const CASES: readonly (readonly [rule: string, given: Json, field: string])[] = [
    [
      "a file image source",
      {
        messages: [
          HI,
          assistant(text("a")),
          user(text("b"), { type: "image", source: { type: "file", file_id: "f" } }),
        ],
      },
      "messages.2.content.1.source",
    ],
    [
      "a file image source inside a result",
      {
        messages: [
          HI,
          assistant(use("a")),
          user(result("a", [{ type: "image", source: { type: "file", file_id: "f" } }])),
        ],
      },
      "messages.2.content.0.content.0.source",
    ],
    ["an image without a source", { messages: [user({ type: "image" })] }, "messages.0.content.0.source"],
    [
      "a document at an address",
      { messages: [user({ type: "document", source: { type: "url", url: "https://a.example/b.pdf" } })] },
      "messages.0.content.0.source",
    ],
    ["server tools alone", { tools: [{ type: "web_search_20250305", name: "web_search" }] }, "tools"],
  ];
  for (const [rule, given, field] of CASES)
    test(rule, () => {
      const request = translate(given);
      expect(request).toMatchObject({ ok: false, refusal: { code: "invalid_parameter", field } });
      expect(!request.ok && request.refusal.message).toStartWith(`${field} must `);
    });
});

test("base64 is in an image's address alone", () => {
  const messages = [HI, assistant(use("a")), user(result("a", [{ type: "image", source: PNG_SOURCE }]))];
  expect(JSON.stringify(said(messages)).split(PIXEL)).toHaveLength(2);
});
