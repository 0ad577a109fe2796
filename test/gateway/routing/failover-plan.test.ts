// The way through Levels and models, as stories: what is tried in which order, and when it ends. A candidate is written as the
// model and the Level, `a1`; a walk as its candidates with the attempts made there, `a1x3`.

import { describe, expect, test } from "bun:test";
import { priceTable } from "../../../actors/pricing/price-table.ts";
import {
  ATTEMPTS_MAX,
  type CandidateTable,
  FailoverPlan,
} from "../../../src/gateway/routing/failover-plan.ts";
import type { RouteCandidate } from "../../../src/gateway/routing/route.ts";
import { viewOf } from "../level-samples.ts";

/** `"a1 a2 | b1"`: model a at Level 1, then at 2; then model b at 1. */
const candidatesOf = (text: string): CandidateTable =>
  text.split("|").map((row) =>
    row
      .trim()
      .split(" ")
      .map((name): RouteCandidate => {
        const level = Number(name.slice(1));
        const priced = { group: "ChatPricing", name: name[0]!, price: {} } as RouteCandidate["priced"];
        return {
          model: name[0]!,
          level,
          view: viewOf(level, []),
          priced,
          pricedByTokens: null,
          modelLimits: null,
          prices: priceTable(null),
        };
      }),
  );

const nameOf = ({ model, level }: RouteCandidate): string => `${model}${level}`;

/** Walks where every attempt fails. `keys`: how many a Level has; `barred`: models whose hold is refused. */
function story(candidates: CandidateTable, keys: Readonly<Record<string, number>>, barred = ""): string {
  const walk = new FailoverPlan(candidates);
  const visits: string[] = [];
  for (;;) {
    let tried = 0;
    while (walk.mayTry() && tried < (keys[nameOf(walk.candidate)] ?? 0)) {
      walk.count();
      tried++;
    }
    visits.push(`${nameOf(walk.candidate)}x${tried}`);
    let turn = walk.advance(walk.mayTry() ? "exhausted" : "tries");
    while (turn === "model" && barred.includes(walk.candidate.model)) turn = walk.advance("refused");
    if (turn === null) return visits.join(" ");
  }
}

/** What; candidates; keys of each candidate; barred models; the story. */
// biome-ignore format: a table
const STORIES: readonly (readonly [string, string, Record<string, number>, string, string])[] = [
  ["one Level, few keys: all of them", "a1", { a1: 2 }, "", "a1x2"],
  ["one Level, many keys: three of them", "a1", { a1: 9 }, "", "a1x3"],
  ["three keys failed: the next model, not the chain", "a1 a2 | b1", { a1: 9, a2: 9, b1: 9 }, "", "a1x3 b1x3"],
  ["three keys failed and no other model: the chain", "a1 a2 a3", { a1: 9, a2: 9, a3: 9 }, "", "a1x3 a2x3 a3x2"],
  ["no key left: along the chain", "a1 a2 a3 | b1", { a1: 1, a3: 1 }, "", "a1x1 a2x0 a3x1 b1x0"],
  ["the chain's end: the next model and its own chain", "a1 a2 | b1 b4", { a1: 1, a2: 1, b4: 1 }, "", "a1x1 a2x1 b1x0 b4x1"],
  ["three keys failed on the chain: the next model", "a1 a2 a3 | b1", { a1: 1, a2: 9, a3: 9, b1: 1 }, "", "a1x1 a2x3 b1x1"],
  ["the last model's three keys failed: its chain", "a1 | b1 b2", { a1: 9, b1: 9, b2: 9 }, "", "a1x3 b1x3 b2x2"],
  ["a refused hold: the next model, and not the refused one's chain", "a1 | b1 b2 | c1", { a1: 1, b1: 9, b2: 9, c1: 1 }, "b", "a1x1 c1x1"],
  ["all holds refused: the end", "a1 | b1 | c1", { a1: 1, b1: 9, c1: 9 }, "bc", "a1x1"],
  ["eight attempts at most", "a1 | b1 | c1 | d1", { a1: 9, b1: 9, c1: 9, d1: 9 }, "", "a1x3 b1x3 c1x1 d1x1"],
  ["one is kept for each backup model", "a1 | b1 | c1 | d1 | e1 | f1", { a1: 9, b1: 9, c1: 9, d1: 9, e1: 9, f1: 9 }, "", "a1x3 b1x1 c1x1 d1x1 e1x1 f1x1"],
  ["what one model leaves, the next may use", "a1 | b1 | c1 | d1 | e1 | f1", { a1: 1, b1: 9, f1: 9 }, "", "a1x1 b1x3 c1x0 d1x0 e1x0 f1x3"],
  ["a long chain leaves the backup its one", "a1 a2 a3 a4 a5 a6 a7 a8 a9 | b1", { a1: 1, a2: 1, a3: 1, a4: 1, a5: 1, a6: 1, a7: 1, a8: 1, b1: 9 }, "", "a1x1 a2x1 a3x1 a4x1 a5x1 a6x1 a7x1 b1x1"],
];

describe("where every attempt fails", () => {
  test.each(STORIES)("%s", (_, candidates, keys, barred, visits) => {
    expect(story(candidatesOf(candidates), keys, barred)).toBe(visits);
  });

  test("there are never more than eight attempts, and every backup model that has a key gets one", () => {
    for (let models = 1; models <= 6; models++) {
      for (let chain = 1; chain <= 4; chain++) {
        for (let keys = 1; keys <= 4; keys++) {
          const names = "abcdef".slice(0, models).split("");
          const levels = Array.from({ length: chain }, (_, i) => i + 1);
          const candidates = candidatesOf(names.map((m) => levels.map((l) => m + l).join(" ")).join("|"));
          const have = Object.fromEntries(candidates.flat().map((candidate) => [nameOf(candidate), keys]));
          const visits = story(candidates, have);
          const made = [...visits.matchAll(/x(\d)/g)].reduce((sum, [, n]) => sum + Number(n), 0);
          expect(made).toBeLessThanOrEqual(ATTEMPTS_MAX);
          for (const name of names) expect(visits).toMatch(new RegExp(`${name}\\dx[1-9]`));
        }
      }
    }
  });
});

describe("a walk", () => {
  const names = (walk: FailoverPlan) => walk.visited.map(nameOf).join(" ");

  test("whose other candidates become known later goes on from the attempts made", () => {
    const before = new FailoverPlan(candidatesOf("a1"));
    before.count();
    before.count();
    const walk = new FailoverPlan(candidatesOf("a1 a2"), before.made);
    expect([walk.made, walk.mayTry()]).toEqual([2, true]);
    walk.count();
    expect([walk.made, walk.mayTry()]).toEqual([3, false]);
  });

  test("knows what is behind in its chain, and where it was", () => {
    const walk = new FailoverPlan(candidatesOf("a1 a2 a3 | b1"));
    expect(walk.behind.map(nameOf)).toEqual(["a2", "a3"]);
    walk.advance("exhausted");
    expect([walk.behind.map(nameOf), names(walk)]).toEqual([["a3"], "a1 a2"]);
  });

  test("was not where its hold was refused", () => {
    const walk = new FailoverPlan(candidatesOf("a1 | b1 | c1"));
    walk.advance("exhausted");
    expect(walk.advance("refused")).toBe("model");
    expect([nameOf(walk.candidate), names(walk)]).toEqual(["c1", "a1 c1"]);
    expect(walk.advance("refused")).toBeNull();
    expect(names(walk)).toBe("a1");
  });

  test("says whether the model changed", () => {
    const walk = new FailoverPlan(candidatesOf("a1 a2 | b1"));
    expect([walk.advance("exhausted"), walk.advance("exhausted"), walk.advance("exhausted")]).toEqual([
      "level",
      "model",
      null,
    ]);
  });

  test("goes nowhere after the eighth attempt", () => {
    const walk = new FailoverPlan(candidatesOf("a1 a2"));
    for (let i = 0; i < ATTEMPTS_MAX; i++) walk.count();
    expect([walk.mayTry(), walk.advance("exhausted")]).toEqual([false, null]);
  });
});
