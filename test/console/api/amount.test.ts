// Amounts as texts and back: exact in both directions, and never rounded without a sign of it.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  addNanos,
  type Billionths,
  billionthsOf,
  compareExact,
  countOf,
  countText,
  fullUsd,
  nanosOf,
  parseUsd,
  percentOf,
  plainUsd,
  shareOf,
  shortUsd,
  subtractNanos,
  toNanos,
  usdText,
} from "../../../console/api/amount.ts";

const anyAmount = fc.bigInt({ min: -(10n ** 22n), max: 10n ** 22n }).map(toNanos);

describe("US dollars", () => {
  test.each([
    [0n, "0.00", "0.000000000", "0"],
    [1n, "0.000000001", "0.000000001", "0.000000001"],
    [-1n, "-0.000000001", "-0.000000001", "-0.000000001"],
    [1_234_567_800_000n, "1,234.5678", "1,234.567800000", "1234.5678"],
    [1_500_000_000n, "1.50", "1.500000000", "1.5"],
    [9_007_199_254_740_993n, "9,007,199.254740993", "9,007,199.254740993", "9007199.254740993"],
    [-1_000_000_000_000_000n, "-1,000,000.00", "-1,000,000.000000000", "-1000000"],
  ])("%p", (amount, text, full, plain) => {
    expect([usdText(toNanos(amount)), fullUsd(toNanos(amount)), plainUsd(amount)]).toEqual([
      text,
      full,
      plain,
    ]);
  });

  test.each([
    [1_234_567_800_000n, "1,234.5678"],
    [1_234_567_891_234n, "≈1,234.567891"],
    [-1_234_567_891_500n, "≈-1,234.567892"],
    [999_999_999_500n, "≈1,000.00"],
    [123n, "0.000000123"],
    [9_999_999n, "0.009999999"],
    [10_000_001n, "≈0.01"],
    [10_000_000n, "0.01"],
  ])("%p in a narrow column", (amount, text) => expect(shortUsd(toNanos(amount))).toBe(text));

  test("every text of an amount is read as that amount", () => {
    fc.assert(
      fc.property(anyAmount, (amount) => {
        for (const text of [usdText(amount), fullUsd(amount), plainUsd(amount)]) {
          expect(parseUsd(text)).toBe(amount);
        }
        expect(billionthsOf(plainUsd(amount)) as bigint).toBe(amount);
      }),
    );
  });

  test("a short text is exact or says that it is not, and is then less than a millionth off", () => {
    fc.assert(
      fc.property(anyAmount, (amount) => {
        const text = shortUsd(amount);
        const read = parseUsd(text.replace("≈", ""))!;
        expect(read === amount).toBe(!text.startsWith("≈"));
        const off = read - amount;
        expect(off <= 500n && off >= -500n).toBe(true);
      }),
    );
  });
});

describe("what somebody typed", () => {
  test.each([
    ["12", 12_000_000_000n],
    [" 1,234.5 ", 1_234_500_000_000n],
    ["$0.000000001", 1n],
    [".5", 500_000_000n],
    ["5.", 5_000_000_000n],
    ["-2", -2_000_000_000n],
    ["\u22122.5", -2_500_000_000n],
    ["+3", 3_000_000_000n],
    ["１２．５", 12_500_000_000n],
    ["9007199.254740993", 9_007_199_254_740_993n],
    ["0", 0n],
  ])("%p is an amount", (text, amount) => expect(parseUsd(text) as bigint).toBe(amount));

  test.each([
    "",
    " ",
    ".",
    "-",
    "1,5",
    "12,34",
    "1,2345",
    "1.2.3",
    "1e3",
    "0x10",
    "NaN",
    "0.0000000001",
    "1.000,5",
    "一",
  ])("%p is none", (text) => expect(parseUsd(text)).toBeNull());
});

describe("the text of a JSON number", () => {
  test.each([
    ["1e-9", 1n],
    ["1.5E-8", 15n],
    ["-1e-9", -1n],
    ["2.5e+3", 2_500_000_000_000n],
    ["1e21", 10n ** 30n],
    ["0.1000000000000", 100_000_000n],
    ["0e-12", 0n],
    ["9007199.254740993", 9_007_199_254_740_993n],
  ])("%s", (text, amount) => expect(billionthsOf(text) as bigint).toBe(amount));

  test.each(["1e-10", "0.0000000001", "1e-12", "0.5e-9", "", "abc", "1e99999"])("%p is refused", (text) =>
    expect(billionthsOf(text)).toBeNull(),
  );
});

describe("figures", () => {
  test.each([
    [1_284, "1,284"],
    [0, "0"],
    [-1_000, "-1,000"],
    [12.5, "12.5"],
    [1e21, "1,000,000,000,000,000,000,000"],
    [1_284_000_000_000n as Billionths, "1,284"],
    [12_500_000_000n as Billionths, "12.5"],
  ])("%p as a count", (count, text) => expect(countText(count)).toBe(text));

  test("are dollars where their row says so, and numbers otherwise", () => {
    const figure = 2_500_000_000n as Billionths;
    expect([usdText(nanosOf(figure)), countOf(figure)]).toEqual(["2.50", 2.5]);
  });
});

describe("shares", () => {
  test.each([
    [1n, 8n, "12.5%"],
    [1n, 3n, "33.3%"],
    [2n, 3n, "66.7%"],
    [1n, 2_000n, "0.1%"],
    [1n, 2_001n, "0.0%"],
    [-1n, 8n, "-12.5%"],
    [-1n, 9_999n, "0.0%"],
    [25n, 1n, "2,500.0%"],
    [10n ** 30n, 10n ** 30n, "100.0%"],
    [0n, 0n, null],
    [5n, 0n, null],
  ])("%p of %p", (part, whole, text) => expect(percentOf(part, whole)).toBe(text));

  test.each([
    [1n, 4n, 0.25],
    [5n, 4n, 1],
    [-1n, 4n, 0],
    [1n, 0n, 0],
    [1n, -4n, 0],
    [1, 4, 0.25],
    [3, 0, 0],
    [10n ** 25n, 10n ** 26n, 0.1],
  ])("%p of %p to draw", (part, whole, share) => expect(shareOf(part, whole)).toBe(share));
});

test("sums, differences and order are exact above what a number holds", () => {
  const [a, b] = [toNanos(9_007_199_254_740_993n), toNanos(9_007_199_254_740_992n)];
  expect(subtractNanos(a, b) as bigint).toBe(1n);
  expect(addNanos(a, b) as bigint).toBe(18_014_398_509_481_985n);
  expect([b, a].sort(compareExact)).toEqual([b, a]);
  expect([compareExact(a, b), compareExact(b, a), compareExact(a, a)]).toEqual([1, -1, 0]);
});
