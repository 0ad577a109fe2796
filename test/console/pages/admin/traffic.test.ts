// Traffic: spans of sleeps and switch-overs, rates by Level, series of hours, refusals by code.

import { describe, expect, test } from "bun:test";
import type { KeyRow } from "../../../../console/pages/admin/pool/levels.ts";
import { seriesOfHours } from "../../../../console/pages/admin/traffic/hour-series.ts";
import { hourOf, ratesOf, totalsOf, triedKeys } from "../../../../console/pages/admin/traffic/key-rates.ts";
import { refusalsOf } from "../../../../console/pages/admin/traffic/refusal-codes.ts";
import {
  type PoolEvent,
  percentOfWay,
  roundInstants,
  timeRowsOf,
} from "../../../../console/pages/admin/traffic/time-spans.ts";

const START = Date.UTC(2027, 2, 18, 12);
const at = (minutes: number): string => new Date(START + minutes * 60_000).toISOString();
const event = (type: PoolEvent["type"], minutes: number, more: Partial<PoolEvent>): PoolEvent =>
  ({ type, at: at(minutes), level: 1, reason: "timeout", ...more }) as PoolEvent;

/** Rows as texts: spans in minutes since the start. */
const rowsOf = (events: readonly PoolEvent[], nowMinutes: number) =>
  timeRowsOf(events, START + nowMinutes * 60_000).map((row) => {
    const spans = row.spans.map(({ fromMs, toMs, isOpen }) =>
      [(fromMs - START) / 60_000, isOpen ? "…" : (toMs - START) / 60_000].join("-"),
    );
    return `${row.kind === "sleep" ? `key ${row.key}` : `Level ${row.level}`}: ${spans.join(" ")}`;
  });

describe("the time line", () => {
  test("ends a sleep with its wake, with the next sleep, or when its time is over", () => {
    const sleep = (minutes: number, until: number) =>
      event("sleep", minutes, { key_id: 6, until: at(until) });
    const events = [
      sleep(0, 5),
      event("wake", 3, { key_id: 6 }),
      sleep(10, 15),
      sleep(12, 20),
      sleep(50, 80),
    ];
    expect(rowsOf(events.toReversed(), 60)).toEqual(["key 6: 0-3 10-12 12-20 50-…"]);
  });

  test("has Levels before keys, and no line for who only woke", () => {
    const events = [
      event("sleep", 1, { key_id: 9, until: at(4) }),
      event("switch_over", 2, { level: 2, until: at(3) }),
      event("wake", 2, { key_id: 4 }),
    ];
    expect(rowsOf(events, 30)).toEqual(["Level 2: 2-3", "key 9: 1-4"]);
  });

  test("measures in percent, and has at most eight round instants", () => {
    expect(percentOfWay(START + 15, START, START + 60)).toBe(25);
    expect(percentOfWay(START - 15, START, START + 60)).toBe(0);
    for (const hours of [1, 6, 24, 7 * 24, 30 * 24]) {
      const instants = roundInstants(START + 61_000, START + hours * 3_600_000);
      expect(instants.length).toBeGreaterThan(2);
      expect(instants.length).toBeLessThanOrEqual(8);
    }
  });
});

const keyRow = (ID: number, Level: number, attempts: number, failures: number): KeyRow =>
  ({
    ...{ ID, Level, InFlight: 1 },
    LastHour: {
      ...{ attempts, failures, p50_ms: null, p95_ms: null },
      per_minute: Array.from({ length: 60 }, (_, minute) => (minute === 59 ? attempts : 0)),
    },
  }) as unknown as KeyRow;

test("rates are added up by Level, and keys that failed most come first", () => {
  const keys = [keyRow(1, 2, 5, 0), keyRow(2, 1, 3, 1), keyRow(3, 2, 2, 1), keyRow(4, 3, 0, 0)];
  const rates = ratesOf(keys);
  expect(rates.map(({ level, perMinute }) => [level, perMinute[59]])).toEqual([
    [1, 3],
    [2, 7],
  ]);
  expect(totalsOf(rates)[59]).toBe(10);
  expect(hourOf(keys)).toEqual({ attempts: 10, failures: 2, inFlight: 4 });
  expect(triedKeys(keys).map(({ ID }) => ID)).toEqual([2, 3, 1]);
});

test("the seven busiest models have a series, all others share one", () => {
  type Hourly = Parameters<typeof seriesOfHours>[0];
  const hourly = [
    Array.from({ length: 9 }, (_, nth) => ({ name: `m${nth}`, requests: nth + 1 })),
    [{ name: "(other)", requests: 4 }],
  ].map((groups) => ({ hour: at(0), groups })) as unknown as Hourly;
  const { series, values, totals } = seriesOfHours(hourly);
  expect(series).toEqual(["m8", "m7", "m6", "m5", "m4", "m3", "m2", "(other)"]);
  expect(values.at(-1)).toEqual([3, 4]);
  expect(totals).toEqual([45, 4]);
});

test("refusals are counted by code, with the newest of each; charged answers that broke off are none", () => {
  type Rows = Parameters<typeof refusalsOf>[0];
  const row = (id: string, status: number | null, code: string | null, model: string) => ({
    ...{ id, status, code, model, at: at(Number(id)) },
  });
  const rows = [
    row("9", 429, "rpm_exceeded", "a"),
    row("8", 200, "client_closed", "a"),
    row("7", 403, "model_not_allowed", "b"),
    row("6", 429, "rpm_exceeded", "c"),
    row("5", 200, null, "a"),
  ] as unknown as Rows;
  expect(refusalsOf(rows)).toEqual([
    { code: "rpm_exceeded", count: 2, status: 429, lastAt: at(9), lastId: "9", models: ["a", "c"] },
    { code: "model_not_allowed", count: 1, status: 403, lastAt: at(7), lastId: "7", models: ["b"] },
  ]);
});
