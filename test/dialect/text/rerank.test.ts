// The rerank dialect: what a query with its documents weighs, and the answers of hosts that count search units or tokens.

import { describe, expect, test } from "bun:test";
import { cost } from "../../../actors/pricing/cost.ts";
import { priceTable } from "../../../actors/pricing/price-table.ts";
import { rerank } from "../../../src/dialect/text/rerank.ts";
import { readUsage } from "../../../src/dialect/usage.ts";
import { ask, type Refused, read, testRefusals } from "../asking.ts";

const LEAST = { model: "m", query: "q", documents: ["a"] };
const asked = (extra: Record<string, unknown> = {}) => ask(rerank, { ...LEAST, ...extra });

describe("a request is refused for", () => {
  const REFUSED: Refused = [
    ["not being an object", [], "body"],
    ["a missing model", { query: "q", documents: ["a"] }, "model", "missing_parameter"],
    ["a missing query", { model: "m", documents: ["a"] }, "query", "missing_parameter"],
    ["an empty query", { ...LEAST, query: "" }, "query"],
    ["a query that is a list", { ...LEAST, query: ["q"] }, "query"],
    ["missing documents", { model: "m", query: "q" }, "documents", "missing_parameter"],
    ["no documents", { ...LEAST, documents: [] }, "documents"],
    ["documents as one text", { ...LEAST, documents: "a" }, "documents"],
    ["a document that is a number", { ...LEAST, documents: ["a", 1] }, "documents"],
    ["a document that is null", { ...LEAST, documents: [null] }, "documents"],
    ["10,001 documents", { ...LEAST, documents: new Array(10_001).fill("a") }, "documents"],
    ["a stream", { ...LEAST, stream: true }, "stream"],
  ];
  testRefusals(rerank, REFUSED);
});

describe("a parsed request has", () => {
  test("that it is only read", () =>
    expect(asked({ top_n: 1 })).toMatchObject({ model: "m", stream: false, n: 1, maxOutput: 0, inputs: 1 }));
  test.each([
    [1, 1],
    [100, 1],
    [101, 2],
    [10_000, 100],
  ])("of %d documents that they are %d search units", (count, calls) =>
    expect(asked({ documents: new Array(count).fill("a") })).toMatchObject({
      measured: { calls },
      inputs: count,
    }),
  );
  test("the query once more with every document", () => {
    const request = asked({ query: "wh?", documents: ["é", { text: "bc" }, "d"] });
    // The object's name and its frame: 4 + 4.
    expect(request.promptBytes).toBe(3 * 3 + 5 + 8);
    expect(rerank.promptTexts(request)).toEqual(["wh?", "wh?", "wh?", "é", "bc", "d"]);
  });
  test("no more of a query than hosts read, however often it would have to be counted", () => {
    const request = asked({ query: "q".repeat(100_000), documents: ["a", "b"] });
    expect(rerank.promptTexts(request).map((text) => text.length)).toEqual([32_000, 32_000, 1, 1]);
  });
});

describe("an answer", () => {
  const answered = (body: unknown) => read(rerank, LEAST, body);
  const results = [{ index: 0, relevance_score: 0.9 }];
  const HOSTS: readonly (readonly [
    host: string,
    model: string,
    body: Record<string, unknown>,
    counts: Record<string, number>,
    usd: number,
  ])[] = [
    [
      "in search units",
      "rerank-v3.5",
      { id: "x", results, meta: { api_version: { version: "2" }, billed_units: { search_units: 2 } } },
      { calls: 2, inText: 0 },
      0.004,
    ],
    [
      "in tokens",
      "rerank-2.5",
      { object: "list", data: results, usage: { total_tokens: 26_000 } },
      { inText: 26_000 },
      0.0013,
    ],
    [
      "in both places",
      "rerank-v3.5",
      { results, usage: { total_tokens: 5 }, meta: { billed_units: { search_units: 1 } } },
      { calls: 1, inText: 5 },
      0.002,
    ],
  ];
  test.each(HOSTS)("says %s what was used", (_host, model, body, counts, usd) => {
    const answer = answered(body);
    expect(answer).toMatchObject({ ok: true, texts: [], measured: {} });
    if (!answer.ok) return;
    const usage = readUsage(rerank.usage, answer.usage, { contextWindow: 0, outputLimit: 0 })!;
    expect(usage).toMatchObject(counts);
    const priced = priceTable(null).find(model, ["RerankPricing"])!;
    expect(Number(cost(priced, usage, { rates: 1, factor: 1 }).amount)).toBe(Math.round(usd * 1e9));
  });
  test("that says nothing of it leaves it to what was asked", () =>
    expect(answered({ results })).toMatchObject({ ok: true, usage: null, measured: {} }));
  test.each([
    ["an error", '{"error":{"message":"m"}}', "error_body"],
    ["a message alone", '{"message":"invalid api token"}', "error_body"],
    ["without a list", '{"results":{}}', "error_body"],
    ["a page", "<html>", "server_error"],
  ])("that is %s is a failure", (_what, text, fault) =>
    expect(answered(text)).toEqual({ ok: false, fault: fault as "error_body" }),
  );
});
