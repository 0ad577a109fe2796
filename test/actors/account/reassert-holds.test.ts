// Holds reasserted to an account that has lost them: they count as they did, once, and never after their end.

import { describe, expect, test } from "bun:test";
import { type AccountCommand, account } from "../../../actors/account/account.ts";
import { heldWindows } from "../../../actors/account/held-windows.ts";
import { HOLD_TTL_MS, HOLDS_MAX } from "../../../actors/account/holds.ts";
import type { Hold } from "../../../actors/account/state.ts";
import { MAIN_API_KEY } from "../../../actors/ids.ts";
import { ZERO } from "../../../actors/money.ts";
import { freezeWindows, NO_LIMITS, type RateWindows } from "../../../actors/rate-window.ts";
import { factsOf, type Living, living, NOON, usd } from "../account-samples.ts";

/** The open holds of an account, as the nodes that took them reassert them. */
const holdsOf = ({ state, now }: Living): Hold[] =>
  [...state.volatile.holds.values()].map((hold) => ({ ...hold, expiresAt: now + HOLD_TTL_MS }));

const reassert = (one: Living, holds: readonly Hold[], ended: readonly string[] = []) =>
  one.ask({ type: "reassertHolds", holds, ended });

/** The same account after a takeover: its ledger, and nothing else. */
function movedFrom(before: Living): Living {
  const after = living({ credit: ZERO, now: before.now });
  after.state = account.empty("7");
  for (const { e, at } of before.events) account.evolve(after.state, e, at);
  return after;
}

const hold = (over: Partial<Hold> = {}): Hold => ({
  ...{ id: "r1", model: "m", idempotency: null, cost: usd(1), tokens: 100 },
  ...{ apiKey: MAIN_API_KEY, admittedAt: NOON, takenAt: NOON, expiresAt: NOON + HOLD_TTL_MS, holder: "n1" },
  ...over,
});

/** What windows count, in the order of time: holds are reasserted in any order. */
const steps = (windows: RateWindows) =>
  Object.entries(freezeWindows(windows)).map(([span, rows]) => [span, rows.sort(([a], [b]) => a - b)]);
const openIds = (one: Living): string[] => [...one.state.volatile.holds.keys()];

describe("reasserted holds", () => {
  test("count as they did: money, requests, tokens, and each model's, where they stood", () => {
    const before = living({ credit: usd(10) });
    before.admit({ id: "a" });
    before.now += 20_000;
    before.admit({ id: "b", model: "n", modelLimits: { ...NO_LIMITS, rpm: 10 } });
    before.now += 5_000;
    before.admit({ id: "a", model: "n" });
    const after = movedFrom(before);
    expect(after.state.volatile.heldCost).toBe(ZERO);
    reassert(after, holdsOf(before));
    const { holds, heldCost } = after.state.volatile;
    const held = heldWindows(after.state, after.now);
    const heldBefore = heldWindows(before.state, before.now);
    expect([...holds.keys()].sort()).toEqual(["a", "b"]);
    expect(heldCost).toBe(before.state.volatile.heldCost);
    expect(steps(held.account)).toEqual(steps(heldBefore.account));
    expect([...held.models.keys()]).toEqual(["n"]);
    expect(steps(held.models.get("n")!)).toEqual(steps(heldBefore.models.get("n")!));
  });

  test("refuse requests beside them, as they did", () => {
    const before = living({ credit: usd(10), profile: { limits: { ...NO_LIMITS, rpm: 2, tpm: 250 } } });
    before.admit({ id: "a", cost: usd(6) });
    const after = movedFrom(before);
    reassert(after, holdsOf(before));
    expect(after.admitted({ id: "b", cost: usd(5) })).toBe("insufficient_balance");
    expect(after.admitted({ id: "b", cost: usd(1), outputTokens: 241 })).toBe("tpm_exceeded");
    after.admit({ id: "b" });
    expect(after.admitted({ id: "c" })).toBe("rpm_exceeded");
  });

  test("are not judged: more may be reasserted than there is", () => {
    const one = living({ credit: usd(1) });
    reassert(one, [hold({ id: "a", cost: usd(5) }), hold({ id: "b", cost: usd(5) })]);
    expect(one.state.volatile.heldCost).toBe(usd(10));
    expect(one.admitted({ id: "c" })).toBe("insufficient_balance");
  });

  test("write nothing and wait for nothing", () => {
    const { events, ungated, reply } = reassert(living(), [hold()]);
    expect([events, ungated, reply]).toEqual([undefined, true, { dropped: 0 }]);
  });

  test("bring their keys along: a repeat is held back", () => {
    const one = living();
    const idempotency = { key: "k".repeat(64), body: "b".repeat(64) };
    reassert(one, [hold({ idempotency })]);
    expect(one.admitted({ id: "again", idempotency })).toBe("repeat_running");
  });

  test("end with their charge, which knows when its model was taken", () => {
    const one = living();
    one.now = NOON + 9_000;
    reassert(one, [hold({ takenAt: NOON + 5_000 })]);
    one.ask({ type: "charge", ...factsOf({ admittedAt: NOON }) });
    expect(one.state.volatile.heldCost).toBe(ZERO);
    expect(one.events.at(-1)!.e).toMatchObject({ type: "charge", takenAt: NOON + 5_000 });
  });

  test("end with their cancellation, and count all the same", () => {
    const one = living();
    reassert(one, [hold()]);
    one.ask({ type: "cancel", id: "r1", aborted: false });
    expect([openIds(one), one.events.at(-1)!.e.type]).toEqual([[], "released"]);
  });
});

describe("a hold reasserted twice", () => {
  test("counts once, and lives longer", () => {
    const one = living();
    reassert(one, [hold()]);
    one.now += 60_000;
    reassert(one, [hold({ expiresAt: one.now + HOLD_TTL_MS })]);
    expect(one.state.volatile.heldCost).toBe(usd(1));
    one.now += HOLD_TTL_MS - 1;
    one.ask({ type: "read" });
    expect(openIds(one)).toEqual(["r1"]);
  });

  test("grows with its request, and never shrinks", () => {
    const one = living();
    reassert(one, [hold({ cost: usd(3), tokens: 300 })]);
    reassert(one, [hold({ cost: usd(2), tokens: 200 })]);
    expect(one.state.volatile.holds.get("r1")).toMatchObject({ cost: usd(3), tokens: 300 });
  });

  test("stays as the request took it anew meanwhile", () => {
    const one = living();
    one.now = NOON + 5_000;
    one.admit({ id: "r1", model: "n", cost: usd(2) });
    reassert(one, [hold({ cost: usd(9) })]);
    expect(one.state.volatile.holds.get("r1")).toMatchObject({ model: "n", cost: usd(2) });
  });
});

describe("a hold is not opened again", () => {
  const ends: Record<string, (one: Living) => unknown> = {
    "after the charge": (one) => one.charge(),
    "after the cancellation": (one) => one.ask({ type: "cancel", id: "r1", aborted: false }),
    "after a charge that was done before": (one) => one.ask({ type: "charge", ...factsOf() }, { done: true }),
    "after word that it is over": (one) => reassert(one, [], ["r1"]),
  };
  test.each(Object.entries(ends))("%s", (_when, end) => {
    const one = living();
    end(one);
    const lines = one.events.length;
    reassert(one, [hold()]);
    expect([openIds(one), one.events.length]).toEqual([[], lines]);
  });

  test("when it would be over by itself", () => {
    const one = living();
    reassert(one, [hold({ expiresAt: NOON })]);
    expect(openIds(one)).toEqual([]);
  });

  test("beyond the bound, which the answer says", () => {
    const one = living({ credit: usd(1) });
    const many = Array.from({ length: 2 * HOLDS_MAX + 3 }, (_, i) => hold({ id: `r${i}`, cost: ZERO }));
    expect(reassert(one, many).reply).toEqual({ dropped: 3 });
    expect(one.state.volatile.holds.size).toBe(2 * HOLDS_MAX);
  });

  test("by an account that is nobody's, or has given its credit away", () => {
    const nobody = living();
    nobody.state = account.empty("7");
    expect(reassert(nobody, [hold()]).refused?.code).toBe("user_not_found");
    const one = living();
    one.ask({ type: "close", id: "c", bornAt: NOON, by: one.state.id, recursive: false });
    reassert(one, [hold()]);
    expect(openIds(one)).toEqual(["r1"]);
    reassert(one, [], ["r1"]);
    one.ask({ type: "settleClosing", id: "s", bornAt: NOON });
    expect(reassert(one, [hold({ id: "r2" })]).refused?.code).toBe("user_not_found");
  });
});

test("word that a request is over frees its hold and leaves no trace", () => {
  const one = living();
  reassert(one, [hold(), hold({ id: "r2" })]);
  const lines = one.events.length;
  reassert(one, [], ["r1"]);
  expect([openIds(one), one.state.volatile.heldCost, one.events.length]).toEqual([["r2"], usd(1), lines]);
});

test("an admission that comes after its request was given up takes no hold", () => {
  const one = living();
  one.ask({ type: "cancel", id: "r1", aborted: false });
  expect(one.admitted()).toBe("service_unavailable");
  expect(openIds(one)).toEqual([]);
});

test("a charge remembers its request as ended, unless nothing that opens its hold can follow", () => {
  const one = living();
  for (const id of ["r1", "r2"]) one.admit({ id });
  one.charge({ id: "r1" });
  one.charge({ id: "r2", isLast: true });
  expect(one.state.volatile.ended?.all()).toEqual(["r1"]);
  expect(openIds(one)).toEqual([]);
  expect(one.events.flatMap(({ e }) => Object.keys(e))).not.toContain("isLast");
});

test("requests that ended are remembered for a minute, and ten thousand of them", () => {
  const one = living();
  for (let i = 0; i <= 10_000; i++) one.ask({ type: "cancel", id: `r${i}`, aborted: false });
  expect([one.state.volatile.ended?.size, one.state.volatile.ended?.has("r0")]).toEqual([10_000, false]);
  one.now += 60_000;
  one.ask({ type: "cancel", id: "last", aborted: false });
  expect(one.state.volatile.ended?.all()).toEqual(["last"]);
});

describe("before holds are reasserted", () => {
  /** What would give away what is held, or would end without it. */
  const WAIT = ["admit", "admitDryRun", "cancel", "createChild", "startTransfer", "startRefund", "fee"];
  const wait = [...WAIT, "expireCredit", "settleClosing"];
  const go = [
    "charge",
    "renew",
    "reassertHolds",
    "identify",
    "profile",
    "read",
    "unfinishedWork",
    "receiveCredit",
    "close",
  ];

  test.each(wait)("%s waits", (type) => {
    expect(account.reliesOnHolds({ type } as AccountCommand)).toBe(true);
  });
  test.each([...go, "effectDone", "update", "rotate", "topUp", "endClosing"])("%s does not", (type) => {
    expect(account.reliesOnHolds({ type } as AccountCommand)).toBe(false);
  });
});
