// The equation of a charge against the service's own arithmetic: random prices, counts and parts, and what is no equation.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CHARGE_MAX } from "../../../actors/pricing/cost.ts";
import { costOfParts, type UsagePart, withParts } from "../../../actors/pricing/cost-parts.ts";
import { GROUP_FIELDS, GROUPS, type Group, type Price, type Priced } from "../../../actors/pricing/price.ts";
import { LINES_OF } from "../../../actors/pricing/price-lines.ts";
import { NO_USAGE, type Usage } from "../../../actors/pricing/usage.ts";
import { plainUsd } from "../../../console/api/amount.ts";
import { type Equation, type ExplainedRequest, equationOf } from "../../../console/api/equation.ts";
import { readExact } from "../../../console/api/exact-json.ts";
import {
  decimalText,
  product,
  rational,
  rationalOf,
  roundHalfUp,
  sumOf,
} from "../../../console/api/rational.ts";
import type { Json } from "../../e2e/harness.ts";

const HEAD = { id: "r1", request_id: "r1", path: "/v1/chat/completions", at: "2026-11-23T09:00:00.000Z" };

/** The request of an explanation as a page reads it. */
const asRead = (cost: bigint | number, more: object): ExplainedRequest => {
  const text = JSON.stringify({ ...HEAD, ...more }).slice(0, -1);
  return readExact<ExplainedRequest>(`${text},"cost":${plainUsd(BigInt(cost))}}`) as ExplainedRequest;
};

function shown(equation: Equation): Extract<Equation, { kind: "equation" }> {
  if (equation.kind === "none") throw new Error(`no equation: ${equation.reason}`);
  return equation;
}

const ratio = fc.record({ digits: fc.nat(999_999), places: fc.nat(7) });
const figure = ratio.map(({ digits, places }) => Number(`${digits}e-${places}`));
const anyCount = fc.oneof(fc.constant(0), fc.nat(1_000), fc.nat(1e7), fc.nat(2 ** 48));
const anyUsage: fc.Arbitrary<Usage> = fc.record({
  ...(Object.fromEntries(Object.keys(NO_USAGE).map((name) => [name, anyCount])) as Record<
    keyof Usage,
    fc.Arbitrary<number>
  >),
  seconds: fc.double({ min: 0, max: 1e6, noNaN: true }),
});
const fieldsOf = (group: Group): fc.Arbitrary<Price> =>
  fc
    .record(Object.fromEntries(GROUP_FIELDS[group].map((field) => [field, figure])), {
      requiredKeys: group === "ImgPricing" ? ["Call"] : [],
    })
    .map(({ Sizes: _, ...price }: Record<string, number | undefined>) => price as Price);
const anyPriced: fc.Arbitrary<Priced> = fc
  .constantFrom(...GROUPS)
  .chain((group) => fieldsOf(group).map((price) => ({ group, name: "m", price, tiers: null })));
const anyPart: fc.Arbitrary<UsagePart> = fc.record({
  name: fc.string(),
  usage: anyUsage.map((usage) => ({ ...usage, seconds: 0 })),
  priced: anyPriced.map((one) => [one]),
});

describe("a charge of the service", () => {
  test("is computed again to the nano-dollar, for any price, counts, multipliers and parts", () => {
    fc.assert(
      fc.property(
        ...[anyPriced, anyUsage, figure, figure],
        fc.array(anyPart, { maxLength: 3 }),
        (priced, usage, rates, factor, parts) => {
          const charge = costOfParts(priced, usage, { rates, factor }, parts);
          const given = { usage: withParts(usage, parts), price: charge.numbers, parts: charge.parts };
          const equation = shown(equationOf(asRead(charge.amount, given)));
          expect([equation.total as bigint, equation.matches]).toEqual([BigInt(charge.amount), true]);
          expect(equation.parts).toHaveLength(parts.length);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("that is a nano-dollar off does not match", () => {
    fc.assert(
      fc.property(anyPriced, anyUsage, figure, fc.constantFrom(1, -1), (priced, usage, rates, off) => {
        const { amount, numbers } = costOfParts(priced, usage, { rates, factor: 1 }, []);
        const equation = shown(equationOf(asRead(amount + off, { usage, price: numbers })));
        expect([equation.total as bigint, equation.matches]).toEqual([BigInt(amount), false]);
      }),
    );
  });

  test("is at most a million dollars, however absurd its price", () => {
    const priced: Priced = { group: "ChatPricing", name: "m", price: { InputText: 1e300 }, tiers: null };
    const usage = { ...NO_USAGE, inText: 1e6 };
    const { amount, numbers } = costOfParts(priced, usage, { rates: 1, factor: 1 }, []);
    expect(amount).toBe(CHARGE_MAX);
    expect(shown(equationOf(asRead(amount, { usage, price: numbers }))).matches).toBe(true);
  });
});

test("every group multiplies every count that the service does", () => {
  for (const group of GROUPS) {
    const prices = Object.fromEntries(LINES_OF[group].map(({ field }) => [field, 1]));
    const usage = Object.fromEntries(Object.keys(NO_USAGE).map((name) => [name, 2]));
    const multipliers = { model: 1, rates: 1, factor: 1 };
    const { main } = shown(
      equationOf(asRead(0, { usage, price: { group, name: "m", prices, multipliers } })),
    );
    expect(main.rows.map(({ count, field }) => `${count} ${field}`).sort()).toEqual(
      LINES_OF[group].map(({ count, field }) => `${count} ${field}`).sort(),
    );
  }
});

describe("rows", () => {
  const multipliers = { model: 1.5, rates: 1.1, factor: 0.5 };
  const rowsOf = (request: Json) =>
    shown(equationOf(asRead(0, request))).main.rows.map(({ count, quantity, price, per, usd }) => [
      ...[count, decimalText(quantity), decimalText(price), per, decimalText(usd)],
    ]);

  test("show count, price and unit; nothing counted is no row, nor is what has no price", () => {
    const prices = { InputText: 2, OutputText: 0.075, CachedText: 0 };
    const usage = { inText: 1_000, inCached: 10, outText: 3, outReason: 7 };
    expect(rowsOf({ usage, price: { group: "ChatPricing", name: "m", prices, multipliers } })).toEqual([
      ["inText", "1000", "2", 1_000_000n, "0.002"],
      ["inCached", "10", "0", 1_000_000n, "0"],
      ["outText", "3", "0.075", 1_000_000n, "0.000000225"],
    ]);
  });

  test("of sound are by the minute, and a price per call is of at least one call", () => {
    const price = { group: "AudioPricing", name: "m", prices: { Input: 6_000, Call: 0.01 }, multipliers };
    expect(rowsOf({ usage: { seconds: 90.0004 }, price })).toEqual([
      ["seconds", "90", "6000", 60_000n, "9"],
      ["calls", "1", "0.01", 1n, "0.01"],
    ]);
  });

  test("are multiplied by all three multipliers, and tier and image are shown", () => {
    const price = {
      ...{ group: "ImgPricing", name: "m", prices: { Call: 0.04 }, multipliers },
      ...{ tier: "Priority", image: { quality: "hd", size: "1024x1024" } },
    };
    const { main, exact, total } = shown(equationOf(asRead(0, { usage: { calls: 2 }, price })));
    expect([main.tier, main.image]).toEqual(["Priority", { quality: "hd", size: "1024x1024" }]);
    expect([decimalText(exact), total as bigint]).toEqual(["0.066", 66_000_000n]);
  });
});

describe("no equation", () => {
  const price = { group: "CallPricing", name: "m", prices: { Call: 1 } };
  const multipliers = { model: 1, rates: 1, factor: 1 };
  const good = { ...price, multipliers };
  const part = { name: "t", usage: { calls: 2 }, price: good };

  test.each<[string, number, object, string]>([
    ["a request that failed", 0, {}, "not_charged"],
    ["a charge of which no counts are known", 1, { price: good }, "not_recorded"],
    ["a charge of which no price is known", 1, { usage: {} }, "not_recorded"],
    ["counts that are none", 1, { usage: { calls: -1 }, price: good }, "not_recorded"],
    ["counts that are fractions", 1, { usage: { calls: 0.5 }, price: good }, "not_recorded"],
    ["a price that is none", 1, { usage: {}, price: { ...good, prices: { Call: -1 } } }, "not_recorded"],
    ["a price that is a text", 1, { usage: {}, price: { ...good, prices: { Call: "1" } } }, "not_recorded"],
    ["no multipliers", 1, { usage: {}, price }, "not_recorded"],
    [
      "a missing multiplier",
      1,
      { usage: {}, price: { ...price, multipliers: { model: 1 } } },
      "not_recorded",
    ],
    ["a later group", 1, { usage: {}, price: { ...good, group: "VideoPricing" } }, "unknown_group"],
    [
      "a group that every object has",
      1,
      { usage: {}, price: { ...good, group: "toString" } },
      "unknown_group",
    ],
    ["parts beyond the whole", 1, { usage: { calls: 1 }, price: good, parts: [part] }, "not_recorded"],
    [
      "a part without a price",
      1,
      { usage: { calls: 2 }, price: good, parts: [{ ...part, price: null }] },
      "not_recorded",
    ],
  ])("for %s", (_, cost, more, reason) => {
    expect(equationOf(asRead(cost, more))).toEqual({ kind: "none", reason: reason as never });
  });
});

describe("fractions", () => {
  test("of numbers are what was typed", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const { over, under } = rationalOf(value)!;
        expect(Number(decimalText({ over, under }, 400))).toBe(value === 0 ? 0 : value);
      }),
    );
    expect([rationalOf(Number.NaN), rationalOf(Number.POSITIVE_INFINITY)]).toEqual([null, null]);
    expect(rationalOf(1e-7)).toEqual({ over: 1n, under: 10_000_000n });
    expect(rationalOf(1e21)).toEqual({ over: 10n ** 21n, under: 1n });
  });

  test("are kept in lowest terms, added, multiplied and rounded half up", () => {
    const [half, third] = [rational(2n, 4n), rational(-1n, -3n)];
    expect(half).toEqual({ over: 1n, under: 2n });
    expect(sumOf([half, third, third])).toEqual({ over: 7n, under: 6n });
    expect(sumOf([])).toEqual({ over: 0n, under: 1n });
    expect(product(half, third)).toEqual({ over: 1n, under: 6n });
    expect([rational(1n, 2n), rational(3n, 2n), rational(149n, 100n), third].map(roundHalfUp)).toEqual([
      ...[1n, 2n, 1n, 0n],
    ]);
    expect(() => rational(1n, 0n)).toThrow(RangeError);
  });

  test.each([
    [1n, 3n, "0.333333333333…"],
    [5n, 4n, "1.25"],
    [-5n, 4n, "-1.25"],
    [7n, 1n, "7"],
    [1n, 10n ** 13n, "0.000000000000…"],
  ])("%p/%p as a text", (over, under, text) => expect(decimalText(rational(over, under))).toBe(text));
});
