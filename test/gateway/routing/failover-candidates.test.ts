// Where a request may go when its route fails: the backup models of MODEL_FAILOVER, and behind each the Levels of
// SWITCH_OVER, without those that the account may not use, that nobody serves, or that have no price.

import { describe, expect, test } from "bun:test";
import type { Profile } from "../../../actors/account/state.ts";
import type { LevelView } from "../../../actors/level/view.ts";
import type { OwnerConfig } from "../../../actors/owner/config.ts";
import { failoverCandidates } from "../../../src/gateway/routing/failover-candidates.ts";
import { type RouteInput, route } from "../../../src/gateway/routing/route.ts";
import { accountContextOf } from "../account-context-samples.ts";
import { viewOf } from "../level-samples.ts";
import { CHAT } from "../request-samples.ts";

const PRICING = {
  ChatPricing: Object.fromEntries([..."abcdefgh"].map((model) => [model, { InputText: 1 }])),
};

interface Given {
  readonly config?: Partial<OwnerConfig>;
  /** The account, then its ancestors up to the Owner. */
  readonly chain?: readonly Partial<Profile>[];
  readonly levels?: readonly LevelView[];
}

/** Levels 1 to 5, each with a key. */
const LEVELS = [1, 2, 3, 4, 5].map((level) => viewOf(level, [level]));

function planned({ config = {}, chain = [{}], levels = LEVELS }: Given) {
  const accountContext = accountContextOf({
    chain,
    config: { levelMapper: { "*": 1 }, pricing: PRICING, ...config },
  });
  const input: RouteInput = {
    ...CHAT,
    model: "a",
    accountContext,
    level: (level) => levels.find(({ id }) => id === `2.${level}`),
  };
  const found = route(input);
  if (found.ok !== true) throw new Error(JSON.stringify(found));
  return { found, plan: failoverCandidates(input, found) };
}

/** `a1 a2 | b1`: a row for each model, in it the Levels in turn. */
function rows(given: Given): string {
  const { plan } = planned(given);
  if ("ok" in plan) return `needs ${plan.level}`;
  return plan.rows.map((row) => row.map(({ model, level }) => model + level).join(" ")).join(" | ");
}

// biome-ignore format: a table
const ROWS: readonly [what: string, given: Given, rows: string][] = [
  ["nothing configured: the route alone", {}, "a1"],
  ["SWITCH_OVER's chain", { config: { switchOver: { 1: 2, 2: 3 } } }, "a1 a2 a3"],
  ["a chain that begins elsewhere", { config: { switchOver: { 2: 3 } } }, "a1"],
  ["a circle ends where it began", { config: { switchOver: { 1: 2, 2: 3, 3: 1 } } }, "a1 a2 a3"],
  ["a circle behind the beginning ends too", { config: { switchOver: { 1: 2, 2: 3, 3: 2 } } }, "a1 a2 a3"],
  ["backup models, each at its own Level", { config: { modelFailover: { a: ["b", "c"] }, levelMapper: { "*": 1, b: 4 } } }, "a1 | b4 | c1"],
  ["the chain of each model's Level", { config: { modelFailover: { a: ["b"] }, levelMapper: { a: 1, b: 4 }, switchOver: { 1: 2, 4: 5 } } }, "a1 a2 | b4 b5"],
  ["the most fitting pattern", { config: { modelFailover: { "*": ["b"], a: ["c"] } } }, "a1 | c1"],
  ["backups of backups are nobody's", { config: { modelFailover: { a: ["b"], b: ["c"] } } }, "a1 | b1"],
  ["a pattern's backup that is the model itself is no second way", { config: { modelFailover: { "*": ["a", "b"] } } }, "a1 | b1"],
  ["five backup models at most", { config: { modelFailover: { a: ["b", "c", "d", "e", "f", "g"] } } }, "a1 | b1 | c1 | d1 | e1 | f1"],
  ["the model itself is not counted among the five", { config: { modelFailover: { "*": ["a", "b", "c", "d", "e", "f"] } } }, "a1 | b1 | c1 | d1 | e1 | f1"],
  ["a model without a price is left out", { config: { modelFailover: { a: ["x", "b"] } } }, "a1 | b1"],
  ["a model that AllowModels does not allow is left out", { config: { modelFailover: { a: ["b", "c"] } }, chain: [{ allowModels: ["a", "c"] }] }, "a1 | c1"],
  ["so is one that an ancestor's does not allow", { config: { modelFailover: { a: ["b", "c"] } }, chain: [{}, { allowModels: ["a", "c"] }] }, "a1 | c1"],
  ["a model at a Level that is not allowed is left out", { config: { modelFailover: { a: ["b"] }, levelMapper: { "*": 1, b: 4 } }, chain: [{ allowLevels: [1] }] }, "a1"],
  ["a model whose Level has no key is left out", { config: { modelFailover: { a: ["b", "c"] }, levelMapper: { "*": 1, b: 4 } }, levels: [...LEVELS.slice(0, 3), viewOf(4, [])] }, "a1 | c1"],
  ["a Level that is not allowed is left out, those behind it are not", { config: { switchOver: { 1: 2, 2: 3 } }, chain: [{ allowLevels: [1, 3] }] }, "a1 a3"],
  ["so is one that an ancestor's list bars", { config: { switchOver: { 1: 2, 2: 3 } }, chain: [{}, { allowLevels: [1, 3] }] }, "a1 a3"],
  ["a Level without keys is left out, those behind it are not", { config: { switchOver: { 1: 2, 2: 3 } }, levels: [LEVELS[0]!, viewOf(2, []), LEVELS[2]!] }, "a1 a3"],
  ["a Level whose keys are all disabled stays: they may be enabled by then", { config: { switchOver: { 1: 2 } }, levels: [LEVELS[0]!, viewOf(2, [{ id: 2, disabled: true }])] }, "a1 a2"],
  ["a chain's Level that is not at hand is asked for", { config: { switchOver: { 1: 9 } } }, "needs 9"],
  ["a backup model's Level that is not at hand is asked for", { config: { modelFailover: { a: ["b"] }, levelMapper: { "*": 1, b: 8 } } }, "needs 8"],
];

describe("the candidates of a request", () => {
  test.each(ROWS)("%s", (_, given, expected) => {
    expect(rows(given)).toBe(expected);
  });
});

describe("a candidate", () => {
  test("has the price and the limits of its own model, and the view of its own Level", () => {
    const { found, plan } = planned({
      config: {
        modelFailover: { a: ["b"] },
        levelMapper: { a: 1, b: 4 },
        switchOver: { 4: 5 },
        modelLimits: { b: { rpm: 7 } },
      },
    });
    if ("ok" in plan) throw new Error("a Level is missing");
    const [[first], [second, third]] = plan.rows as [[typeof found], [typeof found, typeof found]];
    expect(first).toBe(found);
    expect([second.priced.name, second.modelLimits?.rpm, second.view.id]).toEqual(["b", 7, "2.4"]);
    expect([third.priced.name, third.modelLimits?.rpm, third.view.id]).toEqual(["b", 7, "2.5"]);
    expect(first.modelLimits).toBeNull();
  });
});

describe("the trace", () => {
  const stepsOf = (given: Given) => {
    const { plan } = planned(given);
    if ("ok" in plan) throw new Error("a Level is missing");
    return plan.steps;
  };

  test("is empty when nothing stands in", () => {
    expect(stepsOf({})).toEqual([]);
  });

  test("names the rule, each model's way, and why a Level is left out", () => {
    const config = { modelFailover: { "*": ["a", "b"] }, switchOver: { 1: 2, 2: 3, 3: 4 } };
    const levels = [LEVELS[0]!, LEVELS[1]!, viewOf(3, []), LEVELS[3]!];
    const steps = stepsOf({ config, levels, chain: [{ allowLevels: [1, 3, 4] }] });
    expect(steps[0]).toEqual({ step: "model_failover", in: "a", out: "b", rule: "*=a|b" });
    expect(steps.slice(1, 4)).toEqual([
      { step: "switch_over", in: "a at 1", out: "2", note: "not allowed to this account" },
      { step: "switch_over", in: "a at 1", out: "3", note: "no keys" },
      { step: "switch_over", in: "a at 1", out: "4" },
    ]);
    expect(steps.slice(4).map(({ step }) => step)).toEqual([
      "allow_models",
      "level",
      "allow_levels",
      "price",
      "switch_over",
      "switch_over",
      "switch_over",
    ]);
  });

  test("says why a backup model is left out", () => {
    const steps = stepsOf({ config: { modelFailover: { a: ["x"] } } });
    expect(steps.at(-1)).toEqual({ step: "price", in: "x", out: "none" });
  });
});
