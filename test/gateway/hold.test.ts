// The worst case of a request: its prompt and the most output that it can have, at the dearest price that can apply.

import { describe, expect, test } from "bun:test";
import type { Nano } from "../../actors/money.ts";
import type { Priced } from "../../actors/price.ts";
import { priceTable } from "../../actors/price-table.ts";
import { outputLimit, type Size, worstCase } from "../../src/gateway/hold.ts";

const PRICED = priceTable({ ChatPricing: { plain: { InputText: 1, OutputText: 10 } } }).find("plain", [
  "ChatPricing",
])!;
const ONE = { rates: 1, factor: 1 };
const size = (over: Partial<Size> = {}): Size => ({
  promptTokens: 1_000,
  maxOutput: 100,
  n: 1,
  serviceTier: null,
  never: [],
  ...over,
});
const worst = (over: Partial<Size>, priced: Priced = PRICED, multipliers = ONE) =>
  worstCase(priced, "plain", size(over), multipliers, 4_096);

describe("the most output", () => {
  test.each([
    ["the client's limit, whatever the model's", "gpt-4o", 99_999, 4_096, 99_999],
    ["HOLD_OUTPUT_TOKENS where the model's maximum is larger", "gpt-4o", null, 4_096, 4_096],
    ["the model's maximum where that is smaller", "gpt-4o", null, 1_000_000, 16_384],
    ["the model's maximum with HOLD_OUTPUT_TOKENS 0", "gpt-4o", null, 0, 16_384],
    ["HOLD_OUTPUT_TOKENS for a model that nobody knows", "nobody-knows-it", null, 2_000, 2_000],
    ["4096 for a model that nobody knows, with 0", "nobody-knows-it", null, 0, 4_096],
    ["nothing, where the client wants none", "gpt-4o", 0, 4_096, 0],
  ])("is %s", (_rule, model, maxOutput, holdOutputTokens, tokens) => {
    expect(outputLimit(model, maxOutput, holdOutputTokens)).toBe(tokens);
  });
});

describe("the worst case", () => {
  test("is the prompt and all choices' output", () => {
    expect(worst({ n: 3 })).toEqual({
      promptTokens: 1_000,
      outputTokens: 300,
      cost: 4_000_000 as Nano,
      promptCost: 1_000_000 as Nano,
    });
  });

  test("is multiplied by Rates and Factor", () => {
    expect(worst({}, PRICED, { rates: 2, factor: 1.5 })).toMatchObject({
      cost: 6_000_000,
      promptCost: 3_000_000,
    });
  });

  test("takes the dearest kind of token that the request can have", () => {
    const priced = priceTable({
      ChatPricing: { plain: { InputText: 1, OutputText: 10, InputAudio: 40, OutputAudio: 80 } },
    }).find("plain", ["ChatPricing"])!;
    expect(worst({}, priced).cost).toBe(48_000_000 as Nano);
    expect(worst({ never: ["inAudio", "outAudio"] }, priced).cost).toBe(2_000_000 as Nano);
  });

  test("is nothing for a model that is free", () => {
    const free = priceTable({ ChatPricing: { plain: { InputText: 0, OutputText: 0 } } }).find("plain", [
      "ChatPricing",
    ])!;
    expect(worst({}, free)).toMatchObject({ cost: 0, promptCost: 0, outputTokens: 100 });
  });
});
