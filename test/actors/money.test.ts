// Dollars to nano-dollars and back: exact, without exponents, nine places.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { formatUsd, fromUsd, type Nano, toNano, toUsd } from "../../actors/money.ts";

const amount = fc.maxSafeInteger().map(toNano);

test("nano-dollars written as dollars and read back are the same up to eight million dollars", () => {
  fc.assert(
    fc.property(fc.integer({ min: -8e15, max: 8e15 }).map(toNano), (nano) => {
      expect(fromUsd(toUsd(nano))).toBe(nano);
      expect(fromUsd(Number(formatUsd(nano)))).toBe(nano);
    }),
  );
});

test.each([2 ** 52 + 1, 2 ** 52 + 3, 6_000_000_000_000_001, 7_999_999_999_999_999])(
  "%p nano-dollars, more than half of the exact integers and odd, are read back exactly",
  (nano) => {
    expect(fromUsd(toUsd(toNano(nano)))).toBe(nano as Nano);
    expect(fromUsd(toUsd(toNano(-nano)))).toBe(-nano as Nano);
  },
);

test("dollars are written as a plain decimal: no exponent, at most 9 places, no closing zeros, no minus zero", () => {
  fc.assert(
    fc.property(amount, (nano) => {
      expect(formatUsd(nano)).toMatch(/^(?!-0$)-?(0|[1-9]\d*)(\.\d{0,8}[1-9])?$/);
    }),
  );
});

test("the written dollars are exactly the nano-dollars", () => {
  fc.assert(
    fc.property(amount, (nano) => {
      const [whole = "", fraction = ""] = formatUsd(nano).split(".");
      expect(BigInt(whole + fraction.padEnd(9, "0"))).toBe(BigInt(nano));
    }),
  );
});

test.each([
  [0, 0],
  [-0, 0],
  [0.1 + 0.2, 300_000_000],
  [1e-9, 1],
  [5e-10, 1],
  [-5e-10, -1],
  [4.9e-10, 0],
  [1.005, 1_005_000_000],
  [5e-324, 0],
])("%p dollars are %p nano-dollars: a half rounds away from zero", (usd, nano) => {
  expect(fromUsd(usd)).toBe(nano as Nano);
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, 1e300, -1e300, 9_007_200])(
  "%p dollars are refused",
  (usd) => {
    expect(fromUsd(usd)).toBeNull();
  },
);

test.each([
  [1, "0.000000001"],
  [12_500, "0.0000125"],
  [-1_000_000_000, "-1"],
  [0, "0"],
])("%p nano-dollars read %p", (nano, text) => {
  expect(formatUsd(toNano(nano))).toBe(text);
});

test("an amount that is no exact integer is a bug and throws", () => {
  for (const value of [0.5, 2 ** 53, Number.NaN]) expect(() => toNano(value)).toThrow(RangeError);
});
