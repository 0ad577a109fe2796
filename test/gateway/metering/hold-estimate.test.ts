// The worst case of a request: its prompt and the most output that it can have, at the dearest price that can apply.

import { describe, expect, test } from "bun:test";
import type { Nano } from "../../../actors/money.ts";
import type { Priced } from "../../../actors/pricing/price.ts";
import { priceTable } from "../../../actors/pricing/price-table.ts";
import { outputLimit, worstCase } from "../../../src/gateway/metering/hold-estimate.ts";
import { METERS, type MeterKind } from "../../../src/gateway/metering/meter-kinds.ts";
import type { RequestSize } from "../../../src/gateway/metering/request-size.ts";
import { sizeOf } from "../request-samples.ts";

const PRICED = priceTable({ ChatPricing: { plain: { InputText: 1, OutputText: 10 } } }).find("plain", [
  "ChatPricing",
])!;
const ONE = { rates: 1, factor: 1 };
const worst = (over: Partial<RequestSize>, priced: Priced = PRICED, multipliers = ONE) => {
  const size = sizeOf({ promptTokens: 1_000, maxOutput: 100, ...over });
  const prices = { model: "plain", priced, pricedByTokens: null, prices: priceTable(null) };
  return worstCase(METERS.tokens, prices, size, multipliers, 4_096);
};

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

describe("the worst case of what is not counted in tokens", () => {
  const TABLE = priceTable({
    ImgPricing: { drawn: { Call: 0.04, Sizes: { "1024x1024": 0.04, "hd/1024x1792": 0.12 } } },
    ChatPricing: { drawn: { InputText: 5, OutputText: 40 }, spoken: { InputText: 1, OutputText: 10 } },
    AudioPricing: { voice: { Input: 15 }, ear: { Input: 6 }, both: { Input: 2.5, Output: 10 } },
    RerankPricing: { ranks: { Call: 0.002 }, reads: { Input: 0.05 } },
    CallPricing: { judge: { Call: 0.001 } },
  });
  const worstOf = (kind: keyof typeof METERS, model: string, over: Partial<RequestSize>) => {
    const meter: MeterKind = METERS[kind];
    const priced = TABLE.find(model, meter.groups)!;
    const tokenPrices = meter.groupsForTokens === undefined ? null : TABLE.find(model, meter.groupsForTokens);
    const candidate = {
      model,
      priced,
      pricedByTokens: tokenPrices === priced ? null : tokenPrices,
      prices: TABLE,
    };
    return worstCase(meter, candidate, sizeOf(over), ONE, 4_096);
  };
  const ROWS: readonly [
    rule: string,
    meter: keyof typeof METERS,
    model: string,
    size: Partial<RequestSize>,
    cost: number,
    promptCost: number,
  ][] = [
    [
      "images: as many as were asked for, in their size, or their tokens where those are dearer",
      "images",
      "drawn",
      { promptTokens: 0, measured: { calls: 2, image: { quality: "hd", size: "1024x1792" } } },
      // 7,280 tokens of the dearest quality for each, since nobody knows this one by its tokens.
      2 * 7_280 * 40_000,
      240_000_000,
    ],
    ["characters", "speech", "voice", { measured: { chars: 2_000 } }, 30_000_000, 30_000_000],
    ["seconds that are known", "sound", "ear", { measured: { seconds: 90 } }, 9_000_000, 9_000_000],
    [
      "seconds that are guessed: a guess is not certain to be charged",
      "sound",
      "ear",
      { measured: { seconds: 90, estimated: true } },
      9_000_000,
      0,
    ],
    [
      "sound in tokens: 32 a second, and the words of the answer",
      "sound",
      "both",
      { promptTokens: 10, maxOutput: 100, measured: { seconds: 2 } },
      (10 + 64) * 2_500 + 100 * 10_000,
      10 * 2_500,
    ],
    [
      "speech in tokens: as many as the dialect says",
      "speech",
      "spoken",
      { promptTokens: 5, maxOutput: 50 },
      5 * 1_000 + 50 * 10_000,
      5_000,
    ],
    ["searches", "rerank", "ranks", { promptTokens: 900, measured: { calls: 3 } }, 6_000_000, 6_000_000],
    ["searches in tokens", "rerank", "reads", { promptTokens: 900, measured: { calls: 3 } }, 45_000, 45_000],
    ["calls", "calls", "judge", { measured: { calls: 1 } }, 1_000_000, 1_000_000],
    [
      "embeddings: what is read",
      "embeddings",
      "spoken",
      { promptTokens: 700, maxOutput: 0 },
      700_000,
      700_000,
    ],
  ];
  test.each(ROWS)("is reckoned by %s", (_rule, kind, model, size, cost, promptCost) => {
    expect(worstOf(kind, model, size)).toMatchObject({ cost, promptCost });
  });

  test("has its tokens also at a price by the call: the limits count them", () => {
    expect(worstOf("tokens", "judge", { promptTokens: 700, maxOutput: 90 })).toEqual({
      promptTokens: 700,
      outputTokens: 90,
      cost: 1_000_000 as Nano,
      promptCost: 1_000_000 as Nano,
    });
    expect(worstOf("calls", "judge", { promptTokens: 700 })).toMatchObject({ promptTokens: 0 });
  });

  test("takes searches of the web into account where they have a price", () => {
    const priced = priceTable(null).find("claude-3-5-haiku-20241022", ["ChatPricing"])!;
    const candidate = {
      model: "claude-3-5-haiku-20241022",
      priced,
      pricedByTokens: null,
      prices: priceTable(null),
    };
    const of = (webSearches: number) =>
      worstCase(METERS.tokens, candidate, sizeOf({ measured: { webSearches } }), ONE, 4_096).cost;
    expect(of(2) - of(0)).toBe(2 * priced.tiers!.WebSearchCall! * 1e9);
  });
});
