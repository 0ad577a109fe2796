// Periods of a bill with their fees, and the rows of the page Usage with the lines that they are made of.

import { describe, expect, test } from "bun:test";
import { type Nanos, toNanos } from "../../../console/api/amount.ts";
import { daysOf } from "../../../console/components/cost-columns.ts";
import type { Bill } from "../../../console/pages/usage/bill.ts";
import { feeOf, type Period, periodOf } from "../../../console/pages/usage/period.ts";
import { linesOfGroup, linesOfPart, usageRows } from "../../../console/pages/usage/usage-rows.ts";

const NOW = Date.UTC(2027, 2, 18, 14, 30);
const NONE = { start: "", end: "" };
const period = (name: string, custom = NONE): Period => periodOf(name, custom, NOW)!;
const nanos = (value: bigint): Nanos => toNanos(value);

describe("a period", () => {
  test.each([
    ["24h", { hours: 24 }, null],
    ["7", { days: 7 }, ["2027-03-12", "2027-03-18"]],
    ["30", { days: 30 }, ["2027-02-17", "2027-03-18"]],
    ["month", { start: "2027-03-01", end: "2027-03-18" }, ["2027-03-01", "2027-03-18"]],
    ["last", { start: "2027-02-01", end: "2027-02-28" }, ["2027-02-01", "2027-02-28"]],
  ])("%s", (name, query, days) => {
    const found = period(name);
    expect(found.query).toEqual(query);
    expect(found.days && [found.days.from, found.days.to]).toEqual(days as [string, string] | null);
  });

  test.each([
    ["2027-02-30", "2027-03-01"],
    ["2027-03-02", "2027-03-01"],
    ["", ""],
    ["soon", "2027-03-01"],
  ])("of one's own from %p to %p is none", (start, end) => {
    expect(periodOf("custom", { start, end }, NOW)).toBeNull();
  });

  test("of one's own ends today where no end is given", () => {
    expect(period("custom", { start: "2027-03-10", end: "" }).days).toEqual({
      from: "2027-03-10",
      to: "2027-03-18",
      count: 9,
    });
  });

  test("has the days of a chart, the last 365 of a longer one", () => {
    expect(daysOf({ from: "2027-02-27", count: 3 })).toEqual(["2027-02-27", "2027-02-28", "2027-03-01"]);
    const long = daysOf({ from: "2025-01-01", count: 700 });
    expect([long.length, long.at(-1)]).toEqual([365, "2026-12-01"]);
  });
});

describe("the fee of a bill", () => {
  const from = (start: string): Period => period("custom", { start, end: "2027-03-18" });

  test.each([
    ["30", period("30"), 0n],
    ["24h", period("24h"), 0n],
    ["31 days", from("2027-02-16"), 10_000_000n],
    ["365 days", from("2026-03-19"), 10_000_000n],
    ["366 days", from("2026-03-18"), 50_000_000n],
  ])("over %s", (_, over, fee) => {
    expect(feeOf(over, false)).toBe(nanos(fee));
    expect(feeOf(over, true)).toBe(nanos(0n));
  });
});

describe("rows", () => {
  const figures = { requests: 1, prompt: 10, completion: 4, cached: 2, cache_write: 1, reasoning: 3 };
  const group = (id: string | number, cost: bigint, name = "") => ({
    ...{ id, name, ...figures, cost: nanos(cost) },
  });
  const day = (date: string, cost: bigint, models: number) => ({
    ...{ date, total_requests: models, total_prompt: 0, total_completion: 0 },
    total_credit_used: nanos(cost),
    line_items: Array.from({ length: models }, (_, nth) => ({
      name: `model-${nth}`,
      cost: nanos(1n),
      usage: { ...figures, cost: nanos(1n) },
    })),
  });
  const bill = {
    groups: [group("cheap", 5n), group("dear", 123_456_789_012_345_678n), group("(other)", 7n)],
    daily_costs: [day("2027-03-01", 30n, 2), day("2027-03-09", 20n, 1)],
    hourly: [
      { hour: "2027-03-18T12:00:00.000Z", groups: [group("(all)", 1n)] },
      { hour: "2027-03-18T13:00:00.000Z", groups: [] },
      { hour: "2027-03-18T14:00:00.000Z", groups: [group("(all)", 2n)] },
    ],
  } as unknown as Bill;

  test("of groups come with the dearest first, each with its lines; what is not kept apart has none", () => {
    const rows = usageRows(bill, period("month"), "model");
    const days = { type: "charge", from: "2027-03-01", to: "2027-03-18" };
    expect(rows.map(({ key, lines }) => [key, lines])).toEqual([
      ["dear", { ...days, model: "dear" }],
      ["(other)", null],
      ["cheap", { ...days, model: "cheap" }],
    ]);
  });

  test("of days come with the latest first, with the tokens of their models and the service's cost", () => {
    const rows = usageRows(bill, period("month"), "time");
    expect(
      rows.map(({ key, requests, prompt, cost, lines }) => [key, requests, prompt, cost, lines]),
    ).toEqual([
      ["2027-03-09", 1, 10, nanos(20n), { type: "charge", from: "2027-03-09", to: "2027-03-09" }],
      ["2027-03-01", 2, 20, nanos(30n), { type: "charge", from: "2027-03-01", to: "2027-03-01" }],
    ]);
  });

  test("of hours are those with charges, each up to the end of its hour", () => {
    const rows = usageRows(bill, period("24h"), "time");
    expect(rows.map(({ name, cost }) => [name, cost])).toEqual([
      ["2027-03-18 14:00", nanos(2n)],
      ["2027-03-18 12:00", nanos(1n)],
    ]);
    expect(rows[0]?.lines).toEqual({
      ...{ type: "charge", from: "2027-03-18T14:00:00.000Z", to: "2027-03-18T14:59:59.999Z" },
    });
  });

  test("name their lines by model, API key or tag", () => {
    expect(linesOfGroup({}, "api_key", "0")).toEqual({ api_key: "0" });
    expect(linesOfGroup({}, "tag:team", "search")).toEqual({ tag: "team:search" });
    expect(linesOfGroup({}, "tag:team", "(none)")).toBeNull();
  });

  test("are reached from the chart: a model of a day, a group of an hour, all of it where nothing selects the part", () => {
    const oneDay = { type: "charge", from: "2027-03-09", to: "2027-03-09" };
    expect(linesOfPart("2027-03-09", "gpt-4o", "api_key")).toEqual({ ...oneDay, model: "gpt-4o" });
    expect(linesOfPart("2027-03-09", "(other)", "model")).toEqual(oneDay);
    expect(linesOfPart("2027-03-18T14:00:00.000Z", "3", "api_key")).toMatchObject({ api_key: "3" });
  });
});
