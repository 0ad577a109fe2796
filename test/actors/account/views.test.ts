// What an account shows and keeps: documents in absolute values, days that are let go once written, and a frozen form
// from which it goes on as if nothing had happened.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { account } from "../../../actors/account/account.ts";
import { NO_LIST } from "../../../actors/account/compact-profile.ts";
import type { AccountEvent, Transfer } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { type Nano, ZERO } from "../../../actors/money.ts";
import { NO_LIMITS } from "../../../actors/rate-window.ts";
import { DAY, factsOf, KEY, type Living, living, NOON, usd } from "../account-samples.ts";

const documents = (one: Living, table: string) =>
  account.materialize(one.state).filter((document) => document.table === table);

describe("documents", () => {
  test("of an account show who it is and what it has, without its key", () => {
    const one = living();
    one.charge();
    const { id, body } = documents(one, "accounts")[0]!;
    expect(id).toBe("7");
    const due = { dueAt: NOON + 180 * DAY, creditExpiresAt: NOON + 180 * DAY };
    expect(body).toMatchObject({ id: 7, dna: ".1.2.", nameLower: "seven", ...due });
    expect(JSON.stringify(body)).not.toContain(KEY);
  });

  test("of usage are absolute: the whole day so far, each time", () => {
    const one = living();
    one.charge({ id: "a" });
    expect(documents(one, "usage")).toMatchObject([
      {
        id: "7/2026-01-15",
        body: { account: 7, day: "2026-01-15", models: { m: { requests: 1, cost: usd(0.5) } } },
      },
    ]);
    one.charge({ id: "b" });
    expect(documents(one, "usage")).toMatchObject([
      { body: { models: { m: { requests: 2, cost: usd(1) } } } },
    ]);
  });

  test("come only when something changed, the account's last", () => {
    const one = living();
    one.charge();
    expect(account.materialize(one.state).map(({ table }) => table)).toEqual(["usage", "accounts"]);
    expect(account.materialize(one.state)).toEqual([]);
  });

  test("do not change when the account does", () => {
    const one = living();
    one.charge({ id: "a" });
    const taken = documents(one, "usage");
    const text = JSON.stringify(taken);
    one.charge({ id: "b" });
    expect(JSON.stringify(taken)).toBe(text);
  });

  test("of days gone by are written once more and then let go, so that state stays small", () => {
    const one = living();
    for (let day = 0; day < 5; day++) {
      one.charge({ id: `d${day}` });
      one.now += DAY;
    }
    expect(documents(one, "usage").map(({ id }) => id)).toEqual(
      [15, 16, 17, 18, 19].map((day) => `7/2026-01-${day}`),
    );
    expect([...one.state.usage.keys()]).toEqual(["2026-01-19"]);
  });

  test("of nobody are none", () => {
    expect(account.materialize(account.empty("9"))).toEqual([]);
  });
});

describe("a frozen account", () => {
  /** Anything that changes durable state, as events at times that never fall. */
  const step = fc.record({
    act: fc.constantFrom("charge", "release", "grant", "out", "settle", "return", "expire"),
    amount: fc.integer({ min: 0, max: 1_000 }),
    model: fc.constantFrom("m", "n", "a model", "__proto__"),
    waitMs: fc.constantFrom(0, 1, 999, 30_000, 3_600_000, DAY, 40 * DAY),
  });
  type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

  function play(one: Living, { act, amount, model, waitMs }: Step, n: number): void {
    one.now += waitMs;
    const id = `s${n}`;
    const book = (more: number) => {
      const { entries, owed } = one.state.credit;
      return (entries.reduce((sum, entry) => sum + entry.amount, 0) - owed + more) as Nano;
    };
    const due = one.state.credit.entries.filter(({ expiresAt }) => expiresAt <= one.now);
    const dueSum = due.reduce((sum, entry) => sum + entry.amount, 0);
    const [owed] = one.state.owing;
    const transfer: Transfer = {
      id,
      to: 9 as AccountId,
      amount: ZERO,
      expiresAt: one.now + DAY,
      kind: "transfer_in",
      taken: [],
      child: amount % 2 === 0 ? one.state.profile : null,
      bornAt: one.now,
    };
    const line = (amount: number) => ({ id, amount: amount as Nano, balanceAfter: book(amount) });
    const events: Record<Step["act"], AccountEvent | null> = {
      charge: {
        type: "charge",
        ...factsOf({ id, model, cost: amount as Nano, admittedAt: one.now }),
        ...line(-amount),
      },
      release: { type: "released", id, model, admittedAt: one.now - (amount % 5) * 10_000 },
      grant: {
        type: "grant",
        from: 1 as AccountId,
        expiresAt: one.now + amount * 3_600_000,
        ...line(amount),
      },
      out: { type: "owing", transfer },
      settle: owed === undefined ? null : { type: "settled", id: owed.id },
      return: owed === undefined ? null : { type: "returned", why: "", ...line(0), id: owed.id },
      expire: { type: "expire", ...line(-dueSum) },
    };
    if (events[act] !== null) one.fold(events[act]);
  }

  /** As a store does it. */
  const frozen = (one: Living): unknown => JSON.parse(JSON.stringify(account.freeze(one.state)));

  test("thaws to the lists that all accounts share, where it has none of its own", () => {
    const { state } = living();
    const { owing, declined, leaving, alerts } = account.thaw(
      "7",
      JSON.parse(JSON.stringify(account.freeze(state))),
    );
    for (const list of [owing, declined, leaving, alerts]) expect(list).toBe(NO_LIST);
  });

  test("thaws to the same, and goes on to the same", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), fc.array(step, { maxLength: 10 }), (before, after) => {
        const one = living({ profile: { userLimit: null } });
        for (const [n, each] of before.entries()) play(one, each, n);
        const taken = account.freeze(one.state);
        const text = JSON.stringify(taken);
        const [other, third] = [living(), living()];
        other.state = account.thaw("7", JSON.parse(text));
        third.state = account.thaw("7", taken);
        for (const copy of [other, third]) copy.now = one.now;
        expect(frozen(other)).toEqual(frozen(one));
        for (const [n, each] of after.entries()) {
          play(one, each, 100 + n);
          play(other, each, 100 + n);
          play(third, each, 100 + n);
        }
        expect(JSON.stringify(taken)).toBe(text);
        expect(frozen(other)).toEqual(frozen(one));
        expect(other.ask({ type: "read" })).toEqual(one.ask({ type: "read" }));
      }),
      { numRuns: 150 },
    );
  });

  test("does not change with the living one", () => {
    const one = living();
    one.charge({ id: "a" });
    const taken = account.freeze(one.state);
    const text = JSON.stringify(taken);
    one.charge({ id: "b" });
    expect(JSON.stringify(taken)).toBe(text);
    const thawed = account.thaw("7", taken);
    account.evolve(thawed, { type: "released", id: "c", model: "m", admittedAt: NOON }, NOON);
    expect(JSON.stringify(taken)).toBe(text);
  });

  test("has one empty list and map with all other profiles, and its own where it has entries", () => {
    const profile = { modelMapper: { a: "b" }, allowIps: ["192.0.2.0/24"] };
    const [one, other] = [living(), living({ profile })].map(({ state }) =>
      account.thaw("7", JSON.parse(JSON.stringify(account.freeze(state)))),
    );
    const empty = [one?.profile?.allowModels, one?.profile?.levelMapper, one?.profile?.limits];
    expect(empty).toEqual([[], {}, NO_LIMITS]);
    for (const shared of ["allowModels", "levelMapper", "limits"] as const) {
      expect(one?.profile?.[shared]).toBe(other!.profile![shared]);
    }
    expect(other?.profile).toMatchObject(profile);
  });

  test("keeps windows and limits: what was counted before still counts after", () => {
    const one = living({ profile: { limits: { ...NO_LIMITS, rpm: 3 } } });
    for (const id of ["a", "b"]) one.charge({ id });
    one.state = account.thaw("7", frozen(one));
    expect(one.admitted({ id: "c" })).toMatchObject({ cost: usd(1) });
    expect(one.admitted({ id: "d" })).toBe("rpm_exceeded");
  });

  test("holds no hold: those are rebuilt from traffic", () => {
    const one = living();
    one.admit();
    one.state = account.thaw("7", frozen(one));
    expect(account.idle(one.state)).toBe(true);
    expect(one.ask({ type: "read" }).reply).toMatchObject({ held: ZERO });
  });
});
