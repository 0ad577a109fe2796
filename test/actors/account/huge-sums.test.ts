// Sums beyond the largest exact amount: no charge is refused for them, and limits still refuse what exceeds them.

import { expect, test } from "bun:test";
import { account } from "../../../actors/account/account.ts";
import type { AccountId, ApiKeyId } from "../../../actors/ids.ts";
import { toNano, ZERO } from "../../../actors/money.ts";
import { CHARGE_MAX } from "../../../actors/pricing/cost.ts";
import { KEY, type Living, living, NOON, profileOf, ROOT_PROFILE, usd } from "../account-samples.ts";
import { added, callerOf, changed, secretOf } from "../api-key-samples.ts";

const MOST = toNano(Number.MAX_SAFE_INTEGER);
const TWELVE = Array.from({ length: 12 }, (_, i) => `r${i}`);

const root = (): Living => living({ profile: ROOT_PROFILE, credit: ZERO });
const linesOf = (one: Living) => one.events.filter(({ e }) => e.type === "charge").length;

/** Adds a named key of Root. */
const keyOfRoot = (one: Living): ApiKeyId =>
  added(one, {}, { by: callerOf({ account: profileOf(ROOT_PROFILE).id }), byHash: KEY });

test("twelve charges of the largest cost are twelve lines, and the sums of their month and day stop at the largest exact amount", () => {
  const one = root();
  const apiKey = keyOfRoot(one);
  for (const id of TWELVE) one.charge({ id, cost: CHARGE_MAX, apiKey, apiKeyName: "robot" });
  expect(linesOf(one)).toBe(12);
  expect(one.ask({ type: "read" }).reply).toMatchObject({
    ...{ balance: ZERO, creditUsed: 12e15, spentToday: MOST, spentThisMonth: MOST },
    month: { m: { requests: 12, cost: MOST } },
  });
  const [usage] = account.materialize(one.state).filter(({ table }) => table === "usage");
  expect(usage?.body).toMatchObject({ models: { m: { requests: 12, cost: MOST } } });
  const listed = one.ask({ type: "apiKeys" }).reply;
  expect(listed).toMatchObject({ keys: [{ costToday: MOST, costMonth: MOST, costTotal: 12e15 }] });
  one.now = Date.UTC(2026, 1, 1);
  one.charge({ id: "next month", cost: usd(1) });
  expect(one.ask({ type: "read" }).reply).toMatchObject({ spentToday: usd(1), spentThisMonth: usd(1) });
});

/** An account whose named key is charged twelve times the largest cost, and which is recharged after each. */
function recharged(softLimit = ZERO): Living {
  const balance = usd(8_000_000);
  const one = living({ credit: balance, profile: { softLimit } });
  const apiKey = added(one);
  for (const id of TWELVE) {
    one.charge({ id, cost: CHARGE_MAX, apiKey, apiKeyName: "robot" });
    one.fold({
      ...{ type: "transfer_in", id: `${id}:paid`, from: 2 as AccountId, amount: CHARGE_MAX },
      ...{ balanceAfter: balance, expiresAt: NOON + 1_000 },
    });
  }
  return one;
}

test("an account that is recharged is charged on, and its soft limit is mailed", () => {
  const one = recharged(usd(9_000_000));
  expect(linesOf(one)).toBe(12);
  const mailed = one.events.flatMap(({ e }) => (e.type === "soft_limit_reached" ? [e.spent] : []));
  expect(mailed).toEqual([usd(9_000_000)]);
});

test("a soft limit that is set later is mailed with the largest exact amount", () => {
  const one = recharged();
  one.fold({ type: "updated", change: { softLimit: usd(9_000_000) }, by: 2 as AccountId });
  expect(one.charge({ id: "last" }).events?.at(-1)).toMatchObject({
    type: "soft_limit_reached",
    spent: MOST,
  });
});

test("an account whose sums are beyond every limit is refused by its limit, also beside a hold", () => {
  const one = recharged();
  one.admit({ id: "held", cost: usd(2) });
  one.fold({ type: "updated", change: { hardLimit: usd(1) }, by: 2 as AccountId });
  expect(one.admitted({ id: "more", version: one.state.version })).toBe("hard_limit_reached");
});

test("a key whose sums are beyond every limit is refused by its limit, also beside fees", () => {
  const one = recharged();
  const apiKey = 1 as ApiKeyId;
  one.ask({ type: "fee", id: "F", amount: usd(0.01), apiKey });
  changed(one, apiKey, { hardLimit: usd(5) });
  expect(one.admitted({ id: "more", keyHash: secretOf() })).toBe("hard_limit_reached");
});

test("holds of the largest cost are all open, and what is held is exact again when enough of them have ended", () => {
  const one = root();
  const apiKey = keyOfRoot(one);
  for (const id of TWELVE) expect(one.admitted({ id, cost: CHARGE_MAX, keyHash: secretOf() })).toBeObject();
  expect(one.state.volatile.heldCost).toBe(MOST);
  const more = toNano(CHARGE_MAX + 5);
  expect(one.ask({ type: "renew", id: "r11", cost: more, tokens: 1 }).reply).toEqual({ held: true });
  for (const id of TWELVE.slice(0, 10)) one.charge({ id, cost: usd(1), apiKey, apiKeyName: "robot" });
  expect(one.state.volatile.heldCost).toBe(toNano(CHARGE_MAX + more));
  expect(one.state.volatile.keyHolds?.get(apiKey)?.cost).toBe(toNano(CHARGE_MAX + more));
  for (const id of TWELVE.slice(10)) one.ask({ type: "cancel", id, aborted: false });
  expect(one.state.volatile.heldCost).toBe(ZERO);
});
