// Which days a bill is about, and its fee: one row a rule.

import { describe, expect, test } from "bun:test";
import { RefusedError } from "../../../src/base/errors.ts";
import { type Dates, dateRangeOf } from "../../../src/http/bills/date-range.ts";
import { NOON } from "../../runtime/manual-clock.ts";

/** NOON is on 2026-01-15. */
const DOLLARS = [0, 10_000_000, 50_000_000];

describe("the days", () => {
  test.each<[rule: string, asked: Dates, from: string, to: string, fee: number]>([
    ["none: today", {}, "2026-01-15", "2026-01-15", 0],
    ["date: that day", { date: "2026-01-03" }, "2026-01-03", "2026-01-03", 0],
    ["d is date", { d: "2024-02-29" }, "2024-02-29", "2024-02-29", 0],
    ["a day to come", { date: "2027-12-31" }, "2027-12-31", "2027-12-31", 0],
    [
      "start and end: both included",
      { start: "2026-01-01", end: "2026-01-10" },
      "2026-01-01",
      "2026-01-10",
      0,
    ],
    ["s and e are the same", { s: "2026-01-01", e: "2026-01-01" }, "2026-01-01", "2026-01-01", 0],
    [
      "short and long names together",
      { start: "2026-01-01", e: "2026-01-02" },
      "2026-01-01",
      "2026-01-02",
      0,
    ],
    ["start alone: until today", { start: "2026-01-14" }, "2026-01-14", "2026-01-15", 0],
    ["start alone, today", { s: "2026-01-15" }, "2026-01-15", "2026-01-15", 0],
    ["days: today included", { days: "1" }, "2026-01-15", "2026-01-15", 0],
    ["days: today and six before", { days: "7" }, "2026-01-09", "2026-01-15", 0],
    ["30 days are free", { days: "30" }, "2025-12-17", "2026-01-15", 0],
    ["31 days have a fee", { days: "31" }, "2025-12-16", "2026-01-15", 1],
    ["a range of 30 days is free", { start: "2025-12-17" }, "2025-12-17", "2026-01-15", 0],
    ["a range of 31 days has a fee", { start: "2025-12-16" }, "2025-12-16", "2026-01-15", 1],
    ["365 days", { days: "365" }, "2025-01-16", "2026-01-15", 1],
    ["366 days: the last 365, and one fee alone", { days: "366" }, "2025-01-16", "2026-01-15", 2],
    ["a range of 365 days", { start: "2025-01-01", end: "2025-12-31" }, "2025-01-01", "2025-12-31", 1],
    [
      "a range of 366 days: its last 365",
      { start: "2024-12-31", end: "2025-12-31" },
      "2025-01-01",
      "2025-12-31",
      2,
    ],
    ["days beyond all time", { days: "999999999" }, "2025-01-16", "2026-01-15", 2],
    ["all time", { start: "0000-01-01", end: "9999-12-31" }, "9999-01-01", "9999-12-31", 2],
    ["the first day there is", { date: "0000-01-01" }, "0000-01-01", "0000-01-01", 0],
  ])("%s", (_, asked, from, to, fee) => {
    expect(dateRangeOf(asked, NOON)).toEqual({ from, to, fee: DOLLARS[fee]! as never });
  });

  test("days begin and end in UTC", () => {
    const midnight = Date.UTC(2026, 0, 16);
    expect(dateRangeOf({}, midnight - 1).to).toBe("2026-01-15");
    expect(dateRangeOf({}, midnight).to).toBe("2026-01-16");
  });
});

describe("refused", () => {
  test.each<[asked: Dates, code: string]>([
    [{ date: "2026-02-30" }, "invalid_parameter"],
    [{ date: "2025-02-29" }, "invalid_parameter"],
    [{ date: "2026-13-01" }, "invalid_parameter"],
    [{ date: "2026-00-10" }, "invalid_parameter"],
    [{ date: "2026-01-00" }, "invalid_parameter"],
    [{ start: "2026-01-32", end: "2026-02-02" }, "invalid_parameter"],
    [{ start: "2026-01-01", end: "2026-02-31" }, "invalid_parameter"],
    [{ start: "2026-01-02", end: "2026-01-01" }, "invalid_parameter"],
    [{ start: "2026-01-16" }, "invalid_parameter"],
    [{ end: "2026-01-01" }, "missing_parameter"],
    [{ e: "2026-01-01" }, "missing_parameter"],
    [{ date: "2026-01-01", start: "2026-01-01" }, "invalid_parameter"],
    [{ date: "2026-01-01", end: "2026-01-01" }, "invalid_parameter"],
    [{ date: "2026-01-01", days: "1" }, "invalid_parameter"],
    [{ start: "2026-01-01", days: "1" }, "invalid_parameter"],
    [{ end: "2026-01-01", days: "1" }, "invalid_parameter"],
    [{ start: "2026-01-01", end: "2026-01-01", days: "1" }, "invalid_parameter"],
    [{ date: "2026-01-01", d: "2026-01-01" }, "invalid_parameter"],
    [{ start: "2026-01-01", s: "2026-01-01" }, "invalid_parameter"],
    [{ start: "2026-01-01", end: "2026-01-01", e: "2026-01-01" }, "invalid_parameter"],
  ])("%j: %s", (asked, code) => {
    try {
      dateRangeOf(asked, NOON);
    } catch (error) {
      expect(error).toBeInstanceOf(RefusedError);
      return expect((error as RefusedError).refusal.code).toBe<string>(code);
    }
    throw new Error("it was not refused");
  });
});
