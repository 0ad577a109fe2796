// What the stand-in says in the embeddings dialect, seen through plain fetch and the official client.

import { afterAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { jsonOf, post } from "./asking.ts";
import { startProvider } from "./provider.ts";

const provider = startProvider();
afterAll(() => provider.close());
const client = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: "sk-client-0001", maxRetries: 0 });
const MODEL = "text-embedding-3-small";
const ask = async (input: unknown, extra: object = {}) =>
  jsonOf(await post(provider, "/v1/embeddings", { model: MODEL, input, ...extra }));

test("a text is one vector of the model's dimensions and of length one", async () => {
  const body = await ask("good morning");
  expect(body).toMatchObject({ object: "list", model: MODEL, usage: { prompt_tokens: 2, total_tokens: 2 } });
  const [{ embedding, index, object }] = body.data;
  expect([object, index, embedding.length]).toEqual(["embedding", 0, 1536]);
  expect(Math.hypot(...embedding)).toBeCloseTo(1, 1);
  expect(provider.calls().at(-1)!.usage).toMatchObject({ prompt: 2, completion: 0 });
});

test.each([
  ["texts", ["one", "two three"], 2, 3],
  ["tokens", [1, 2, 3], 1, 3],
  ["lists of tokens", [[1, 2], [3]], 2, 3],
])("the input can be %s", async (_, input, vectors, tokens) => {
  const { data, usage } = await ask(input);
  expect([data.length, usage.prompt_tokens]).toEqual([vectors, tokens]);
});

test("base64 holds the same numbers, and other inputs others", async () => {
  const [{ embedding }] = (await ask("one", { dimensions: 4 })).data;
  const [{ embedding: coded }] = (await ask("one", { dimensions: 4, encoding_format: "base64" })).data;
  const bytes = Buffer.from(coded, "base64");
  const decoded = Array.from({ length: 4 }, (_, nth) => bytes.readFloatLE(nth * 4));
  expect(decoded).toEqual(embedding);
  expect((await ask("two", { dimensions: 4 })).data[0].embedding).not.toEqual(embedding);
});

test("the official client asks base64 and decodes it", async () => {
  const { data } = await client.embeddings.create({ model: MODEL, input: ["a", "b"], dimensions: 8 });
  expect(data.map(({ embedding }) => embedding.length)).toEqual([8, 8]);
  expect(provider.calls().at(-1)!.body).toMatchObject({ encoding_format: "base64", dimensions: 8 });
});

test.each([
  ["openai", { usage: { prompt_tokens: 9, total_tokens: 9 } }],
  ["jina", { usage: { total_tokens: 9 } }],
  ["voyage", { usage: { total_tokens: 9 } }],
  ["cohere", { meta: { billed_units: { input_tokens: 9 } } }],
])("shape=%s reports usage its way", async (shape, report) => {
  const { data: _, object, model, ...rest } = await ask(`Hi [[shape=${shape} prompt=9]]`);
  expect([object, model]).toEqual(["list", MODEL]);
  expect(rest).toMatchObject(report);
  expect(rest.usage).toEqual((report as { usage?: object }).usage);
});

test("usage=none tells none", async () => {
  expect(await ask("Hi [[usage=none]]")).not.toHaveProperty("usage");
});

test.each([
  [{ model: undefined }, "model"],
  [{ input: [] }, "input"],
  [{ input: "" }, "input"],
  [{ input: [1.5] }, "input"],
  [{ input: Array(2049).fill("a") }, "input"],
  [{ encoding_format: "hex" }, "encoding_format"],
  [{ dimensions: 0 }, "dimensions"],
])("a request lacking sense is a 400: %j", async (extra, param) => {
  const response = await post(provider, "/v1/embeddings", { model: MODEL, input: "a", ...extra });
  expect([response.status, (await jsonOf(response)).error.param]).toEqual([400, param]);
});
