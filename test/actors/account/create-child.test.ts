// A child is what its parent makes of it: what it inherits, what its creator may ask for, and how many there may be.

import { describe, expect, test } from "bun:test";
import { account } from "../../../actors/account/account.ts";
import type { NewAccount } from "../../../actors/account/profile.ts";
import type { Account, AccountEvent } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { ZERO } from "../../../actors/money.ts";
import {
  CLOSED,
  createChild,
  done,
  type Living,
  living,
  NOON,
  newAccount,
  ROOT_PROFILE,
  usd,
} from "../account-samples.ts";

describe("a child", () => {
  const born = (parent: Living, over: Partial<NewAccount> = {}) => {
    const { events } = parent.ask(createChild({ child: newAccount(over), amount: ZERO }));
    const owing = events!.find((event) => event.type === "owing") as Extract<AccountEvent, { type: "owing" }>;
    return owing.transfer.child!;
  };

  const PARENT = { level: 3, role: 4, gear: 5, tier: 6, factor: 1.5, rates: 2, resources: ["/v1/audio/*"] };

  test("inherits Level, Role, Gear, Tier, Factor and Rates; nothing else", () => {
    const parent = living({
      profile: { ...PARENT, hardLimit: usd(1), xCredit: usd(2), userLimit: 9, allowIps: ["10.0.0.1"] },
    });
    expect(born(parent)).toMatchObject({
      ...{ level: 3, role: 4, gear: 5, tier: 6, factor: 1.5, rates: 2 },
      ...{ status: true, suspended: false, hardLimit: 0, xCredit: 0, userLimit: null },
      ...{ allowIps: [], allowModels: [], allowLevels: [], resources: [], modelMapper: {}, levelMapper: {} },
      ...{ alias: "eight", billingEmail: "eight@example.com", dna: ".1.2.7.", parent: 7 },
    });
  });

  test("of Root is an Owner and starts with the defaults", () => {
    const root = living({ profile: { ...ROOT_PROFILE, ...PARENT, rates: 1, resources: [] }, credit: ZERO });
    expect(born(root)).toMatchObject({
      level: 0,
      role: 0,
      gear: 1,
      tier: 0,
      factor: 1,
      rates: 1,
      dna: ".1.",
    });
  });

  test.each([
    ["Rates below the parent's", { rates: 1.99 }, "rate_below_parent"],
    ["the parent's Rates", { rates: 2 }, null],
    ["Resources that the parent's cover", { resources: ["/v1/audio/speech"] }, null],
    [
      "one resource that the parent lacks",
      { resources: ["/v1/audio/speech", "/v1/images/*"] },
      "resources_not_subset",
    ],
    ["a wider pattern than the parent's", { resources: ["/v1/*"] }, "resources_not_subset"],
  ])("%s", (_what, over, code) => {
    const parent = living({ profile: PARENT });
    expect(parent.ask(createChild({ child: newAccount(over) })).refused?.code ?? null).toBe<string | null>(
      code,
    );
  });

  test.each([
    ["a disabled parent", { status: false }, "account_disabled"],
    ["a suspended parent", { suspended: true }, "account_suspended"],
    ["a parent who may have none", { userLimit: 0 }, "user_limit_reached"],
    ["a parent without limit", { userLimit: null }, null],
  ])("%s", (_what, profile, code) => {
    expect(living({ profile }).ask(createChild()).refused?.code ?? null).toBe<string | null>(code);
  });

  test("UserLimit counts the direct children that were born", () => {
    const one = living({ profile: { userLimit: 2 } });
    for (const [i, code] of [undefined, undefined, "user_limit_reached"].entries()) {
      const child = newAccount({ id: (20 + i) as AccountId });
      expect(one.ask(createChild({ id: `X${i}`, child, amount: usd(1) })).refused?.code).toBe<
        string | undefined
      >(code);
    }
    one.ask(done("X0:in", CLOSED));
    expect(one.ask(createChild({ id: "X9" })).refused).toBeUndefined();
  });

  test("of nobody cannot be", () => {
    expect(decide(account.empty("9"), createChild()).refused?.code).toBe("user_not_found");
  });
});

function decide(state: Account, command: { type: string }, isDone = false) {
  return account.decide(state, command as never, { id: "t", from: "", now: NOON, epoch: 1, done: isDone });
}
