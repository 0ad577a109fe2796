// The messages dialect, whole: which requests are refused and why, what changes on the way to the provider, what an answer
// and a token count hold.

import { describe, expect, test } from "bun:test";
import { countTokens, messages } from "../../../src/dialect/messages/messages.ts";
import { measuredOf } from "../../../src/dialect/non-token-usage.ts";
import { readUsage } from "../../../src/dialect/usage.ts";
import { ask, parse, type Refused, read, testRefusals } from "../asking.ts";

const MESSAGES = [{ role: "user", content: "hi" }];
const LEAST = { model: "m", max_tokens: 5, messages: MESSAGES };
const asked = (extra: Record<string, unknown> = {}, dialect = messages) =>
  ask(dialect, { ...LEAST, ...extra });
const texts = (extra: Record<string, unknown>) => messages.promptTexts(asked(extra));
const user = (...content: unknown[]) => ({ messages: [{ role: "user", content }] });

describe("a request is refused for", () => {
  const { max_tokens: _, ...unlimited } = LEAST;
  const REFUSED: Refused = [
    ["not being an object", '"hi"', "body"],
    ["a missing model", { max_tokens: 5, messages: MESSAGES }, "model", "missing_parameter"],
    ["missing messages", { model: "m", max_tokens: 5 }, "messages", "missing_parameter"],
    ["empty messages", { ...LEAST, messages: [] }, "messages"],
    ["a message without a role", { ...LEAST, messages: [{ content: "hi" }] }, "messages"],
    ["a missing output limit", unlimited, "max_tokens", "missing_parameter"],
    ["an output limit of null", { ...LEAST, max_tokens: null }, "max_tokens"],
    ["an output limit below 0", { ...LEAST, max_tokens: -1 }, "max_tokens"],
    ["an output limit with a fraction", { ...LEAST, max_tokens: 1.5 }, "max_tokens"],
    ["an output limit in words", { ...LEAST, max_tokens: "5" }, "max_tokens"],
    ["a stream that is no boolean", { ...LEAST, stream: 1 }, "stream"],
    ["a service tier that is no string", { ...LEAST, service_tier: {} }, "service_tier"],
    ["speed fast, which is not priced", { ...LEAST, speed: "fast" }, "speed"],
    ["inference_geo, which is not priced", { ...LEAST, inference_geo: "us" }, "inference_geo"],
    ...[0, -3, 1.5, "3", 1e300].map((uses): [string, object, string] => {
      const tools = [{ type: "web_search_20250305", name: "web_search", max_uses: uses }];
      return [`a tool with max_uses of ${JSON.stringify(uses)}`, { ...LEAST, tools }, "tools"];
    }),
  ];
  testRefusals(messages, REFUSED);
});

describe("a parsed request has", () => {
  test("its limit, and that usage is always wanted", () => {
    expect(asked({ service_tier: "auto", speed: "standard", stream: null })).toMatchObject({
      model: "m",
      stream: false,
      n: 1,
      maxOutput: 5,
      includeUsage: true,
      images: 0,
      files: 0,
      serviceTier: "auto",
    });
  });
  test("a limit of 0, which warms the cache", () => expect(asked({ max_tokens: 0 }).maxOutput).toBe(0));
  const WEB = { type: "web_search_20250305", name: "web_search" };
  test.each([
    ["none without the tool", [{ name: "web_search", input_schema: {} }], {}],
    ["as many as the tool allows", [{ ...WEB, max_uses: 3 }], { webSearches: 3 }],
    [
      "as many as all of them do",
      [
        { ...WEB, max_uses: 3 },
        { ...WEB, max_uses: 4 },
      ],
      { webSearches: 7 },
    ],
    ["some where it sets no limit", [{ ...WEB, max_uses: null }, WEB], { webSearches: 20 }],
  ])("the searches that it may come to: %s", (_, tools, measured) => {
    const request = asked({ tools });
    expect(request.measured).toEqual(measured);
    // What may be is held, and not charged: only the answer says what was.
    expect(measuredOf(request.measured)).toEqual({});
  });
  test("that it wants a stream", () => expect(asked({ stream: true }).stream).toBe(true));
  test("roles of every kind, and fields of every beta", () => {
    const roles = [...MESSAGES, { role: "assistant", content: "a" }, { role: "system", content: "s" }];
    const body = asked({ messages: roles, mcp_servers: [], context_management: {} }).payload.value;
    expect(body).toMatchObject({ messages: roles, mcp_servers: [], context_management: {} });
  });

  const LONG = "x".repeat(900);
  const READ: readonly (readonly [what: string, extra: Record<string, unknown>])[] = [
    ["a system text", { system: LONG }],
    ["system blocks", { system: [{ type: "text", text: LONG }] }],
    ["tools", { tools: [{ name: "f", description: LONG, input_schema: { type: "document" } }] }],
    ["an output schema", { output_config: { format: { type: "document", schema: { description: LONG } } } }],
    ["a tool's result", user({ type: "tool_result", content: [{ type: "text", text: LONG }] })],
    ["a call's input, whatever it is called", user({ type: "tool_use", input: { type: "image", x: LONG } })],
    ["a document that is text", user({ type: "document", source: { type: "text", data: LONG } })],
    [
      "a document of parts",
      user({ type: "document", source: { type: "content", content: [{ type: "text", text: LONG }] } }),
    ],
    [
      "a search result",
      user({ type: "search_result", source: "a", content: [{ type: "text", text: LONG }] }),
    ],
  ];
  for (const [what, extra] of READ)
    test(`the bytes of ${what}, which are read`, () => {
      expect(asked(extra).promptBytes).toBeGreaterThan(900);
      expect(asked(extra)).toMatchObject({ images: 0, files: 0 });
      expect(texts(extra)).toContain(LONG);
    });
  test("nothing of its metadata, which is not", () => {
    expect(asked({ metadata: { user_id: LONG } }).promptBytes).toBe(asked().promptBytes);
    expect(texts({ metadata: { user_id: LONG } })).not.toContain(LONG);
  });
  test("images and documents by number, inside a tool's result too", () => {
    const source = { type: "base64", data: "A".repeat(100_000) };
    const image = { type: "image", source };
    const extra = user(image, { type: "document", source }, { type: "tool_result", content: [image] });
    expect(asked(extra)).toMatchObject({ images: 2, files: 1 });
    expect(asked(extra).promptBytes).toBeLessThan(300);
    expect(texts(extra).join("").length).toBeLessThan(300);
  });

  test("the kinds of token that it cannot have", () => {
    expect(asked().never).toEqual(["inAudio", "inImage", "outAudio", "outImage", "inCacheWrite1h"]);
    expect(asked(user({ type: "document" })).never).toContain("inAudio");
    expect(asked(user({ type: "image" })).never).not.toContain("inImage");
    const cached = { type: "text", text: "a", cache_control: { type: "ephemeral", ttl: "1h" } };
    expect(asked({ system: [cached] }).never).not.toContain("inCacheWrite1h");
  });
});

const FAULTS: readonly (readonly [what: string, text: string, fault: "error_body" | "server_error"])[] = [
  ["an error of the dialect", '{"type":"error","error":{"type":"overloaded_error"}}', "error_body"],
  ["an error of another dialect", '{"error":{"message":"m"}}', "error_body"],
  ["an error string", '{"error":"m"}', "error_body"],
  ["an error beside a good answer", '{"content":[],"input_tokens":1,"error":{}}', "error_body"],
  ["code and msg", '{"code":1113,"msg":"m","input_tokens":1,"content":[]}', "error_body"],
  [
    "a base_resp that is not 0",
    '{"base_resp":{"status_code":1008},"content":[],"input_tokens":1}',
    "error_body",
  ],
  ["something else", '{"type":"list","content":{}}', "error_body"],
  ["an array", "[]", "error_body"],
  ["a page", "<html>", "server_error"],
  ["nothing", "", "server_error"],
];

describe("an answer", () => {
  const answered = (body: unknown) => read(messages, LEAST, body);
  test("gives its usage as it came, its tier, and all that was generated", () => {
    const usage = { input_tokens: 3, output_tokens: 9, service_tier: "priority" };
    expect(
      answered({
        type: "message",
        usage,
        content: [
          { type: "thinking", thinking: "a", signature: "opaque" },
          { type: "redacted_thinking", data: "opaque" },
          { type: "text", text: "b", citations: null },
          { type: "tool_use", id: "t", name: "c", input: { d: 1 } },
          { type: "tool_use", id: "t", name: "e", input: {} },
          { type: "server_tool_use", id: "t", name: "f", input: { query: "g" } },
          { type: "web_search_tool_result", content: [{ type: "web_search_result", title: "found" }] },
          { type: "compaction", content: "h" },
          { type: "text", text: "" },
          null,
        ],
      }),
    ).toMatchObject({
      ok: true,
      usage,
      serviceTier: "priority",
      texts: ["a", "b", "c", '{"d":1}', "e", "f", '{"query":"g"}', "h"],
    });
  });
  test("without usage, a type or any content is an answer all the same", () => {
    expect(answered({ content: [] })).toMatchObject({ ok: true, usage: null, serviceTier: null, texts: [] });
  });
  test("of another type is none", () =>
    expect(answered({ type: "completion", content: [] })).toEqual({ ok: false, fault: "error_body" }));
  for (const [what, text, fault] of FAULTS)
    test(`that is ${what} is a failure`, () => expect(answered(text)).toEqual({ ok: false, fault }));
  test("goes to the client as it came", () =>
    expect(messages.withFingerprint('{ "content":[] }', {}, "fp_1")).toBe('{ "content":[] }'));
});

describe("counting tokens", () => {
  const answered = (body: unknown) => read(countTokens, LEAST, body);
  test("needs no output limit, and asks for no output", () => {
    const parsed = parse(countTokens, { model: "m", messages: MESSAGES });
    expect(parsed).toMatchObject({ ok: true, request: { maxOutput: 0, stream: false } });
  });
  test("is never streamed", () => {
    expect(parse(countTokens, { ...LEAST, stream: true })).toMatchObject({
      ok: false,
      refusal: { field: "stream", code: "invalid_parameter" },
    });
    expect(asked({ stream: false }, countTokens).stream).toBe(false);
  });
  test("keeps the other rules", () =>
    expect(parse(countTokens, { model: "m" })).toMatchObject({ refusal: { field: "messages" } }));
  test("is answered with a number, which is no usage", () => {
    expect(answered({ input_tokens: 0 })).toMatchObject({ ok: true, usage: null, texts: [] });
    expect(answered({ input_tokens: 7, context_management: {} })).toMatchObject({ ok: true });
  });
  for (const input_tokens of [-1, 1.5, "7", null, undefined])
    test(`is not answered with ${input_tokens}`, () =>
      expect(answered({ input_tokens })).toEqual({ ok: false, fault: "error_body" }));
  for (const [what, text, fault] of FAULTS)
    test(`is not answered with ${what}`, () => expect(answered(text)).toEqual({ ok: false, fault }));
});

describe("an error inside a stream is", () => {
  const said = (type: string, code: string) =>
    new TextDecoder().decode(messages.streamError({ message: "a\nb", type, code }, "req_1"));
  test("an event that the SDKs raise", () =>
    expect(said("rate_limit_error", "rpm_exceeded")).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"rate_limit_error","message":"a\\nb","code":"rpm_exceeded"},"request_id":"req_1"}\n\n',
    ));
  test("without a code that nobody gave", () => expect(said("api_error", "")).not.toContain("code"));
  const TYPES: readonly (readonly [type: string, code: string, known: string])[] = [
    ["invalid_request_error", "context_length_exceeded", "invalid_request_error"],
    ["overloaded_error", "", "overloaded_error"],
    ["upstream_error", "upstream_failed", "api_error"],
    ["upstream_error", "upstream_timeout", "timeout_error"],
    ["upstream_error", "no_available_key", "overloaded_error"],
    ["upstream_error", "service_unavailable", "overloaded_error"],
    ["upstream_error", "upstream_rate_limited", "rate_limit_error"],
    ["server_error", "internal_error", "api_error"],
    ["insufficient_quota", "insufficient_balance", "billing_error"],
    ["something_new", "x", "api_error"],
  ];
  for (const [type, code, known] of TYPES)
    test(`${known} for ${type} ${code}`, () =>
      expect(JSON.parse(said(type, code).split("data: ")[1]!).error.type).toBe(known));
});

test("the closing event is the one that the SDKs wait for", () =>
  expect(new TextDecoder().decode(messages.closing)).toBe(
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  ));

test("its usage is read as this dialect counts: the cache beside the input", () => {
  const raw = { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 2 };
  expect(readUsage(messages.usage, raw, { contextWindow: 0, outputLimit: 0 })).toMatchObject({
    inText: 3,
    inCached: 4,
    outText: 2,
  });
});
