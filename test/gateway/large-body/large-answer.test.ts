// A whole answer read by a worker is the same as one read on the event loop: what it says, and what the client gets.

import { describe, expect, test } from "bun:test";
import type { LevelKey } from "../../../actors/level/view.ts";
import { jsonPayload } from "../../../src/dialect/payload/payload-json.ts";
import { codecFor } from "../../../src/gateway/codec/native-codec.ts";
import type { ProviderExchange } from "../../../src/gateway/codec/provider-codec.ts";
import { StoredResponseExchange } from "../../../src/gateway/codec/stored-response-codec.ts";
import { findEndpoint } from "../../../src/gateway/endpoints.ts";
import { readLargeAnswer } from "../../../src/gateway/large-body/large-answer.ts";
import { inProcess } from "./in-process.ts";

const INPUT = {
  ...{ model: "m", headers: {}, id: "01ABC", now: 1_700_000_000_000, promptTokens: 7 },
  naming: { model: "m-there", add: {} },
};
const HAS_ALL = { lacks: () => false };
const SAID = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "hi" }] };
const TOOLS = [{ type: "function", function: { name: "look.up", parameters: {} } }];

function exchangeAt(path: string, style: string, body: object): ProviderExchange {
  const endpoint = findEndpoint(path);
  const key = { provider: "https://api.example.com", config: { api_style: style } } as unknown as LevelKey;
  const parsed = endpoint.dialect.parse(jsonPayload(JSON.stringify(body)));
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  const exchange = codecFor(endpoint, key, "m", HAS_ALL)!.open(parsed.request, INPUT);
  if ("refusal" in exchange) throw new Error(exchange.refusal.message);
  return exchange;
}

const CHAT = "/v1/chat/completions";
const chatAnswer = (over: object = {}): string =>
  JSON.stringify({
    ...{ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m-there" },
    choices: [{ index: 0, message: { role: "assistant", content: "Héllo, 漢字" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    ...over,
  });
const called = (name: string): string =>
  JSON.stringify({
    ...{ id: "msg_1", type: "message", role: "assistant", model: "m-there", stop_reason: "tool_use" },
    content: [
      { type: "text", text: "a" },
      { type: "tool_use", id: "t1", name, input: { q: 1 } },
    ],
    usage: { input_tokens: 5, output_tokens: 3 },
  });
const response = JSON.stringify({
  ...{
    id: "resp_1",
    object: "response",
    model: "m-there",
    conversation: { id: "conv_1" },
    status: "completed",
  },
  output: [
    { type: "message", id: "item_1", role: "assistant", content: [{ type: "output_text", text: "a" }] },
  ],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
});

const CASES: readonly (readonly [what: string, path: string, style: string, body: object, answer: string])[] =
  [
    ["chat", CHAT, "chat", SAID, chatAnswer()],
    [
      "one with a fingerprint",
      CHAT,
      "chat",
      SAID,
      chatAnswer({ system_fingerprint: "fp_own", service_tier: "flex" }),
    ],
    ["one without usage", CHAT, "chat", SAID, chatAnswer({ usage: undefined })],
    [
      "one that cites the web",
      CHAT,
      "chat",
      SAID,
      chatAnswer({ choices: [{ message: { content: "a", annotations: [{ type: "url_citation" }] } }] }),
    ],
    ["a translated one with calls", CHAT, "messages", { ...SAID, tools: TOOLS }, called(sentName())],
    ["a response", "/v1/responses", "chat", { model: "m", input: "a" }, response],
    [
      "vectors",
      "/v1/embeddings",
      "chat",
      { model: "m", input: "a" },
      '{"object":"list","data":[{"embedding":[1,2]}],"model":"m-there","usage":{"prompt_tokens":1,"total_tokens":1}}',
    ],
    ["an error with status 200", CHAT, "chat", SAID, '{"error":{"message":"no","type":"server_error"}}'],
    ["no JSON", CHAT, "chat", SAID, "<html>"],
  ];

/** The name under which the provider knows the tool. */
function sentName(): string {
  const { outgoing } = exchangeAt(CHAT, "messages", { ...SAID, tools: TOOLS });
  return JSON.parse(outgoing.body as string).tools[0].name;
}

describe("an answer", () => {
  test.each(CASES)("%s", async (_what, path, style, body, text) => {
    const exchange = exchangeAt(path, style, body);
    const contentType = "application/json";
    const blocks = [text.slice(0, 20), text.slice(20)].map((part) => new Uint8Array(Buffer.from(part)));
    const answered = { blocks, contentType, fingerprint: "fp_1", origin: exchange.origin };
    const large = await readLargeAnswer(inProcess(0), answered, new AbortController().signal);
    const small = exchange.readAnswer({ text, contentType });
    if (!large.ok || !small.ok) {
      expect([large.ok, small.ok]).toEqual([false, false]);
      expect(large.ok || large.text).toBe(text);
      return;
    }
    const { body: answer, ...said } = small;
    expect(large.answer).toEqual(said);
    expect(Buffer.from(large.client).toString()).toBe(exchange.clientText(text, answer, "fp_1"));
    expect(large.facts).toEqual({
      isJson: true,
      model: "m-there",
      made: [...(findEndpoint(path).dialect.objects?.madeBy(answer!) ?? [])],
      chars: small.texts.reduce((sum, one) => sum + one.length, 0),
    });
  });

  test("of many texts keeps a sample of them and the number of all characters", async () => {
    const choices = Array.from({ length: 2_500 }, (_, index) => ({ index, message: { content: "word" } }));
    const blocks = [new Uint8Array(Buffer.from(chatAnswer({ choices })))];
    const { origin } = exchangeAt(CHAT, "chat", SAID);
    const answered = { blocks, contentType: "application/json", fingerprint: "fp_1", origin };
    const large = await readLargeAnswer(inProcess(0), answered, new AbortController().signal);
    expect(large).toMatchObject({ ok: true, facts: { chars: 10_000 } });
    expect(large.ok && large.answer.texts.length).toBe(834);
  });

  test("of a stored response is read as it is on the event loop", async () => {
    const unsent = { method: "GET", body: null, headers: {} } as const;
    const naming = { model: "m-there", add: {} };
    const exchange = new StoredResponseExchange("/v1/responses/resp_1", unsent, "m", naming);
    const blocks = [new Uint8Array(Buffer.from(response))];
    const answered = { blocks, contentType: "", fingerprint: "", origin: exchange.origin };
    const large = await readLargeAnswer(inProcess(0), answered, new AbortController().signal);
    const small = exchange.readAnswer({ text: response, contentType: "" });
    expect(large.ok && Buffer.from(large.client).toString()).toBe(
      exchange.clientText(response, small.ok ? small.body : null),
    );
    expect(large).toMatchObject({ facts: { made: [], model: "m-there" } });
  });

  test("is opened again as it was: translated or not", () => {
    const [translated, own] = ["messages", "chat"].map((style) => exchangeAt(CHAT, style, SAID).origin);
    expect(translated).toMatchObject({ path: CHAT, providerPath: "/v1/messages", host: "api.example.com" });
    expect(own).toMatchObject({ path: CHAT, providerPath: CHAT });
  });
});
