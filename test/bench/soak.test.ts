// The soak as a tool: a few seconds of its load, and what it finds in books and samples that were made wrong. Neither time nor
// memory is judged.

import { describe, expect, test } from "bun:test";
import { REQUEST_KINDS } from "../../bench/soak/requests.ts";
import { breachesOf, growthOf, slopeOf } from "../../bench/soak/resources.ts";
import { soak } from "../../bench/soak/run.ts";
import { StatedPrices } from "../../bench/soak/stated-prices.ts";

test("a few seconds of every kind of load leave ledgers as the answers stated", async () => {
  const { requests, background, sums, verified, findings, isJudged } = await soak({
    ms: 6_000,
    perSecond: 16,
  });
  expect(findings).toEqual([]);
  expect(isJudged).toBe(false);
  expect([...requests.keys()]).toEqual(REQUEST_KINDS.map(({ name }) => name));
  const all = [...requests.values()];
  expect(all.reduce((sum, { answered }) => sum + answered, 0)).toBeGreaterThan(0);
  expect(all.reduce((sum, { wrong }) => sum + wrong, 0)).toBe(0);
  expect(background.size).toBeGreaterThan(1);
  expect(sums.statedNano).toBeGreaterThan(0);
  expect(verified).toContain("Everything agrees.");
}, 120_000);

describe("the book", () => {
  const charge = (request_id: string, amount: number) => ({ type: "charge", request_id, amount });
  const credit = { type: "credit", amount: 1, request_id: null };
  function found(
    lines: readonly { type: string; amount: number; request_id: string | null }[],
    balance: number,
  ) {
    const book = new StatedPrices();
    for (const id of ["whole", "broken"]) book.sent("a", id);
    book.stated("a", "whole", 250_000_000);
    const findings: string[] = [];
    const sums = book.compare({ name: "a", lines, balance }, findings);
    return { findings, sums };
  }

  test("agrees with one charge for what was stated, and one or none for what broke off", () => {
    expect(found([credit, charge("whole", -0.25)], 0.75).findings).toEqual([]);
    const { findings, sums } = found([credit, charge("whole", -0.25), charge("broken", -0.125)], 0.625);
    expect(findings).toEqual([]);
    expect(sums).toEqual({ statedNano: 250_000_000, chargedNano: 375_000_000, brokenOffNano: 125_000_000 });
  });

  test.each([
    ["no charge for an answer", [credit], 1],
    ["another price", [credit, charge("whole", -0.2)], 0.8],
    ["a second charge", [credit, charge("whole", -0.25), charge("whole", -0.25)], 0.5],
    ["a charge that nobody asked for", [credit, charge("whole", -0.25), charge("other", -0.25)], 0.5],
    ["a balance that its lines do not come to", [credit, charge("whole", -0.25)], 0.7],
  ])("finds %s", (_, lines, balance) => {
    expect(found(lines, balance).findings).not.toEqual([]);
  });
});

describe("the samples", () => {
  const samples = (rss: (minute: number) => number, descriptors: (minute: number) => number) =>
    Array.from({ length: 60 }, (_, i) => i / 2).map((minute) => ({
      ...{ minute, rssBytes: rss(minute), descriptors: descriptors(minute), heapBytes: null },
    }));
  const MB = 1024 * 1024;

  test("of a service that warms up and then stays are no breach", () => {
    const warmUp = samples(
      (minute) => 100 * MB + Math.min(minute, 11) * 20 * MB,
      () => 60,
    );
    expect(breachesOf(growthOf(warmUp))).toEqual([]);
  });
  test("of garbage that comes and goes are none either", () => {
    const waves = samples(
      (minute) => 100 * MB + (Number.isInteger(minute) ? 0 : minute * 2 * MB),
      () => 60,
    );
    expect(breachesOf(growthOf(waves))).toEqual([]);
  });
  test("that grow without an end are", () => {
    expect(
      breachesOf(
        growthOf(
          samples(
            (minute) => minute * 2 * MB,
            () => 60,
          ),
        ),
      ),
    ).toHaveLength(1);
    expect(
      breachesOf(
        growthOf(
          samples(
            () => 100 * MB,
            (minute) => 60 + minute * 2,
          ),
        ),
      ),
    ).toHaveLength(1);
  });
  test("have a slope", () => {
    expect(
      slopeOf([
        [0, 1],
        [1, 3],
        [2, 5],
      ]),
    ).toBe(2);
    expect(slopeOf([[1, 7]])).toBe(0);
  });
});
