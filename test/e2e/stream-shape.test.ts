// `x-stream-shape: message`: streams of /v1/chat/completions as the specification describes them, for every provider.

import { expect, test } from "bun:test";
import { asking, charges, type Json, MODEL, nano } from "./harness.ts";
import { readStream, streamChat } from "./streaming.ts";
import { prepared, useBench } from "./use-bench.ts";

const bench = useBench();
const chat = prepared(async () => bench.subaccount(await bench.owner()));
const messages = prepared(async () => bench.subaccount(await bench.owner({ style: "messages" })));

const SHAPE = { "x-stream-shape": "message" };
const contents = (events: readonly Json[]): string =>
  events.map((event) => event.choices[0].message.content).join("");

test.each([
  ["a provider of the chat style", () => chat],
  ["a provider of the messages style", () => messages],
])("%s: partial messages, cumulative usage, [DONE]", async (_, who) => {
  const { key } = who();
  const plain = await streamChat(bench, key, "[[output=6 prompt=20]]", { max_tokens: 50 });
  const { events, done, text, cost } = await streamChat(
    bench,
    key,
    "[[output=6 prompt=20]]",
    { max_tokens: 50 },
    SHAPE,
  );
  expect(done).toBe(true);
  expect(new Set(events.map(({ object }) => object))).toEqual(new Set(["chat.completion"]));
  expect(contents(events)).toBe(plain.said);
  expect(text).not.toContain('"delta"');
  const reasons = events.map(({ choices }) => choices[0].finish_reason);
  expect([reasons.at(-1), new Set(reasons.slice(0, -1))]).toEqual(["stop", new Set([""])]);
  // An estimate may be too high, so that the provider's figure at the end falls behind it.
  const completions = events.slice(0, -1).map(({ usage }) => usage.completion_tokens);
  expect(completions.at(-1)).toBeGreaterThan(0);
  expect(completions).toEqual(completions.toSorted((a, b) => a - b));
  expect(events.at(-1).usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 6, total_tokens: 26 });
  expect(new Set(events.map(({ system_fingerprint }) => system_fingerprint)).size).toBe(1);
  const [line] = charges(await bench.ledger(key)).slice(-1);
  expect([nano(cost!), line.prompt_tokens, line.completion_tokens, line.basis]).toEqual([
    -nano(line.amount),
    20,
    6,
    "provider",
  ]);
});

test("a broken one ends with the error event and without [DONE]", async () => {
  const { events, done, error } = await streamChat(
    bench,
    chat.key,
    "[[output=20 fault=cut after=6]]",
    {},
    SHAPE,
  );
  expect([done, error.type]).toEqual([false, "upstream_error"]);
  expect(contents(events.slice(0, -1)).length).toBeGreaterThan(0);
});

test("one that ends well without [DONE] is closed for it", async () => {
  const { events, done } = await streamChat(bench, chat.key, "[[output=4 fault=no_done]]", {}, SHAPE);
  expect([done, events.at(-1).choices[0].finish_reason]).toEqual([true, "stop"]);
});

test("a whole answer is as it is without", async () => {
  const { status, body } = await bench.chat(chat.key, "[[output=3]]", {}, { headers: SHAPE });
  expect([status, body.object]).toEqual([200, "chat.completion"]);
});

test.each(["delta", "Message", "", "message, message"])("the shape %p is refused", async (shape) => {
  const answer = await bench.chat(chat.key, "hi", { stream: true }, { headers: { "x-stream-shape": shape } });
  expect([answer.status, answer.body.error.code]).toEqual([400, "invalid_parameter"]);
  expect(answer.body.error.message).toContain("x-stream-shape");
});

test("other paths have no shapes, and mind no header", async () => {
  const body = { ...asking("[[output=3]]"), model: MODEL, max_tokens: 5, stream: true };
  const answer = await bench.call(messages.key, "POST", "/v1/messages", body, {
    headers: { "x-stream-shape": "none" },
  });
  expect(readStream(answer.status, answer.headers, answer.text).status).toBe(200);
  expect(answer.text).toContain("event: message_stop");
});
