// How the guard of the benchmark judges rounds: which of them count, what is worse, and when that fails.

import { describe, expect, test } from "bun:test";
import { type Baseline, baselinesOf, ratioIn } from "../../bench/guard/baseline.ts";
import {
  finalVerdict,
  type GuardRound,
  isQuiet,
  type Judgment,
  judge,
  OTHER_CORES_MAX,
  WORSE_SHARE,
} from "../../bench/guard/judge.ts";

const quiet = (...ratios: number[]): GuardRound[] =>
  ratios.map((ratio) => ({ ratio, otherCores: 0.1, refused: 0 }));
const busy = (...ratios: number[]): GuardRound[] =>
  ratios.map((ratio) => ({ ratio, otherCores: 0.6, refused: 0 }));

const baseline = (processor: string, ratios: Baseline["ratios"]): Baseline => ({
  date: "2026-11-27",
  bun: "1.4.5",
  cores: 2,
  processor,
  ratios,
});

describe("a baseline", () => {
  const first = baseline("first", { whole: 4, stream: 2 });
  const second = baseline("second", { whole: 3, stream: 5 });

  test("is that of the machine's processor", () => {
    expect(baselinesOf([first, second], "second")).toEqual([second]);
    expect(ratioIn([second], "whole")).toBe(3);
  });

  test("is the greatest ratio of all for a processor that has none", () => {
    const all = baselinesOf([first, second], "third");
    expect(all).toEqual([first, second]);
    expect([ratioIn(all, "whole"), ratioIn(all, "stream")]).toEqual([4, 5]);
  });

  test("has no ratio of a kind that was not measured", () => {
    expect(ratioIn([first, second], "translated")).toBeUndefined();
    expect(ratioIn([], "whole")).toBeUndefined();
  });
});

describe("a round counts", () => {
  test("up to the bound of what other processes use", () => {
    const round = { ratio: 2, refused: 0 };
    expect(isQuiet({ ...round, otherCores: OTHER_CORES_MAX })).toBe(true);
    expect(isQuiet({ ...round, otherCores: OTHER_CORES_MAX + 0.01 })).toBe(false);
  });

  test("unless a request was refused", () => {
    expect(isQuiet({ ratio: 2, otherCores: 0, refused: 1 })).toBe(false);
  });
});

describe("a judgment", () => {
  test("compares the median with the baseline", () => {
    expect(judge(quiet(2, 2.2, 9), 2)).toMatchObject({ verdict: "kept", ratio: 2.2 });
    expect(judge(quiet(2.6, 2.6, 1), 2)).toMatchObject({ verdict: "worse", ratio: 2.6 });
  });

  test("is worse only beyond the share that is allowed", () => {
    const limit = 4 * (1 + WORSE_SHARE);
    expect(judge(quiet(limit, limit, limit), 4).verdict).toBe("kept");
    expect(judge(quiet(limit + 0.01, limit + 0.01, limit + 0.01), 4).verdict).toBe("worse");
  });

  test("says by how much a ratio has changed", () => {
    expect(judge(quiet(3, 3, 3), 4)).toEqual({ verdict: "kept", ratio: 3, change: -0.25 });
    expect(judge(quiet(6, 6, 6), 4)).toEqual({ verdict: "worse", ratio: 6, change: 0.5 });
  });

  test("leaves out rounds of a busy machine", () => {
    expect(judge([...busy(9, 9, 9, 9), ...quiet(2, 2, 2)], 2)).toMatchObject({ verdict: "kept", ratio: 2 });
  });

  test("is not made when too few rounds are left", () => {
    expect(judge([...busy(9, 9, 9), ...quiet(9, 9)], 2)).toEqual({ verdict: "busy", quiet: 2, rounds: 5 });
    expect(judge([], 2)).toEqual({ verdict: "busy", quiet: 0, rounds: 0 });
  });

  test("is not made without a baseline", () => {
    expect(judge(quiet(9, 8, 7), undefined)).toEqual({ verdict: "unknown", ratio: 8 });
  });
});

describe("the final verdict", () => {
  const kept: Judgment = { verdict: "kept", ratio: 2, change: 0 };
  const worse: Judgment = { verdict: "worse", ratio: 3, change: 0.5 };
  const tooBusy: Judgment = { verdict: "busy", quiet: 0, rounds: 8 };
  const unknown: Judgment = { verdict: "unknown", ratio: 2 };

  test.each([
    [kept, null, "passed"],
    [worse, kept, "passed"],
    [worse, worse, "failed"],
    [worse, tooBusy, "not judged"],
    [worse, null, "not judged"],
    [tooBusy, null, "not judged"],
    [unknown, null, "not judged"],
  ] as const)("of %j and %j is %s", (first, second, verdict) => {
    expect(finalVerdict(first, second)).toBe(verdict);
  });
});
