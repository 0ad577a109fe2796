// SSE_KEEPALIVE_MS with a provider that takes its time: clients read on, other keys are tried, and what fails is free.

import { expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { asking, charges, MODEL, until } from "./harness.ts";
import { ask } from "./harness-keys.ts";
import { streamChat } from "./streaming.ts";
import { prepared, useBench } from "./use-bench.ts";

const bench = useBench({ settings: { SSE_KEEPALIVE_MS: "1000", UPSTREAM_FIRST_MS: "2500" } });
const chat = prepared(async () => bench.subaccount(await bench.owner()));
const messages = prepared(async () => bench.subaccount(await bench.owner({ style: "messages" })));

const COMMENT = ": keep-alive";
const isComment = (one: string): boolean => one === COMMENT;

test("a slow first word: the head goes out early, then comments, then the answer, charged as ever", async () => {
  const account = await bench.subaccount(await bench.owner());
  const { comments, done, headers, events, cost } = await streamChat(
    bench,
    account.key,
    "[[output=3 first_ms=2200]]",
  );
  expect(comments.filter(isComment).length).toBeWithin(1, 4);
  expect([done, events.length > 2]).toEqual([true, true]);
  // Who will have answered was not known yet.
  expect([headers.get("x-arbor-attempts"), headers.get("x-request-id")?.length]).toEqual([null, 26]);
  const [line] = charges(await bench.ledger(account.key));
  expect([line.completion_tokens, line.basis, -line.amount]).toEqual([3, "provider", Number(cost)]);
});

test("silence inside a stream, too, between whole events", async () => {
  const { comments, done, text, events } = await streamChat(bench, chat.key, "[[output=1 chunk_ms=1800]]");
  expect([done, events.length > 1]).toEqual([true, true]);
  const blocks = text.split("\n\n");
  const content = blocks.findIndex(
    (block) => block.includes('"content":"') && !block.includes('"content":""'),
  );
  expect(content).toBeGreaterThan(0);
  expect(blocks.slice(content).filter(isComment).length).toBeWithin(1, 9);
  expect(comments.filter(isComment).length).toBeWithin(2, 9);
  expect(blocks.every((block) => /^(|: .*|data: .*)$/.test(block))).toBe(true);
});

test("SDKs of both styles read on as if nothing were", async () => {
  const openai = new OpenAI({ baseURL: `${bench.url}/v1`, apiKey: chat.key, maxRetries: 0 });
  const anthropic = new Anthropic({ baseURL: bench.url, apiKey: messages.key, maxRetries: 0 });
  const said = "[[output=3 first_ms=1800]]";
  const [one, two, three] = await Promise.all([
    openai.chat.completions.create({ ...asking(said), stream: true } as never).then(async (stream) => {
      let text = "";
      for await (const { choices } of stream as unknown as AsyncIterable<OpenAI.ChatCompletionChunk>) {
        text += choices[0]?.delta.content ?? "";
      }
      return text;
    }),
    anthropic.messages.stream({ ...asking(said), max_tokens: 20 } as never).finalText(),
    openai.responses.create({ model: MODEL, input: said, stream: true }).then(async (stream) => {
      let text = "";
      for await (const event of stream) if (event.type === "response.output_text.delta") text += event.delta;
      return text;
    }),
  ]);
  expect([one.length > 0, two.length > 0, three.length > 0]).toEqual([true, true, true]);
});

test("another key is tried after comments", async () => {
  const owner = await bench.owner({ keys: 2 });
  const account = await bench.subaccount(owner);
  bench.provider.behave(owner.keys[0]!.secret, "fault=hang", 1);
  const { comments, done } = await streamChat(bench, account.key, "[[output=3]]");
  expect([done, comments.some(isComment)]).toEqual([true, true]);
  const [line] = charges(await bench.ledger(account.key));
  expect(line.completion_tokens).toBe(3);
  const explained = await bench.call(
    owner.key,
    "GET",
    `/x-explain?user=${account.id}&request=${line.request_id}`,
  );
  expect(explained.body.attempts.map((one: { signal: string }) => one.signal)).toEqual(["timeout", "ok"]);
});

test("when no key answers, the stream ends with an error event, and costs nothing", async () => {
  const account = await bench.subaccount(await bench.owner());
  const { status, comments, done, error } = await streamChat(bench, account.key, "[[fault=hang]]");
  expect([status, done, error.code]).toEqual([200, false, "upstream_timeout"]);
  expect(comments.some(isComment)).toBe(true);
  expect(charges(await bench.ledger(account.key))).toEqual([]);
  expect(await bench.balance(account.key)).toBe(10);
  // The head said 200 before anything had failed; the list says how it ended.
  const { body } = await bench.call(account.key, "GET", "/dashboard/requests");
  expect(body.requests).toMatchObject([{ status: 504, code: "upstream_timeout", cost: 0 }]);
  expect(await bench.nothingHeld(account.key)).toBe(true);
});

test("whole answers, and refusals at the door, are as ever", async () => {
  const [whole, unknown] = await Promise.all([
    ask(bench, chat, { said: "[[output=2 head_ms=1500]]" }),
    bench.chat(chat.key, "hi", { stream: true, model: "" }),
  ]);
  expect([whole.result, whole.attempts]).toEqual(["200", 1]);
  expect(unknown.status).toBe(400);
});

test("a client that leaves before the first content ends the call, pays nothing, and is counted", async () => {
  const account = await bench.subaccount(await bench.owner());
  const leave = async () => {
    const abort = new AbortController();
    const response = await fetch(`${bench.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${account.key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...asking("[[head_ms=2400]]"), stream: true, max_tokens: 5 }),
      signal: abort.signal,
    });
    const first = await response.body!.getReader().read();
    expect(new TextDecoder().decode(first.value)).toBe(`${COMMENT}\n\n`);
    abort.abort();
  };
  await Promise.all(Array.from({ length: 21 }, leave));
  await until("all calls are given up", () => bench.provider.inFlight() === 0);
  expect(charges(await bench.ledger(account.key))).toEqual([]);
  const refused = async () => (await bench.chat(account.key, "[[output=1]]")).body.error?.code;
  await until("the aborts are counted", async () => (await refused()) === "too_many_aborts");
});
