// What an answer brings beside the usage of the model that was asked, and what it costs: computed by hand.

import { describe, expect, test } from "bun:test";
import { recompute } from "../../../actors/pricing/cost-parts.ts";
import { type Pricing, priceTable } from "../../../actors/pricing/price-table.ts";
import type { Admission } from "../../../src/gateway/context.ts";
import { METERS } from "../../../src/gateway/metering/meter-kinds.ts";
import { type MeterInput, meterUsage } from "../../../src/gateway/metering/usage-meter.ts";
import { sizeOf } from "../request-samples.ts";

const counter = { count: async () => 0 };

async function metered(model: string, over: Partial<MeterInput>, pricing: Pricing | null = null, tools = {}) {
  const prices = priceTable(pricing);
  const priced = prices.find(model, METERS.tokens.groups)!;
  const demands = { objects: null, routing: null, tools, searches: 0, compactions: 0 };
  const admission = {
    route: { model, priced, pricedByTokens: null, prices, multipliers: { rates: 2, factor: 1 } },
    size: sizeOf({ maxOutput: 64_000, demands }),
  } as unknown as Admission;
  const reading: MeterInput = {
    dialect: "messages",
    usage: null,
    serviceTier: null,
    answeredModel: null,
    texts: [],
    measured: {},
    complete: true,
    prompt: () => [],
    promptTokens: null,
    promptBeside: 0,
    ...over,
  };
  const found = await meterUsage(METERS.tokens, admission, reading, counter);
  // Whatever was charged is found again from what is kept of it.
  const { amount, numbers, parts } = found.charge;
  expect(recompute(found.usage, numbers, JSON.parse(JSON.stringify(parts)))).toBe(amount);
  return { ...found, usd: amount / 2e9 };
}

const TOP = { input_tokens: 23_000, output_tokens: 1_000 };
const HAIKU = "claude-haiku-4-5";

describe("turns", () => {
  test("a compaction costs what its tokens cost, beside the answer's own", async () => {
    const iterations = [
      { type: "compaction", input_tokens: 180_000, output_tokens: 3_500 },
      { type: "message", ...TOP },
    ];
    const { usd, usage, basis } = await metered(HAIKU, { usage: { ...TOP, iterations } });
    expect(usd).toBeCloseTo((23_000 + 1_000 * 5 + 180_000 + 3_500 * 5) / 1e6, 9);
    expect([basis, usage.inText, usage.outText]).toEqual(["provider", 203_000, 4_500]);
  });

  test("each is in the long context by itself", async () => {
    // Over 200,000 tokens this model costs twice as much; together these are more, none is.
    const model = "claude-sonnet-4-20250514";
    const iterations = [{ type: "compaction", input_tokens: 180_000, output_tokens: 0 }];
    const { usd } = await metered(model, { usage: { ...TOP, iterations } });
    expect(usd).toBeCloseTo((203_000 * 3 + 1_000 * 15) / 1e6, 9);
  });

  test("an advisor's cost at the dearer of both prices, whichever configuration priced the model", async () => {
    const advisor = {
      type: "advisor_message",
      model: "claude-opus-4-5",
      input_tokens: 1_000,
      output_tokens: 100,
    };
    const own = { ChatPricing: { [HAIKU]: { InputText: 1, OutputText: 5 } } };
    for (const pricing of [null, own]) {
      const { usd } = await metered(HAIKU, { usage: { ...TOP, iterations: [advisor] } }, pricing);
      expect(usd).toBeCloseTo((28_000 + 1_000 * 5 + 100 * 25) / 1e6, 9);
    }
    const cheap = { ...advisor, model: "gpt-4o-mini" };
    const { usd } = await metered(HAIKU, { usage: { ...TOP, iterations: [cheap] } });
    expect(usd).toBeCloseTo((28_000 + 1_000 + 100 * 5) / 1e6, 9);
  });

  test("of the answer itself are not charged twice, and not lost where the totals leave one out", async () => {
    const half = { type: "message", input_tokens: 11_500, output_tokens: 500 };
    const whole = await metered(HAIKU, { usage: { ...TOP, iterations: [half, half] } });
    expect(whole.usd).toBeCloseTo(28_000 / 1e6, 9);
    expect(whole.charge.parts).toEqual([]);
    const more = await metered(HAIKU, { usage: { ...TOP, iterations: [half, half, half] } });
    expect(more.usd).toBeCloseTo((28_000 + 14_000) / 1e6, 9);
  });

  test.each([
    [[{ type: "compaction", input_tokens: -1, output_tokens: 1 }]],
    [[{ type: "compaction", input_tokens: 1e300, output_tokens: 1 }]],
    [[null]],
    [Array(1_001).fill({ type: "compaction", input_tokens: 1, output_tokens: 1 })],
  ])("that make no sense make the usage count as missing", async (iterations) => {
    expect((await metered(HAIKU, { usage: { ...TOP, iterations } })).basis).toBe("estimate");
  });
});

describe("calls of tools", () => {
  const PRICING = { CallPricing: { code_execution: { Call: 0.05, Rates: 2 }, web_search: { Call: 0.02 } } };
  const usage = { ...TOP, server_tool_use: { code_execution_requests: 3, web_search_requests: 2 } };

  test("cost their own price, by what the usage counts or the answer shows", async () => {
    const tools = { code_execution: 10 };
    const result = await metered(HAIKU, { usage }, PRICING, tools);
    expect(result.usd).toBeCloseTo(0.028 + 3 * 0.1 + 2 * 0.02, 9);
    const shown = { usage: TOP, measured: { toolUses: { code_execution: 4, my_function: 9 } } };
    expect((await metered(HAIKU, shown, PRICING, tools)).usd).toBeCloseTo(0.028 + 4 * 0.1, 9);
  });

  test("are never free, also where nobody could foresee them", async () => {
    const shown = { usage: TOP, measured: { toolUses: { file_search: 2 } } };
    expect((await metered(HAIKU, shown)).usd).toBeCloseTo(0.028 + 2 * 0.01, 9);
  });
});

describe("another model's name", () => {
  const usage = { input_tokens: 1_000, output_tokens: 0 };
  test.each([
    ["gpt-4o-mini", "gpt-4o", 0.0025, "gpt-4o"],
    ["gpt-4o", "gpt-4o-mini", 0.0025, "gpt-4o-mini"],
    ["gpt-4o", "gpt-4o-2024-05-13", 0.0025, null],
    ["gpt-4o", "azure/gpt-4o-latest", 0.0025, null],
    ["claude-opus-4-5", "anthropic.claude-opus-4.5-20251101-v1:0", 0.005, null],
    ["gpt-4o-mini", "nobody-knows-it", 0.00015, null],
  ])("%s answered as %s costs %d", async (asked, answeredModel, usd, other) => {
    const found = await metered(asked, { usage, answeredModel });
    expect(found.usd).toBeCloseTo(usd, 9);
    expect(found.answeredModel).toBe(other);
  });

  test("leaves the Owner's own price, but not one that only multiplies the list's", async () => {
    const cost = async (price: object) =>
      (
        await metered(
          "gpt-4o-mini",
          { usage, answeredModel: "gpt-4o" },
          { ChatPricing: { "gpt-4o-mini": price } },
        )
      ).usd;
    expect(await cost({ InputText: 0.1 })).toBeCloseTo(0.0001, 9);
    expect(await cost({ Rates: 2 })).toBeCloseTo(0.0025, 9);
  });
});
