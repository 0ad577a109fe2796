// Admission: refusals in the contract's order, the first one answers; and who may read what.

import { describe, expect, test } from "bun:test";
import type { AdmitInput } from "../../../actors/account/admit.ts";
import { HOLDS_MAX } from "../../../actors/account/holds.ts";
import { type Nano, ZERO } from "../../../actors/money.ts";
import { NO_LIMITS, type RateLimits } from "../../../actors/rate-window.ts";
import { KEY, living, NOON, ROOT_PROFILE, usd } from "../account-samples.ts";

const limits = (over: Partial<RateLimits>): RateLimits => ({ ...NO_LIMITS, ...over });

describe("refusals", () => {
  /** The contract's order; each row spoils one thing more, from the last to the first. */
  const ORDER: readonly (readonly [string, Partial<AdmitInput>])[] = [
    ["daily_limit_reached", {}],
    ["hard_limit_reached", {}],
    ["insufficient_balance", {}],
    ["rpm_exceeded", {}],
    ["level_not_allowed", { routing: { code: "level_not_allowed", message: "" } }],
    ["ip_not_allowed", { ip: "198.51.100.9" }],
    ["account_suspended", {}],
    ["account_disabled", {}],
    ["invalid_api_key", { keyHash: "b".repeat(64) }],
  ];

  test.each(ORDER.map(([code], i) => [code, i] as const))("%s goes before all that come later", (code, i) => {
    const spoilt = (name: string) => ORDER.findIndex(([other]) => other === name) <= i;
    const one = living({
      credit: spoilt("insufficient_balance") ? usd(1) : usd(100),
      profile: {
        dailyLimit: spoilt("daily_limit_reached") ? usd(10) : ZERO,
        hardLimit: spoilt("hard_limit_reached") ? usd(10) : ZERO,
        limits: spoilt("rpm_exceeded") ? limits({ rpm: 1 }) : NO_LIMITS,
        allowIps: spoilt("ip_not_allowed") ? ["192.0.2.0/24"] : [],
        suspended: spoilt("account_suspended"),
        status: !spoilt("account_disabled"),
      },
    });
    one.fold({ type: "released", id: "r0", model: "m", admittedAt: NOON });
    const over = Object.assign({}, ...ORDER.slice(0, i + 1).map(([, input]) => input));
    expect(one.admitted({ cost: usd(50), promptCost: usd(20), ...over })).toBe(code);
    expect(one.state.volatile.holds.size).toBe(0);
  });

  test("nobody's account is an invalid key", () => {
    const one = living();
    one.state.profile = null;
    expect(one.admitted()).toBe("invalid_api_key");
  });

  test("a route made from an older profile is sent back with the fresh one, after the key alone is settled", () => {
    const one = living({ profile: { allowIps: ["192.0.2.0/24"] } });
    const { refused, reply } = one.admit({ version: 0, ip: "" });
    expect([refused, reply]).toEqual([undefined, { stale: { version: 1, profile: one.state.profile } }]);
    expect(one.admitted({ version: 0, keyHash: "b".repeat(64) })).toBe("invalid_api_key");
  });

  test("each rate limit says its code and when to try again", () => {
    const cases = [
      ["rpm", 1, 61],
      ["rph", 1, 3_660],
      ["rpd", 1, 43_200],
      ["tpm", 100, 61],
      ["tph", 100, 3_660],
      ["tpd", 100, 43_200],
    ] as const;
    for (const [rule, limit, atMostS] of cases) {
      for (const [scope, profile, modelLimits] of [
        ["account", { limits: limits({ [rule]: limit }) }, null],
        ["model m", {}, limits({ [rule]: limit })],
      ] as const) {
        const one = living({ profile });
        expect(one.admitted({ id: "r0", modelLimits })).toMatchObject({ tokens: 100 });
        const { refused } = one.admit({ modelLimits });
        expect(refused?.code).toBe(`${rule}_exceeded`);
        expect(refused?.message).toContain(scope);
        expect(refused?.retryAfterS).toBeGreaterThan(0);
        expect(refused?.retryAfterS).toBeLessThanOrEqual(atMostS);
        one.ask({ type: "cancel", id: "r0", aborted: false });
        one.now += refused!.retryAfterS! * 1_000;
        expect(one.admitted({ modelLimits })).toMatchObject({ tokens: 100 });
      }
    }
  });

  test("one model's limit leaves other models alone", () => {
    const one = living();
    const modelLimits = limits({ rpm: 1 });
    one.admit({ id: "a", modelLimits });
    expect(one.admitted({ id: "b", modelLimits })).toBe("rpm_exceeded");
    expect(one.admitted({ id: "c", model: "n", modelLimits })).toMatchObject({ tokens: 100 });
  });

  test("a model's limit holds although more models were used than have windows of their own", () => {
    const one = living();
    const modelLimits = limits({ rpd: 1 });
    for (let i = 0; i < 1_000; i++) {
      one.fold({ type: "released", id: `r${i}`, model: `other-${i}`, admittedAt: NOON });
    }
    one.charge({ id: "first", model: "dear" });
    expect(one.admitted({ id: "second", model: "dear", modelLimits })).toBe("rpd_exceeded");
  });

  test.each([
    ["just above the threshold", usd(5.000000001), usd(5), 0, true],
    ["at the threshold", usd(5), usd(5), 0, false],
    ["nothing, and no threshold", ZERO, ZERO, 0, false],
    ["an overdraft counts", ZERO, ZERO, 2, true],
    ["an overdraft larger than money holds beside the balance", usd(9_000), ZERO, 9_000_000, true],
    ["an overdraft below the threshold", ZERO, usd(2), 2, false],
  ])("Balance + XCredit must be above UserApiBalance: %s", (_what, credit, threshold, xCredit, open) => {
    const one = living({ credit, profile: { xCredit: usd(xCredit) } });
    const answer = one.admitted({ threshold, cost: 1 as Nano, promptCost: 1 as Nano });
    expect(typeof answer === "object").toBe(open);
  });

  test("Root has no credit limit, but rate limits hold for it too", () => {
    const one = living({ profile: { ...ROOT_PROFILE, limits: limits({ rpm: 1 }) }, credit: ZERO });
    expect(one.admitted({ id: "a", cost: usd(1_000) })).toMatchObject({ cost: usd(1_000) });
    expect(one.admitted({ id: "b" })).toBe("rpm_exceeded");
  });

  test("more requests in flight than an account may have are refused until some end", () => {
    const one = living({ credit: usd(10_000) });
    for (let i = 0; i < HOLDS_MAX; i++) one.admit({ id: `r${i}`, cost: usd(0.1) });
    expect(one.admitted({ id: "more" })).toBe("service_unavailable");
    expect(one.admitted({ id: "r5" })).toMatchObject({ cost: usd(0.1) });
    one.charge({ id: "r0" });
    expect(one.admitted({ id: "more" })).toMatchObject({ cost: usd(1) });
  });
});

describe("who may read what", () => {
  const identify = {
    type: "identify",
    keyHash: KEY,
    ip: "192.0.2.1",
    scope: "read",
    suspendedToo: true,
  } as const;

  test.each([
    ["an account in order", {}, null],
    ["a disabled one", { status: false }, "account_disabled"],
    ["a suspended one reads its dashboard", { suspended: true }, null],
    ["another address", { allowIps: ["10.0.0.1"] }, "ip_not_allowed"],
    ["another address, suspended", { suspended: true, allowIps: ["10.0.0.1"] }, "ip_not_allowed"],
  ])("%s", (_who, profile, code) => {
    expect(living({ profile }).ask(identify).refused?.code ?? null).toBe<string | null>(code);
  });

  test("a suspended account may not write", () => {
    const one = living({ profile: { suspended: true } });
    expect(one.ask({ ...identify, scope: "read", suspendedToo: false }).refused?.code).toBe(
      "account_suspended",
    );
  });

  test("nobody is there to read", () => {
    const one = living();
    one.state.profile = null;
    for (const type of ["read", "profile"] as const) {
      expect(one.ask({ type }).refused?.code).toBe("user_not_found");
    }
    expect(one.ask(identify).refused?.code).toBe("invalid_api_key");
  });
});
