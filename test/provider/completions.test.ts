// What the stand-in says in the old completions dialect, seen through plain fetch and the official client.

import { afterAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { eventsOf, jsonOf, post } from "./asking.ts";
import { startProvider } from "./provider.ts";

const provider = startProvider();
afterAll(() => provider.close());
const client = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: "sk-client-0001", maxRetries: 0 });
const MODEL = "gpt-3.5-turbo-instruct";
const ask = (prompt: unknown, extra: object = {}) =>
  post(provider, "/v1/completions", { model: MODEL, prompt, ...extra });

test("the official client reads a whole answer", async () => {
  const body = await client.completions.create({ model: MODEL, prompt: "Good morning [[output=4]]" });
  expect(body.object).toBe("text_completion");
  expect(body.choices).toEqual([
    { text: "Good morning time year", index: 0, logprobs: null, finish_reason: "stop" },
  ]);
  expect(body.usage).toEqual({ prompt_tokens: 2, completion_tokens: 4, total_tokens: 6 });
});

test("the official client reads a stream with its usage at the end", async () => {
  const chunks = await Array.fromAsync(
    await client.completions.create({
      model: MODEL,
      prompt: "Hi [[output=3]]",
      stream: true,
      stream_options: { include_usage: true },
    }),
  );
  expect(chunks.map((chunk) => chunk.choices[0]?.text ?? "").join("")).toBe("Hi time year");
  expect(chunks.at(-2)!.choices[0]!.finish_reason).toBe("stop");
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 3, prompt_tokens: 1 } });
  expect(provider.calls().at(-1)!.usage).toMatchObject({ prompt: 1, completion: 3 });
});

test("a stream ends with [DONE] and does not speak of usage unless asked", async () => {
  const text = await (await ask("Hi", { stream: true })).text();
  expect(text).toEndWith("data: [DONE]\n\n");
  expect(text).not.toContain('"usage"');
});

test("sixteen tokens are the limit when nobody says", async () => {
  const { choices, usage } = await jsonOf(await ask("[[output=50]]"));
  expect([choices[0].finish_reason, usage.completion_tokens]).toEqual(["length", 16]);
});

test.each([
  ["a text", "one two three", 1, 3],
  ["texts", ["one two", "three"], 2, 3],
  ["tokens", [5, 6, 7, 8], 1, 4],
  ["lists of tokens", [[5, 6], [7]], 2, 3],
])("the prompt can be %s", async (_, prompt, choices, tokens) => {
  const body = await jsonOf(await ask(prompt));
  expect([body.choices.length, body.usage.prompt_tokens]).toEqual([choices, tokens]);
});

test("what was tried for the best is paid for, what is shown is n", async () => {
  const { choices, usage } = await jsonOf(await ask("[[output=4]]", { n: 2, best_of: 6 }));
  expect([choices.length, usage.completion_tokens]).toEqual([2, 24]);
  expect(provider.calls().at(-1)!.usage!.completion).toBe(24);
});

test("echo says the prompt first", async () => {
  const { choices } = await jsonOf(await ask("One [[output=2]]", { echo: true }));
  expect(choices[0].text).toBe("OneOne time");
});

test.each([
  [{ model: undefined }, "model"],
  [{ prompt: undefined }, "prompt"],
  [{ n: 3, best_of: 2 }, "best_of"],
  [{ best_of: 2, stream: true }, "best_of"],
  [{ max_tokens: -1 }, "max_tokens"],
])("a request lacking sense is a 400: %j", async (extra, param) => {
  const response = await ask("hi", extra);
  expect([response.status, (await jsonOf(response)).error.param]).toEqual([400, param]);
});

test.each([
  ["always", 1],
  ["duplicate", 2],
  ["none", 0],
  ["last_chunk", 1],
])("usage=%s is told %i times in a stream that asks", async (form, times) => {
  const extra = { stream: true, stream_options: { include_usage: true } };
  const events = await eventsOf(await ask(`Hi [[usage=${form}]]`, extra));
  expect(events.filter(({ usage }) => usage != null)).toHaveLength(times);
});
