// What the stand-in says in the dialects of rerank, in the form of each vendor, and of moderations.

import { afterAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { type Json, jsonOf, post } from "./asking.ts";
import { startProvider } from "./provider.ts";

const provider = startProvider();
afterAll(() => provider.close());
const DOCUMENTS = ["about dogs", "red cat", { text: "a red red cat and more" }];
const ask = async (query: string, extra: object = {}, path = "/v1/rerank") =>
  jsonOf(await post(provider, path, { model: "rerank-v3.5", query, documents: DOCUMENTS, ...extra }));

describe("rerank", () => {
  test("in Cohere's form counts search units", async () => {
    const body = await ask("red cat", {}, "/v2/rerank");
    expect(body.id).toBeString();
    expect(body.results.map(({ index }: Json) => index)).toEqual([1, 2, 0]);
    expect(body.meta.billed_units).toEqual({ search_units: 1 });
    expect(provider.calls().at(-1)).toMatchObject({
      units: { searchUnits: 1 },
      usage: { prompt: 16, completion: 0 },
    });
  });

  test("has a search unit for each hundred documents begun", async () => {
    const { meta } = await ask("red", { documents: Array(101).fill("cat") });
    expect(meta.billed_units.search_units).toBe(2);
  });

  test("in Jina's form counts tokens", async () => {
    const body = await ask("red cat [[shape=jina]]", { return_documents: true });
    expect(body).toMatchObject({ model: "rerank-v3.5", usage: { total_tokens: 16 } });
    expect(body.results[0].document).toEqual({ text: "red cat" });
  });

  test("in Voyage's form is a list of data", async () => {
    const body = await ask("red cat [[shape=voyage]]", { top_k: 2, return_documents: true });
    expect(body).toMatchObject({ object: "list", usage: { total_tokens: 16 } });
    expect(body.data).toHaveLength(2);
    expect(body.data[0].document).toBe("red cat");
  });

  test("usage=none tells none", async () => {
    expect((await ask("red [[usage=none]]")).meta).not.toHaveProperty("billed_units");
    expect(await ask("red [[usage=none shape=jina]]")).not.toHaveProperty("usage");
  });

  test("gives the first top_n", async () => {
    expect((await ask("red cat", { top_n: 1 })).results).toHaveLength(1);
  });

  test.each([
    [{ model: undefined }, "model"],
    [{ query: undefined }, "query"],
    [{ documents: [] }, "documents"],
    [{ documents: [{ title: "x" }] }, "documents"],
  ])("lacking sense is a 400: %j", async (extra, param) => {
    const body = { model: "r", query: "q", documents: ["d"], ...extra };
    const response = await post(provider, "/v1/rerank", body);
    expect([response.status, (await jsonOf(response)).error.param]).toEqual([400, param]);
  });
});

describe("moderations", () => {
  const judge = async (input: unknown) => jsonOf(await post(provider, "/v1/moderations", { input }));
  const image = { type: "image_url", image_url: { url: "https://x.example/a.png" } };

  test.each([
    ["a text", "hi", 1],
    ["texts", ["hi", "ho"], 2],
    ["parts", [{ type: "text", text: "hi" }, image], 1],
  ])("of %s", async (_, input, results) => {
    const body = await judge(input);
    expect(body).toMatchObject({ model: "omni-moderation-latest", id: expect.stringMatching(/^modr-/) });
    expect(body.results).toHaveLength(results);
    expect(body.results[0].flagged).toBe(false);
    expect(provider.calls().at(-1)!.usage).toBeNull();
  });

  test("find harm when the script says so", async () => {
    const [result] = (await judge("hi [[finish=content_filter]]")).results;
    expect([result.flagged, result.categories.violence, result.categories.hate]).toEqual([true, true, false]);
  });

  test("come to the official client", async () => {
    const client = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: "sk-client-0001", maxRetries: 0 });
    expect((await client.moderations.create({ input: "hi" })).results[0]!.flagged).toBe(false);
  });

  test("of nothing are a 400", async () => {
    expect((await post(provider, "/v1/moderations", { input: 5 })).status).toBe(400);
  });
});
