// How an account stands: what is said is what admission then does with the smallest request, and nothing changes by asking.

import { describe, expect, test } from "bun:test";
import type { Standing } from "../../../actors/account/standing.ts";
import { ZERO } from "../../../actors/money.ts";
import { NO_LIMITS, type RateLimits } from "../../../actors/rate-window.ts";
import { admitInput, copyOf, type Living, living, NOON, ROOT_PROFILE, usd } from "../account-samples.ts";

const limits = (over: Partial<RateLimits>): RateLimits => ({ ...NO_LIMITS, ...over });

function standingOf(one: Living, over: object = {}): Standing {
  const { keyHash, threshold } = admitInput();
  const { reply, refused, events } = one.ask({ type: "standing", keyHash, threshold, ...over });
  expect({ refused, events }).toEqual({ refused: undefined, events: undefined });
  return reply as Standing;
}

describe("what would refuse any request", () => {
  test.each([
    ["nothing", {}, undefined],
    ["Status", { profile: { status: false } }, "account_disabled"],
    ["Suspended", { profile: { suspended: true } }, "account_suspended"],
    ["a limit that is reached", { profile: { limits: limits({ rpm: 1 }) } }, "rpm_exceeded"],
    ["tokens", { profile: { limits: limits({ tpm: 100 }) } }, "tpm_exceeded"],
    ["a month's money", { profile: { hardLimit: usd(1) } }, "hard_limit_reached"],
    ["a day's money", { profile: { dailyLimit: usd(1) } }, "daily_limit_reached"],
    ["the balance", { credit: usd(1) }, "insufficient_balance"],
    ["not Root's balance", { profile: ROOT_PROFILE, credit: ZERO }, undefined],
    ["no address", { profile: { allowIps: ["10.0.0.1"] } }, undefined],
  ] as const)("%s", (_, born, code) => {
    const one = living(born);
    // One request of a dollar and a hundred tokens was charged before, where it was let in.
    if (one.admitted().toString() === "[object Object]")
      one.charge({ cost: usd(1), prompt: 50, completion: 50 });
    const before = copyOf(one.state);
    expect(standingOf(one).refusal?.code).toBe(code);
    expect(one.state).toEqual(before);
  });

  test("is the wrong key before all else, and then no limits are shown", () => {
    const one = living({ profile: { limits: limits({ rpm: 1 }) } });
    expect(standingOf(one, { keyHash: "b".repeat(64) })).toMatchObject({
      refusal: { code: "invalid_api_key" },
      limits: [],
    });
  });
});

describe("what counts", () => {
  test("is said of the account's limits and of every model in use, whatever its limits are", () => {
    const one = living({ profile: { limits: limits({ rpm: 5 }) } });
    one.charge({ id: "r0", model: "b", prompt: 30, completion: 10 });
    one.admit({ id: "r1", model: "a" });
    const { at, limits: rows, models } = standingOf(one);
    expect(at).toBe(NOON);
    expect(rows.map(({ name, used }) => [name, used])).toEqual([
      ["rpm", 2],
      ["balance", usd(1)],
    ]);
    expect(
      models.map(({ model, rows: of }) => [model, of.map(({ name, used }) => `${name} ${used}`)]),
    ).toEqual([
      ["a", ["rpm 1", "tpm 100", "rph 1", "tph 100", "rpd 1", "tpd 100"]],
      ["b", ["rpm 1", "tpm 40", "rph 1", "tph 40", "rpd 1", "tpd 40"]],
    ]);
  });

  test("of models is nothing when nothing was asked for", () => {
    expect(standingOf(living()).models).toEqual([]);
  });

  test("of models is said of two hundred of them", () => {
    const one = living({ credit: usd(1_000) });
    for (let i = 0; i < 250; i++) one.charge({ id: `r${i}`, model: `m${i}`, cost: ZERO });
    expect(standingOf(one).models).toHaveLength(200);
  });
});
