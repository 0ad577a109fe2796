// A preview says what admission would say and what every limit leaves, and changes nothing.

import { describe, expect, test } from "bun:test";
import type { AdmissionRequest } from "../../../actors/account/admit.ts";
import type { AdmitDryRun } from "../../../actors/account/admit-dry-run.ts";
import { type Nano, ZERO } from "../../../actors/money.ts";
import { NO_LIMITS, type RateLimits } from "../../../actors/rate-window.ts";
import { admitInput, copyOf, DAY, type Living, living, NOON, ROOT_PROFILE, usd } from "../account-samples.ts";

const limits = (over: Partial<RateLimits>): RateLimits => ({ ...NO_LIMITS, ...over });

function previewOf(one: Living, over: Partial<AdmissionRequest> = {}): AdmitDryRun {
  const { id: _, ...input } = admitInput(over);
  const { reply, refused, events } = one.ask({ type: "admitDryRun", ...input });
  expect({ refused, events }).toEqual({ refused: undefined, events: undefined });
  return reply as AdmitDryRun;
}

describe("a preview", () => {
  const CASES: readonly (readonly [string, Parameters<typeof living>[0], Partial<AdmissionRequest>])[] = [
    ["nothing in the way", {}, {}],
    ["a smaller hold for a request that is alone", { credit: usd(0.5) }, {}],
    ["insufficient_balance", { credit: usd(0.5) }, { promptCost: usd(0.6) }],
    ["below the threshold", {}, { threshold: usd(100) }],
    ["hard_limit_reached", { profile: { hardLimit: usd(0.05) } }, {}],
    ["daily_limit_reached", { profile: { dailyLimit: usd(0.05) } }, {}],
    ["tpm_exceeded", { profile: { limits: limits({ tpm: 5 }) } }, {}],
    ["fewer tokens", { profile: { limits: limits({ tpm: 50 }) } }, {}],
    ["routing", {}, { routing: { code: "model_not_found", message: "" } }],
    ["account_disabled", { profile: { status: false } }, {}],
    ["account_suspended", { profile: { suspended: true } }, {}],
    ["ip_not_allowed", { profile: { allowIps: ["10.0.0.1"] } }, {}],
    ["invalid_api_key", {}, { keyHash: "b".repeat(64) }],
  ];

  test.each(CASES)("says what admission then says: %s", (_what, born, over) => {
    const one = living(born);
    const { refusal, cost, tokens } = previewOf(one, over);
    expect(refusal === null ? { cost, tokens } : refusal.code).toEqual<unknown>(one.admitted(over));
  });

  test("of a refused request returns the worst case that was asked for", () => {
    const one = living({ credit: usd(0.5) });
    expect(previewOf(one, { promptCost: usd(0.6) })).toMatchObject({ cost: usd(1), tokens: 100 });
  });

  test("changes nothing, however often it is asked", () => {
    const one = living({ profile: { limits: limits({ rpm: 1, tpm: 100 }) } });
    const before = copyOf(one.state);
    for (let i = 0; i < 3; i++) expect(previewOf(one).refusal).toBeNull();
    expect(one.state).toEqual(before);
    expect(one.admitted()).toMatchObject({ cost: usd(1) });
  });

  test("made with an old profile is answered with the fresh one, so that it is routed again", () => {
    const one = living();
    const { id: _, ...input } = admitInput({ version: 0 });
    expect(one.ask({ type: "admitDryRun", ...input }).reply).toEqual({
      stale: { version: 1, profile: one.state.profile },
    });
  });

  test("of requests given up too often is refused as admission is", () => {
    const one = living();
    for (let i = 0; i < 21; i++) {
      one.admit({ id: `gone-${i}` });
      one.ask({ type: "cancel", id: `gone-${i}`, aborted: true });
    }
    expect(previewOf(one).refusal?.code).toBe("too_many_aborts");
  });

  test("shows no limits without a right key, nor of an account that does not exist", () => {
    expect(previewOf(living(), { keyHash: "b".repeat(64) }).limits).toEqual([]);
    const one = living();
    one.state.profile = null;
    expect(previewOf(one)).toMatchObject({ refusal: { code: "invalid_api_key" }, limits: [] });
  });
});

describe("its limits", () => {
  const rowOf = (one: Living, name: string, over: Partial<AdmissionRequest> = {}) =>
    previewOf(one, over).limits.filter((row) => row.name === name);

  test("are only those that are set; the balance always is", () => {
    const { limits: rows } = previewOf(living());
    expect(rows).toEqual([
      {
        scope: "account",
        name: "balance",
        limit: usd(100),
        used: 0,
        remaining: usd(100),
        resetsAt: null,
        unit: "nano",
      },
    ]);
  });

  test("are listed beside a refusal too", () => {
    expect(rowOf(living({ profile: { suspended: true } }), "balance")).toHaveLength(1);
  });

  test("Root has no balance to run out of", () => {
    const one = living({ profile: { ...ROOT_PROFILE, limits: limits({ rpm: 5 }) }, credit: ZERO });
    expect(previewOf(one).limits.map(({ name }) => name)).toEqual(["rpm"]);
  });

  test("balance: the book and the overdraft; what holds take does not remain", () => {
    const one = living({ profile: { xCredit: usd(5) } });
    one.admit({ cost: usd(3) });
    expect(rowOf(one, "balance")).toMatchObject([{ limit: usd(105), remaining: usd(102) }]);
  });

  test("what was overspent is nothing left, not less", () => {
    const one = living({ credit: usd(1) });
    one.charge({ cost: usd(3) });
    expect(rowOf(one, "balance")).toMatchObject([{ limit: usd(-2), remaining: 0 }]);
  });

  test("hard_limit: spent and held are taken off, until the month is over", () => {
    const one = living({ profile: { hardLimit: usd(10) } });
    one.charge({ id: "r0", cost: usd(2) });
    one.admit();
    expect(rowOf(one, "hard_limit")).toEqual([
      {
        scope: "account",
        name: "hard_limit",
        limit: usd(10),
        used: usd(3),
        remaining: usd(7),
        resetsAt: Date.UTC(2026, 1, 1),
        unit: "nano",
      },
    ]);
    const december = living({ profile: { hardLimit: usd(10) }, now: Date.UTC(2026, 11, 31, 23) });
    expect(rowOf(december, "hard_limit")).toMatchObject([{ resetsAt: Date.UTC(2027, 0, 1) }]);
  });

  test("daily_limit: until the day is over", () => {
    const one = living({ profile: { dailyLimit: usd(10) } });
    one.charge({ id: "r0", cost: usd(2) });
    expect(rowOf(one, "daily_limit")).toMatchObject([{ remaining: usd(8), resetsAt: NOON + DAY / 2 }]);
  });

  test.each([
    ["rpm", "tpm", 61_000],
    ["rph", "tph", 3_660_000],
    ["rpd", "tpd", DAY / 2],
  ] as const)("%s and %s: what is used, held included, until the newest has left", (requests, tokens, ms) => {
    const one = living({ profile: { limits: limits({ [requests]: 5, [tokens]: 1_000 }) } });
    one.charge({ id: "r0" });
    one.admit();
    expect(previewOf(one).limits.slice(0, 2)).toEqual([
      {
        scope: "account",
        name: requests,
        limit: 5,
        used: 2,
        remaining: 3,
        resetsAt: NOON + ms,
        unit: "count",
      },
      {
        scope: "account",
        name: tokens,
        limit: 1_000,
        used: 130,
        remaining: 870,
        resetsAt: NOON + ms,
        unit: "count",
      },
    ]);
  });

  test("a window nobody used is whole now", () => {
    expect(rowOf(living({ profile: { limits: limits({ rpm: 5 }) } }), "rpm")).toMatchObject([
      { remaining: 5, resetsAt: NOON },
    ]);
  });

  test("a model's stand beside the account's, and count that model alone", () => {
    const one = living({ profile: { limits: limits({ rpm: 5 }) } });
    one.admit({ id: "a", model: "other", cost: 1 as Nano });
    one.admit({ id: "b", cost: 1 as Nano });
    expect(rowOf(one, "rpm", { modelLimits: limits({ rpm: 2 }) })).toMatchObject([
      { scope: "account", limit: 5, remaining: 3 },
      { scope: "model", limit: 2, remaining: 1 },
    ]);
  });
});
