// How each endpoint is spoken with each kind of key: in its own style wherever the key knows it, put into the other one where
// there is a translation, else not at all; and which of a client's headers travel.

import { describe, expect, test } from "bun:test";
import { jsonPayload } from "../../../src/dialect/payload/payload-json.ts";
import { codecFor } from "../../../src/gateway/codec/native-codec.ts";
import type { EncodeInput, ProviderExchange } from "../../../src/gateway/codec/provider-codec.ts";
import { findEndpoint, GATEWAY_ENDPOINTS } from "../../../src/gateway/endpoints.ts";

const HAS_ALL = { lacks: () => false };

type Key = Parameters<typeof codecFor>[1];
const key = (provider: string, config: Key["config"] = {}): Key => ({ provider, config });

const CHAT_KEY = key("https://models.example/v1");
const MESSAGES_KEY = key("https://api.anthropic.com");
const BOTH_KEY = key("https://api.moonshot.ai/v1");
const CONVERSATION = ["/v1/chat/completions", "/v1/messages"];

describe("a wire", () => {
  test("to a key of the endpoint's own style changes neither path nor usage", () => {
    for (const endpoint of GATEWAY_ENDPOINTS) {
      const own = endpoint.dialect.name === "chat" ? CHAT_KEY : MESSAGES_KEY;
      const wire = codecFor(endpoint, own, "m", HAS_ALL);
      expect(wire).toMatchObject({
        path: endpoint.path,
        usage: endpoint.dialect.usage,
        translates: false,
      });
    }
  });

  test("to a key that speaks both is in the client's style", () => {
    for (const path of CONVERSATION)
      expect(codecFor(findEndpoint(path), BOTH_KEY, "m", HAS_ALL)).toMatchObject({ path, translates: false });
  });

  test("to a key of the other style is there for conversations, metered as the provider counts", () => {
    expect(codecFor(findEndpoint("/v1/chat/completions"), MESSAGES_KEY, "m", HAS_ALL)).toMatchObject({
      path: "/v1/messages",
      usage: "messages",
      translates: true,
    });
    expect(codecFor(findEndpoint("/v1/messages"), CHAT_KEY, "m", HAS_ALL)).toMatchObject({
      path: "/v1/chat/completions",
      usage: "chat",
      translates: true,
    });
  });

  test("of every other endpoint to a key of the other style is not there", () => {
    const translated = [...CONVERSATION, "/v1/responses"];
    for (const endpoint of GATEWAY_ENDPOINTS.filter(({ path }) => !translated.includes(path))) {
      const other = endpoint.dialect.name === "chat" ? MESSAGES_KEY : CHAT_KEY;
      expect([endpoint.path, codecFor(endpoint, other, "m", HAS_ALL)]).toEqual([endpoint.path, null]);
    }
  });

  // biome-ignore format: a table
  const RESPONSES: readonly (readonly [rule: string, key: Key, path: string, lacks?: boolean])[] = [
    ["a host that is known to have them", key("https://api.openai.com"), "/v1/responses"],
    ["such a host, whatever it has answered", key("https://api.x.ai"), "/v1/responses", true],
    ["an unknown host", key("http://127.0.0.1:8000"), "/v1/responses"],
    ["an unknown host that has said that it lacks them", key("http://127.0.0.1:8000"), "/v1/chat/completions", true],
    ["an unknown host whose Config says so", key("http://127.0.0.1:8000", { responses: true }), "/v1/responses", true],
    ["an unknown host whose Config denies it", key("http://127.0.0.1:8000", { responses: false }), "/v1/chat/completions"],
    ["no host", key("nowhere"), "/v1/responses"],
    ["a known host without", key("https://api.deepseek.com"), "/v1/chat/completions"],
    ["another known host without", key("https://api.mistral.ai/v1"), "/v1/chat/completions"],
    ["a host of the messages style", MESSAGES_KEY, "/v1/messages"],
    ["an unknown host of the messages style", key("http://127.0.0.1:8000", { api_style: "messages" }), "/v1/messages"],
    ["such a host whose Config says so", key("http://127.0.0.1:8000", { api_style: "messages", responses: true }), "/v1/responses"],
    ["a deployment", key("https://r.openai.azure.com", { provider_type: "cloud_a" }), "/v1/responses"],
    ["a deployment whose Config denies it", key("https://r.openai.azure.com", { provider_type: "cloud_a", responses: false }), "/v1/chat/completions"],
    ["a cloud whose model is of the chat style", key("https://aiplatform.googleapis.com", { provider_type: "cloud_b" }), "/v1/chat/completions"],
  ];
  for (const [rule, to, path, lacks = false] of RESPONSES)
    test(`of responses to ${rule} is at ${path}`, () => {
      const upstream = { lacks: () => lacks };
      const wire = codecFor(findEndpoint("/v1/responses"), to, "m", upstream);
      expect(wire).toMatchObject({ path, translates: path !== "/v1/responses" });
    });

  test("to a cloud whose models decide is chosen by the model", () => {
    const cloud = key("https://aiplatform.googleapis.com", { provider_type: "cloud_b" });
    const chat = findEndpoint("/v1/chat/completions");
    expect(codecFor(chat, cloud, "claude-opus-5", HAS_ALL)).toMatchObject({
      path: "/v1/messages",
      translates: true,
    });
    expect(codecFor(chat, cloud, "gemini-2.5-flash", HAS_ALL)).toMatchObject({ translates: false });
  });

  test("asked for again is the same", () => {
    for (const one of [CHAT_KEY, MESSAGES_KEY])
      for (const path of CONVERSATION)
        expect(codecFor(findEndpoint(path), one, "m", HAS_ALL)).toBe(
          codecFor(findEndpoint(path), one, "n", HAS_ALL),
        );
  });
});

const HEADERS = { "openai-beta": "a", "anthropic-version": "2024-01-01", "anthropic-beta": "b" };

function opened(path: string, to: Key, body: object, over: Partial<EncodeInput> = {}) {
  const endpoint = findEndpoint(path);
  const parsed = endpoint.dialect.parse(jsonPayload(JSON.stringify(body)));
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  return codecFor(endpoint, to, "m", HAS_ALL)!.open(parsed.request, {
    model: "m",
    naming: { model: "m-there", add: {} },
    headers: HEADERS,
    id: "01ABC",
    now: 1_700_000_000_000,
    promptTokens: 7,
    ...over,
  });
}

const exchange = (...given: Parameters<typeof opened>): ProviderExchange => {
  const found = opened(...given);
  if ("refusal" in found) throw new Error(found.refusal.message);
  return found;
};
const sent = (found: ProviderExchange) => JSON.parse(found.outgoing.body as string);

const SAID = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "hi" }] };

describe("what travels beside the body", () => {
  const headersOf = (path: string, to: Key) => exchange(path, to, SAID).outgoing.headers;
  const type = { "content-type": "application/json" };
  test("chat to chat: what the client says", () => {
    expect(headersOf("/v1/chat/completions", CHAT_KEY)).toEqual({ ...HEADERS, ...type });
  });
  test("messages to messages: the same, but for the other maker's features", () => {
    const { "openai-beta": _, ...rest } = HEADERS;
    expect(headersOf("/v1/messages", MESSAGES_KEY)).toEqual({ ...rest, ...type });
  });
  test("chat to messages: the version that we write, and no features", () => {
    expect(headersOf("/v1/chat/completions", MESSAGES_KEY)).toEqual({
      ...type,
      "anthropic-version": "2023-06-01",
    });
  });
  test("messages to chat: nothing", () => {
    expect(headersOf("/v1/messages", CHAT_KEY)).toEqual(type);
  });
});

describe("a translated body names the model as the provider wants it", () => {
  const named = (naming: EncodeInput["naming"]) =>
    sent(exchange("/v1/chat/completions", MESSAGES_KEY, SAID, { naming }));
  test("by its own name", () => {
    expect(named({ model: "there", add: {} })).toMatchObject({ model: "there", max_tokens: 9 });
  });
  test("not at all, with what else must stand in it and without what must not", () => {
    const body = named({ model: null, add: { anthropic_version: "v" }, without: ["max_tokens"] });
    expect(body).toEqual({
      messages: [{ role: "user", content: "hi" }],
      anthropic_version: "v",
    });
  });
});

test("a request without words in the other style is refused with its field, and in its own style is not", () => {
  const asked = { ...SAID, n: 2 };
  const refused = opened("/v1/chat/completions", MESSAGES_KEY, asked);
  expect(refused).toEqual({
    refusal: {
      code: "invalid_parameter",
      message: "n must be 1: this model's provider gives one answer.",
      param: "n",
    },
  });
  expect(sent(exchange("/v1/chat/completions", CHAT_KEY, asked))).toMatchObject({ n: 2 });
});

describe("what the provider says of the request", () => {
  const signal = (pass: { status: number; type: string; code: string }) =>
    ({ name: "rejected", status: pass.status, note: "", pass: { message: "no", ...pass } }) as const;
  test("is written in the words of the client's style", () => {
    const toMessages = exchange("/v1/chat/completions", MESSAGES_KEY, SAID);
    const large = signal({ status: 413, type: "request_too_large", code: "upstream_rejected" });
    expect(toMessages.translateFailure(large).pass).toEqual({
      status: 413,
      type: "invalid_request_error",
      code: "request_too_large",
      message: "no",
    });
    const toChat = exchange("/v1/messages", CHAT_KEY, SAID);
    const conflict = signal({ status: 409, type: "invalid_request_error", code: "conflict" });
    expect(toChat.translateFailure(conflict).pass).toMatchObject({ status: 409, type: "conflict_error" });
  });
  test("stays as it is within one style, and so does what says nothing of it", () => {
    const mine = signal({ status: 413, type: "request_too_large", code: "x" });
    expect(exchange("/v1/messages", MESSAGES_KEY, SAID).translateFailure(mine)).toBe(mine);
    const other = { name: "timeout", status: 0, note: "" } as const;
    expect(exchange("/v1/messages", CHAT_KEY, SAID).translateFailure(other)).toBe(other);
  });
});

test("an answer is written anew with the model as the client knows it, and with a fingerprint", () => {
  const found = exchange("/v1/chat/completions", MESSAGES_KEY, SAID);
  const message = {
    type: "message",
    model: "m-there-2025",
    content: [{ type: "text", text: "hello" }],
    stop_reason: "end_turn",
    usage: { input_tokens: 3, output_tokens: 1 },
  };
  expect(JSON.parse(found.clientText("", message, "fp_1"))).toMatchObject({
    id: "chatcmpl-01ABC",
    model: "m",
    created: 1_700_000_000,
    system_fingerprint: "fp_1",
    choices: [{ message: { content: "hello" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 1 },
  });
});

test("an answer in the client's own style keeps every character but the model's name and the fingerprint", () => {
  const found = exchange("/v1/chat/completions", CHAT_KEY, SAID);
  const text = '{ "id":12345678901234567890, "mod\\u0065l" : "m-there","x":1.0, "system_fingerprint":null }';
  const body = JSON.parse(text);
  expect(found.clientText(text, body, "fp_1")).toBe(
    '{ "id":12345678901234567890, "mod\\u0065l" : "m","x":1.0, "system_fingerprint":"fp_1" }',
  );
});
