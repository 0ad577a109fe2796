// Entries of credit in spending order, what a pace leaves of them, and the calendar of their ends.

import { describe, expect, test } from "bun:test";
import { type Nanos, toNanos } from "../../../console/api/amount.ts";
import { coinsOf, creditEndOf } from "../../../console/api/credits.ts";
import { dayText, monthText, weekdayNames } from "../../../console/pages/ledger/dates.ts";
import { expiryMonths } from "../../../console/pages/ledger/expiry-months.ts";

const NOW = Date.UTC(2026, 10, 23, 12);
const DAY_MS = 86_400_000;
const usd = (dollars: number): Nanos => toNanos(BigInt(dollars) * 1_000_000_000n);
const entry = (dollars: number, days: number) => ({
  amount: usd(dollars),
  expires_at: new Date(NOW + days * DAY_MS).toISOString(),
});

describe("entries of credit", () => {
  test("are spent in the order of their ends", () => {
    const coins = coinsOf([entry(3, 30), entry(1, 5), entry(2, 12)], null, NOW);
    expect(coins.map(({ amount, daysLeft, unspent }) => [amount, daysLeft, unspent])).toEqual([
      [usd(1), 5, null],
      [usd(2), 12, null],
      [usd(3), 30, null],
    ]);
  });

  test("are used up one after the other at a pace that is fast enough", () => {
    const pace = { spent: usd(7), days: 7 };
    expect(coinsOf([entry(5, 5), entry(5, 10)], pace, NOW).map(({ unspent }) => unspent)).toEqual([
      usd(0),
      usd(0),
    ]);
  });

  test("leave what the pace does not reach, and the next one is reached when the one before has expired", () => {
    // A dollar a day: five of the first eight dollars, then five days for the second entry.
    const pace = { spent: usd(7), days: 7 };
    const coins = coinsOf([entry(8, 5), entry(6, 10), entry(4, 30)], pace, NOW);
    expect(coins.map(({ unspent }) => unspent)).toEqual([usd(3), usd(1), usd(0)]);
  });

  test("are all left where nothing is spent", () => {
    const coins = coinsOf([entry(8, 5), entry(6, 10)], { spent: usd(0), days: 7 }, NOW);
    expect(coins.map(({ unspent }) => unspent)).toEqual([usd(8), usd(6)]);
  });

  test("of more than a double holds stay exact", () => {
    const amount = toNanos(9_007_199_254_740_993_000_000_001n);
    const coins = coinsOf(
      [{ amount, expires_at: new Date(NOW + DAY_MS).toISOString() }],
      { spent: usd(7), days: 7 },
      NOW,
    );
    expect(coins[0]?.unspent).toBe(toNanos(amount - usd(1)));
  });
});

describe("credit lasts", () => {
  const pace = { spent: usd(7), days: 7 };

  test("until it is spent", () => {
    expect(creditEndOf([entry(3, 5), entry(4, 30)], pace, NOW)).toEqual({
      ...{ atMs: NOW + 7 * DAY_MS, daysLeft: 7, expires: false },
    });
  });

  test("no longer than until the last of it expires, however large it is", () => {
    const end = { atMs: NOW + 10 * DAY_MS, daysLeft: 10, expires: true };
    expect(creditEndOf([entry(1_000, 10), entry(3, 5)], pace, NOW)).toEqual(end);
    expect(creditEndOf([entry(1, 10)], { spent: usd(0), days: 7 }, NOW)).toEqual(end);
  });

  test("not at all where there is none", () => expect(creditEndOf([], pace, NOW)).toBeNull());
});

describe("the calendar", () => {
  test("has the months in which credit expires, and adds up what expires on one day in UTC", () => {
    const months = expiryMonths([
      { amount: usd(2), expires_at: "2027-02-28T23:59:59.000Z" },
      { amount: usd(1), expires_at: "2026-12-01T00:00:00.000Z" },
      { amount: usd(3), expires_at: "2027-02-28T01:00:00.000Z" },
    ]);
    expect(months.map(({ month, days }) => [month, [...days]])).toEqual([
      ["2026-12", [[1, { amount: usd(1), count: 1 }]]],
      ["2027-02", [[28, { amount: usd(5), count: 2 }]]],
    ]);
  });

  test("has weeks from Monday to Sunday", () => {
    // 1 December 2026 is a Tuesday.
    const [month] = expiryMonths([{ amount: usd(1), expires_at: "2026-12-01T00:00:00.000Z" }]);
    expect(month?.weeks[0]).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(month?.weeks.at(-1)).toEqual([28, 29, 30, 31, 0, 0, 0]);
  });

  test("says days and months in both languages, the year only where it is another one", () => {
    expect(dayText("2027-01-03T22:00:00.000Z", "en", "2027-06-01")).toBe("3 January");
    expect(dayText("2027-01-03", "en", "2026-11-23")).toBe("3 January 2027");
    expect(dayText("2027-01-03", "zh", "2026-11-23")).toBe("2027年1月3日");
    expect(monthText("2027-01", "en")).toBe("January 2027");
    expect(weekdayNames("en")).toEqual(["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"]);
    expect(weekdayNames("zh")).toEqual(["一", "二", "三", "四", "五", "六", "日"]);
  });
});
