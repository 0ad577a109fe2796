// Finding a model's price entry by whatever name it was asked for.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { ALIASES, findModel, findProvider, MODELS, PROVIDERS } from "../../../actors/catalog/catalog.ts";
import { findName, fineTunedBase, indexNames } from "../../../actors/catalog/model-name.ts";
import { GROUPS_OF, priceTable } from "../../../actors/pricing/price-table.ts";
import cases from "../../fixtures/pricing-cases.json";
import { stepsOf } from "../../work-counter/work-counter.ts";

const prices = priceTable(null);
const anyGroup = [...new Set(Object.values(GROUPS_OF).flat())];

test.each(cases.lookup as [string, string | null][])("the price of %p is that of %p", (asked, entry) => {
  const priced = prices.find(asked, anyGroup);
  const tuned = priced?.group === "FineTuningPricing" ? "FineTuningPricing/" : "";
  expect(priced && tuned + priced.name).toBe(entry);
});

test.each([
  ["openai/gpt-4o:free", "gpt-4o"],
  ["openrouter/openai/gpt-4o", "gpt-4o"],
  ["publishers/google/models/gemini-2.5-pro", "gemini-2.5-pro"],
  ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5-20250929"],
  ["anthropic.claude-sonnet-4-5-20250929-v1:0:200k", "claude-sonnet-4-5-20250929"],
  ["cohere.rerank-v3-5:0", "rerank-v3.5"],
  ["anthropic/claude-opus-4.5", "claude-opus-4-5"],
  ["claude-opus-4.5", "claude-opus-4-5"],
  ["gemini-2-5-pro-preview-06-05", "gemini-2.5-pro"],
  ["azure/gpt-35-turbo-0613", "gpt-3.5-turbo-0613"],
  ["claude-3-5-sonnet", "claude-3-5-sonnet-20241022"],
  ["claude-3.5-sonnet", "claude-3-5-sonnet-20241022"],
  ["gpt-4.1-2025-04-14.ft-0a1b2c3d", "gpt-4.1"],
  ["gpt-4o@001", "gpt-4o"],
  ["gpt-4o@mini", "gpt-4o-mini"],
  ["gpt-4@mini", undefined],
])("the catalogue knows %p as %p", (asked, id) => {
  expect(findModel(asked)?.id).toBe(id!);
});

test.each([
  ["ft:gpt-4o-mini-2024-07-18:acme::abc123", "gpt-4o-mini-2024-07-18"],
  ["openai/ft:gpt-4o:org:x:1", "gpt-4o"],
  ["gpt-35-turbo-0125.ft-0a1b2c3d-suffix", "gpt-35-turbo-0125"],
  ["ft:gpt-4o", "gpt-4o"],
  ["gpt-4o", null],
  ["draft-1", null],
])("the fine-tuned %p has the base %p", (asked, base) => {
  expect(fineTunedBase(asked)).toBe(base);
});

test("a fine-tuned model without a tuning price costs what its base costs", () => {
  expect(prices.find("ft:gpt-5-mini:acme::1", GROUPS_OF.tokens)).toMatchObject({
    ...{ group: "ChatPricing", name: "gpt-5-mini" },
  });
});

test("every entry finds itself, and every alias its entry", () => {
  for (const id of MODELS.keys()) expect(findModel(id)?.id).toBe(id);
  for (const [alias, id] of ALIASES) expect(findModel(alias)?.id).toBe(id);
});

test("a snapshot with an entry of its own is never billed as its base", () => {
  const index = indexNames(["m", "m-2024-05-13"], new Map([["m-2024-05-13", "m"]]));
  expect(findName("m-2024-05-13", index)).toBe("m-2024-05-13");
  expect(findName("m-2024-08-06", index)).toBe("m");
});

test.each([
  "2024-08-06",
  "20240806",
  "08-2024",
  "08-06",
  "0806",
  "2508",
  "latest",
  "preview",
  "exp",
  "preview-06-05",
])("the snapshot -%s leads to its model", (snapshot) => {
  expect(findName(`m-${snapshot}`, indexNames(["m"], new Map()))).toBe("m");
});

test.each(["mini", "2024-13-01", "1399", "32k", "v2", "001", "2024"])("-%s is no snapshot", (suffix) => {
  expect(findName(`m-${suffix}`, indexNames(["m"], new Map()))).toBeNull();
});

test("of several snapshots the newest stands for the bare name, whatever the order and the way dates are written", () => {
  const names = ["m-20240620", "m-2025-01-02", "m-2411", "m-latest"];
  fc.assert(
    fc.property(fc.shuffledSubarray(names, { minLength: 4 }), (shuffled) => {
      expect(findName("m", indexNames(shuffled, new Map()))).toBe("m-2025-01-02");
    }),
  );
});

test("a name is never billed by a mere prefix", () => {
  const word = fc.stringMatching(/^[a-z]{1,8}$/).filter((w) => !/^(latest|preview|exp)$/.test(w));
  const glue = fc.constantFrom("", "-", "_", ".", "@");
  fc.assert(
    fc.property(fc.constantFrom(...MODELS.keys()), glue, word, (id, between, suffix) => {
      expect(findModel(id + between + suffix)?.id).not.toBe(id);
    }),
  );
});

test("any string may be asked: it never throws, and a hit is always an entry", () => {
  const part = fc.constantFrom(
    "gpt-4o",
    "ft:",
    "/",
    "@",
    ":free",
    "-0125",
    "-latest",
    "anthropic.",
    "1-",
    "4.",
    "us.",
  );
  const hostile = fc.array(part, { maxLength: 80 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), hostile), (asked) => {
      const model = findModel(asked);
      if (model) expect(MODELS.get(model.id)).toBe(model);
      prices.find(asked, anyGroup);
    }),
  );
  for (const name of ["__proto__", "constructor", "toString", "", "/", ":", "@", "ft:", "ft::"]) {
    expect(findModel(name)).toBeNull();
    expect(prices.find(name, anyGroup)).toBeNull();
  }
});

test.each([
  "a/".repeat(100),
  "-0125".repeat(40),
  "1-".repeat(100),
  "ft:".repeat(66),
  "a".repeat(1e6),
  "us.".repeat(66),
])("a hostile name is looked up in few steps", (name) => {
  // Sixteen forms of two hundred characters, each in four spellings, before some ten patterns.
  expect(stepsOf(() => void findModel(name))).toBeLessThan(500_000);
});

test.each([
  ["api.openai.com", "openai"],
  ["API.OpenAI.com.", "openai"],
  ["x.openai.azure.com", "cloud_a"],
  [".openai.azure.com", undefined],
  ["openai.azure.com", undefined],
  ["europe-west1-aiplatform.googleapis.com", "cloud_b"],
  ["aiplatform.googleapis.com", "cloud_b"],
  ["api.openai.com.evil.example", undefined],
  ["evil-api.openai.com", undefined],
  ["__proto__", undefined],
])("the host %p belongs to %p", (host, provider) => {
  expect(findProvider(host)?.provider).toBe(provider!);
});

test("a provider that speaks by model says so", () => {
  expect(new Set(PROVIDERS.map(({ api_style }) => api_style))).toEqual(
    new Set(["chat", "messages", "by-model"]),
  );
  expect(findProvider("aiplatform.googleapis.com")?.api_style).toBe("by-model");
});
