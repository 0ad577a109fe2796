// What a usage costs: the provider vectors, fallbacks, tiers, rounding, and holds that are never too small.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import builtIn from "../../../actors/catalog/default-prices.json";
import { formatUsd } from "../../../actors/money.ts";
import { CHARGE_MAX, type ChargeTerms, cost, exactOf, rounded } from "../../../actors/pricing/cost.ts";
import { recompute } from "../../../actors/pricing/cost-parts.ts";
import { decimal } from "../../../actors/pricing/decimal.ts";
import { highestCost } from "../../../actors/pricing/highest-cost.ts";
import {
  effectivePriceFields,
  GROUP_FIELDS,
  GROUPS,
  type Group,
  isPriced,
  type Price,
  type Priced,
} from "../../../actors/pricing/price.ts";
import { GROUPS_OF, priceTable } from "../../../actors/pricing/price-table.ts";
import { completionTokens, NO_USAGE, promptTokens, type Usage } from "../../../actors/pricing/usage.ts";
import { readUsage, type UsageDialect } from "../../../src/dialect/usage.ts";
import cases from "../../fixtures/pricing-cases.json";

const prices = priceTable(null);
const plain: ChargeTerms = { rates: 1, factor: 1 };
const used = (counts: Partial<Usage>): Usage => ({ ...NO_USAGE, ...counts });
const chat = (price: Price, tiers: Priced["tiers"] = null): Priced => ({
  ...{ group: "ChatPricing", name: "m", price, tiers },
});
const usdOf = (priced: Priced, counts: Partial<Usage>, terms = plain) =>
  formatUsd(cost(priced, used(counts), terms).amount);

const TOKENS = [
  ...(["inText", "inCached", "inCacheWrite", "inCacheWrite1h", "inAudio", "inImage"] as const),
  ...(["outText", "outReason", "outAudio", "outImage"] as const),
];
const counts = (max = 400_000) =>
  fc.record(
    Object.fromEntries(TOKENS.map((name) => [name, fc.nat(max)])) as Record<string, fc.Arbitrary<number>>,
  );
const anyModel = fc
  .constantFrom(...Object.keys(builtIn.ChatPricing))
  .map((n) => prices.find(n, GROUPS_OF.tokens)!);
/** A price as digits over a power of ten, so that a reference needs no parser. */
const ratio = fc.record({ digits: fc.nat(999_999), places: fc.nat(7) });
type Ratio = { digits: number; places: number };
type Part = [count: number, price: Ratio];
const numberOf = ({ digits, places }: Ratio) => Number(`${digits}e-${places}`);

interface Case {
  readonly model: string;
  readonly dialect: string;
  readonly usd: number;
  readonly usage?: unknown;
  readonly meta?: unknown;
  readonly images?: number;
  readonly characters?: number;
  readonly size?: string;
  readonly quality?: string;
}
const GROUPS_BY_DIALECT: Record<string, keyof typeof GROUPS_OF> = {
  ...{ transcription: "audio", speech: "audio", rerank: "rerank" },
};

test.each((cases.cost as Case[]).map((each) => [each.model, each.dialect, each.usd, each] as const))(
  "%s in the %s dialect costs %p dollars",
  (model, dialect, usd, { usage, meta, images, characters, size, quality }) => {
    const counted = images ? { calls: images } : { chars: characters ?? 0 };
    const reported = usage ?? meta;
    const read = reported
      ? readUsage(dialect as UsageDialect, reported, { contextWindow: 0, outputLimit: 0 })!
      : used(counted);
    const onImages = dialect === "images" ? (usage ? "imageTokens" : "images") : "tokens";
    const priced = prices.find(model, GROUPS_OF[GROUPS_BY_DIALECT[dialect] ?? onImages])!;
    const charge = cost(priced, read, { ...plain, image: { size, quality } });
    expect(formatUsd(charge.amount)).toBe(String(usd));
    expect(recompute(read, charge.numbers)).toBe(charge.amount);
  },
);

describe("exactness", () => {
  test("a charge is rounded half up once, at the end, as a reference in whole numbers does", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(1e7), ratio), { minLength: 3, maxLength: 3 }),
        ratio,
        ratio,
        ratio,
        (parts, ...by) => {
          const [[inText, a], [inCached, b], [outText, c]] = parts as [Part, Part, Part];
          const [model, rates, factor] = by.map(numberOf) as [number, number, number];
          const price = {
            InputText: numberOf(a),
            CachedText: numberOf(b),
            OutputText: numberOf(c),
            Rates: model,
          };
          const top = 10n ** 40n;
          const scaled = (r: Ratio) => (BigInt(r.digits) * top) / 10n ** BigInt(r.places);
          let sum = BigInt(inText) * scaled(a) + BigInt(inCached) * scaled(b) + BigInt(outText) * scaled(c);
          for (const each of by) sum *= scaled(each);
          const unit = top ** 4n;
          const whole = (sum * 1000n) / unit;
          const expected = whole + ((sum * 1000n - whole * unit) * 2n >= unit ? 1n : 0n);
          const { amount } = cost(chat(price), used({ inText, inCached, outText }), { rates, factor });
          expect(BigInt(amount)).toBe(expected > BigInt(CHARGE_MAX) ? BigInt(CHARGE_MAX) : expected);
        },
      ),
    );
  });

  test("numbers and whole numbers of any size give the same amount, in every group", () => {
    const count = fc.oneof(fc.constant(0), fc.nat(1_000), fc.nat(1e7), fc.maxSafeNat());
    const fields = (group: Group) =>
      fc.record(Object.fromEntries(GROUP_FIELDS[group].map((field) => [field, ratio.map(numberOf)])), {
        requiredKeys: group === "ImgPricing" ? ["Call"] : [],
      });
    const priceOf = fc
      .constantFrom(...GROUPS)
      .chain((group) => fc.record({ group: fc.constant(group), price: fields(group) }));
    const usageOf = fc.record(
      Object.fromEntries(Object.keys(NO_USAGE).map((name) => [name, count])) as Record<
        keyof Usage,
        fc.Arbitrary<number>
      >,
    );
    fc.assert(
      fc.property(priceOf, usageOf, ratio, ratio, ({ group, price }, usage, rates, factor) => {
        const { Sizes: _, ...priced } = price as Price & { Sizes?: unknown };
        const terms = { rates: numberOf(rates), factor: numberOf(factor) };
        const charge = cost({ group, name: "m", price: priced, tiers: null }, usage, terms);
        expect(charge.amount).toBe(rounded([exactOf(usage, charge.numbers)]));
      }),
      { numRuns: 1_000 },
    );
  });

  test("half a nano-dollar rounds up, less than half down", () => {
    expect(usdOf(chat({ InputText: 0.0005 }), { inText: 1 })).toBe("0.000000001");
    expect(usdOf(chat({ InputText: 0.000499999 }), { inText: 1 })).toBe("0");
    expect(usdOf(chat({ InputText: 0.0005, OutputText: 0.0005 }), { inText: 1, outText: 1 })).toBe(
      "0.000000001",
    );
  });

  test("a decimal is the number as it was typed", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), (value) => {
        const { digits, places } = decimal(value);
        expect(Number(`${digits}e-${places}`)).toBe(value === 0 ? 0 : value);
      }),
    );
    for (const value of [-1, -0.5, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => decimal(value)).toThrow(RangeError);
  });

  test("an absurd price is cut to the most that a request may cost", () => {
    expect(cost(chat({ InputText: 1e300 }), used({ inText: 1e6 }), plain).amount).toBe(CHARGE_MAX);
    expect(usdOf(chat({ InputText: 5e-324 }), { inText: 1e6 })).toBe("0");
  });

  test("a count that is no count is a bug and throws", () => {
    for (const inText of [-1, Number.NaN, 0.5])
      expect(() => cost(chat({ InputText: 1 }), used({ inText }), plain)).toThrow();
  });
});

describe("what a charge depends on", () => {
  test("cost never falls when one count rises", () => {
    fc.assert(
      fc.property(
        ...[
          anyModel,
          counts(),
          fc.constantFrom(...TOKENS),
          fc.nat(500_000),
          fc.constantFrom(null, "priority", "flex"),
        ],
        (priced, few, name, more, tier) => {
          const before = cost(priced, used(few), { ...plain, tier });
          const after = cost(priced, used({ ...few, [name]: few[name]! + more }), { ...plain, tier });
          expect(after.amount).toBeGreaterThanOrEqual(before.amount);
        },
      ),
    );
  });

  test("recorded usage and numbers alone give the amount again, also through JSON", () => {
    fc.assert(
      fc.property(
        anyModel,
        counts(),
        ratio,
        ratio,
        fc.constantFrom(undefined, "priority", "flex"),
        (priced, few, r, f, tier) => {
          const usage = used({ ...few, webSearches: 2 });
          const charge = cost(priced, usage, { rates: numberOf(r), factor: numberOf(f), tier });
          expect(recompute(usage, JSON.parse(JSON.stringify(charge.numbers)))).toBe(charge.amount);
        },
      ),
    );
  });

  test("all four multipliers multiply: price, model Rates, account Rates, Factor", () => {
    const charge = cost(chat({ InputText: 2, Rates: 1.5 }), used({ inText: 1000 }), {
      rates: 1.1,
      factor: 0.5,
    });
    expect(charge).toEqual({
      amount: 1_650_000 as typeof charge.amount,
      numbers: {
        ...{ group: "ChatPricing", name: "m", prices: { InputText: 2 } },
        multipliers: { model: 1.5, rates: 1.1, factor: 0.5 },
      },
    });
  });

  test("only the prices that were multiplied are recorded", () => {
    const { numbers } = cost(chat({ InputText: 1, OutputText: 2 }), used({ outText: 5 }), plain);
    expect(numbers.prices).toEqual({ OutputText: 2 });
  });
});

describe("fallbacks of absent fields", () => {
  test("an absent field costs what the text of its side costs", () => {
    expect(effectivePriceFields(chat({ InputText: 1, OutputText: 2 }))).toEqual({
      ...{ InputText: 1, CachedText: 1, CacheWrite: 1, CacheWrite1h: 1, InputAudio: 1, InputImage: 1 },
      ...{ OutputText: 2, ReasonText: 2, OutputAudio: 2, OutputImage: 2 },
    });
  });

  test("an absent text price is that of the other side, never a silent 0; a given 0 stays 0", () => {
    expect(effectivePriceFields(chat({ InputText: 1, OutputImage: 40 }))).toMatchObject({
      OutputText: 1,
      OutputImage: 40,
    });
    expect(effectivePriceFields(chat({ OutputText: 2 }))).toMatchObject({ InputText: 2, CachedText: 2 });
    expect(effectivePriceFields(chat({ InputText: 1, OutputText: 0 }))).toMatchObject({
      OutputText: 0,
      ReasonText: 0,
    });
  });

  test("a price object without a price prices nothing", () => {
    for (const price of [{}, { Rates: 2 }, { CachedText: 1 }, { Sizes: {} }])
      expect(isPriced(price)).toBe(false);
    for (const price of [{ InputText: 0 }, { Call: 1 }, { Sizes: { a: 1 } }, { Input: 1 }])
      expect(isPriced(price)).toBe(true);
  });

  test("an image costs its quality and size, else its size, else the call, else the dearest size", () => {
    const image = (price: Price, quality?: string, size?: string) =>
      usdOf(
        { group: "ImgPricing", name: "m", price, tiers: null },
        { calls: 1 },
        { ...plain, image: { quality, size } },
      );
    const price = { Call: 0.01, Sizes: { "1024x1024": 0.02, "hd/1024x1024": 0.04 } };
    expect(image(price, "hd", "1024x1024")).toBe("0.04");
    expect(image(price, "low", "1024x1024")).toBe("0.02");
    expect(image(price, "hd", "1x1")).toBe("0.01");
    expect(image(price)).toBe("0.02");
    expect(image(price, "constructor", "__proto__")).toBe("0.01");
    expect(image({ Sizes: price.Sizes }, "hd", "1x1")).toBe("0.04");
  });

  test("a request at a price per call is at least one call", () => {
    for (const group of ["CallPricing", "RerankPricing", "AudioPricing"] as const) {
      const priced: Priced = { group, name: "m", price: { Call: 0.5 }, tiers: null };
      expect([usdOf(priced, {}), usdOf(priced, { calls: 3 })]).toEqual(["0.5", "1.5"]);
    }
  });
});

describe("provider tiers", () => {
  const tiers: Priced["tiers"] = {
    LongContext: [
      { AboveInputTokens: 100, InputText: 2, OutputText: 6 },
      { AboveInputTokens: 200, InputText: 4, OutputText: 12 },
    ],
    ...{ Priority: { InputText: 2, OutputText: 8 }, Flex: { InputText: 0.5, OutputText: 2 } },
    ...{ CacheWrite1h: 2, WebSearchCall: 0.01 },
  };
  const priced = chat({ InputText: 1, OutputText: 4, CachedText: 0.1, CacheWrite: 1.25 }, tiers);
  const numbersOf = (counts: Partial<Usage>, tier?: string) => {
    const { numbers } = cost(priced, used(counts), { ...plain, tier });
    return [numbers.tier, numbers.prices] as const;
  };

  test.each([
    [{ inText: 100 }, undefined, { InputText: 1 }],
    [{ inText: 90, inCached: 11 }, "LongContext>100", { InputText: 2, CachedText: 0.2 }],
    [{ inText: 201, outText: 1 }, "LongContext>200", { InputText: 4, OutputText: 12 }],
    [
      { inText: 101, inCacheWrite: 1, inCacheWrite1h: 1 },
      "LongContext>100",
      { InputText: 2, CacheWrite: 2.5, CacheWrite1h: 4 },
    ],
  ])("total input decides the long-context step: %j", (counts, tier, expected) => {
    expect(numbersOf(counts)).toEqual([tier, expected]);
  });

  test.each([
    ["priority", "Priority", 2],
    ["flex", "Flex", 0.5],
    ["default", undefined, 1],
    ["standard", undefined, 1],
    ["__proto__", undefined, 1],
  ])("a response that names %p is billed at %p", (named, tier, InputText) => {
    expect(numbersOf({ inText: 1 }, named)).toEqual([tier, { InputText }]);
  });

  test("a service tier in a long context keeps its ratio to the standard price", () => {
    expect(numbersOf({ inText: 201, outReason: 1 }, "priority")).toEqual([
      "LongContext>200+Priority",
      { InputText: 8, ReasonText: 24 },
    ]);
  });

  test("one-hour cache writes and web searches have their own prices", () => {
    expect(usdOf(priced, { inCacheWrite1h: 10, webSearches: 3 })).toBe("0.03002");
  });

  test("tiers do not apply where the Owner priced the model himself, but a mere Rates leaves them", () => {
    const asked = (price: Price) => {
      const table = priceTable({ ChatPricing: { "claude-sonnet-4-5": price } });
      return cost(
        table.find("claude-sonnet-4-5", GROUPS_OF.tokens)!,
        used({ inCacheWrite1h: 1, webSearches: 1 }),
        plain,
      );
    };
    expect(asked({ InputText: 3 }).numbers.prices).toEqual({ CacheWrite1h: 3.75 });
    expect(asked({ Rates: 2 }).numbers.prices).toEqual({ CacheWrite1h: 6, WebSearchCall: 0.01 });
  });
});

describe("holds", () => {
  test("no split of a request into kinds of token costs more than its hold", () => {
    fc.assert(
      fc.property(
        anyModel,
        counts(),
        fc.boolean(),
        fc.constantFrom("default", "flex", "priority"),
        (priced, few, asks, named) => {
          const usage = used({ ...few, webSearches: 1 });
          const worst = { prompt: promptTokens(usage), completion: completionTokens(usage), webSearches: 1 };
          const hold = highestCost(priced, worst, [], { ...plain, tier: asks ? "priority" : undefined });
          const tier = named === "priority" && !asks ? "default" : named;
          expect(cost(priced, usage, { ...plain, tier }).amount).toBeLessThanOrEqual(hold);
        },
      ),
    );
  });

  test("kinds that a request cannot have do not make its hold dearer", () => {
    const priced = chat({ InputText: 1, InputAudio: 32, OutputText: 2, OutputAudio: 64 });
    const worst = { prompt: 1000, completion: 1000 };
    expect(formatUsd(highestCost(priced, worst, [], plain))).toBe("0.096");
    expect(formatUsd(highestCost(priced, worst, ["inAudio", "outAudio"], plain))).toBe("0.003");
  });

  test("an image hold covers every image that the request leaves open", () => {
    const entries = Object.keys(builtIn.ImgPricing).map((name) => prices.find(name, GROUPS_OF.images)!);
    for (const priced of entries) {
      for (const key of [...Object.keys(priced.price.Sizes ?? {}), "64x64"]) {
        const [size, quality] = key.split("/").reverse();
        const { amount } = cost(priced, used({ calls: 2 }), { ...plain, image: { size, quality } });
        for (const image of [
          {},
          { size },
          { size, quality },
          { quality },
          { size: "auto", quality: "auto" },
        ]) {
          expect(highestCost(priced, { calls: 2 }, [], { ...plain, image })).toBeGreaterThanOrEqual(amount);
        }
      }
    }
  });

  test("audio is held by characters and by duration", () => {
    const [speech, whisper] = ["tts-1", "whisper-1"].map((name) => prices.find(name, GROUPS_OF.audio)!);
    expect(formatUsd(highestCost(speech!, { chars: 2000 }, [], plain))).toBe("0.03");
    expect(formatUsd(highestCost(whisper!, { seconds: 90.5 }, [], plain))).toBe("0.00905");
  });
});
