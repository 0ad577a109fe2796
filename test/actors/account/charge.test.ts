// How a request ends: charged, cancelled or expired. One charge is one line, however often it is sent; months and days
// roll over by UTC; and what every line says of the balance is what the credit says.

import { describe, expect, test } from "bun:test";
import { account } from "../../../actors/account/account.ts";
import type { AccountEvent } from "../../../actors/account/state.ts";
import type { AccountRecord } from "../../../actors/account/views.ts";
import type { AccountId, ApiKeyId } from "../../../actors/ids.ts";
import { type Nano, ZERO } from "../../../actors/money.ts";
import { NO_USAGE } from "../../../actors/pricing/usage.ts";
import { NO_LIMITS } from "../../../actors/rate-window.ts";
import { factsOf, KEY, type Living, living, NOON, ROOT_PROFILE, usd } from "../account-samples.ts";

const recordOf = (one: Living): AccountRecord => one.ask({ type: "read" }).reply as AccountRecord;

describe("a charge", () => {
  test("releases its hold and takes what was used", () => {
    const one = living();
    one.admit({ cost: usd(3) });
    one.charge({ cost: usd(0.5) });
    expect(recordOf(one)).toMatchObject({ balance: usd(99.5), held: ZERO, creditUsed: usd(0.5) });
    expect(one.state.volatile.holds.size).toBe(0);
  });

  test("is one line with everything it was computed from", () => {
    const one = living();
    const facts = factsOf({ price: { InputText: 1 }, priceVersion: 3, basis: "partial", stream: true });
    expect(one.charge(facts).events).toEqual([
      { type: "charge", ...facts, amount: usd(-0.5), balanceAfter: usd(99.5) },
    ]);
  });

  test("names its API key, its tags and what it cost at the provider; none of them changes the account", () => {
    const fields = { apiKey: 7 as ApiKeyId, apiKeyName: "night", tags: { env: "prod" }, costIn: usd(0.3) };
    const [one, plain] = [living(), living()];
    expect(one.charge(fields).events).toEqual([
      { type: "charge", ...factsOf(fields), amount: usd(-0.5), balanceAfter: usd(99.5) },
    ]);
    plain.charge();
    expect(account.freeze(one.state)).toEqual(account.freeze(plain.state));
    expect(account.materialize(one.state)).toEqual(account.materialize(plain.state));
  });

  test("that already stands in the ledger writes nothing, and still frees the hold", () => {
    const one = living();
    one.admit();
    expect(one.ask({ type: "charge", ...factsOf() }, { done: true })).toEqual({ reply: {} });
    expect(one.state.volatile.heldCost).toBe(ZERO);
  });

  test("is marked by its own id, and found by the client's as well", () => {
    const mark = (over: object) =>
      account.dedupIds({ type: "charge", amount: ZERO, balanceAfter: ZERO, ...factsOf(over) });
    expect(mark({ id: "r1", request: "r1" })).toEqual(["r1"]);
    expect(mark({ id: "r1", request: "mine" })).toEqual(["r1", "request:mine"]);
    expect(account.dedupIdOf({ type: "charge", ...factsOf() })).toBe("r1");
  });

  test("is never refused: not for want of credit, of a hold, or of a good standing", () => {
    const one = living({
      credit: usd(0.1),
      profile: { status: false, suspended: true, hardLimit: usd(0.1) },
    });
    expect(one.charge({ cost: usd(5) }).refused).toBeUndefined();
    expect(recordOf(one).balance).toBe(usd(-4.9));
  });

  test("of nobody's account is refused", () => {
    const one = living();
    one.state.profile = null;
    expect(one.charge().refused?.code).toBe("user_not_found");
  });

  test("of Root comes with a grant of the same amount, so that its balance stays 0", () => {
    const one = living({ profile: ROOT_PROFILE, credit: ZERO });
    expect(one.charge({ cost: usd(2) }).events).toMatchObject([
      { type: "grant", id: "r1:grant", amount: usd(2), balanceAfter: usd(2) },
      { type: "charge", amount: usd(-2), balanceAfter: ZERO },
    ]);
    expect(one.charge({ id: "free", cost: ZERO }).events).toHaveLength(1);
    expect(one.state).toMatchObject({ minted: usd(2), credit: { entries: [], owed: ZERO } });
  });

  test("takes the credit that expires first", () => {
    const one = living({
      credit: [
        { amount: usd(5), expiresAt: NOON + 9_000 },
        { amount: usd(5), expiresAt: NOON + 5_000 },
      ],
    });
    one.charge({ cost: usd(6) });
    expect(recordOf(one).credits).toEqual([{ amount: usd(4), expiresAt: NOON + 9_000 }]);
  });

  describe("of an account whose credit expires meanwhile", () => {
    const LATER = NOON + 86_400_000;
    const expiring = () =>
      living({
        credit: [
          { amount: usd(5), expiresAt: NOON + 1_000 },
          { amount: usd(5), expiresAt: LATER },
        ],
      });

    test("takes none of what had expired before its request was admitted", () => {
      const one = expiring();
      one.now = NOON + 2_000;
      one.admit({ id: "r1", cost: usd(1) });
      expect(one.charge({ id: "r1", cost: usd(1), admittedAt: one.now }).events).toMatchObject([
        {
          type: "expire",
          amount: usd(-5),
          balanceAfter: usd(5),
          parts: [{ amount: usd(5), expiresAt: NOON + 1_000 }],
        },
        { type: "charge", balanceAfter: usd(4) },
      ]);
      expect(one.state.credit.entries).toEqual([{ amount: usd(4), expiresAt: LATER }]);
    });

    test.each([["with its hold"], ["though its hold is lost"]])(
      "takes what was valid when its request was admitted, %s",
      (how) => {
        const one = expiring();
        if (how === "with its hold") one.admit({ id: "r1", cost: usd(1) });
        one.now = NOON + 2_000;
        const { events } = one.charge({ id: "r1", cost: usd(2), admittedAt: NOON });
        expect(events).toMatchObject([
          { type: "expire", amount: usd(-3), balanceAfter: usd(7) },
          { type: "charge", balanceAfter: usd(5) },
        ]);
        expect(one.state.credit.entries).toEqual([{ amount: usd(5), expiresAt: LATER }]);
      },
    );

    test("leaves what another request still needs", () => {
      const one = expiring();
      one.admit({ id: "a", cost: usd(3) });
      one.now = NOON + 2_000;
      one.admit({ id: "b", cost: usd(1) });
      expect(one.charge({ id: "b", cost: usd(1), admittedAt: one.now }).events).toMatchObject([
        { type: "expire", amount: usd(-2), balanceAfter: usd(8) },
        { type: "charge", balanceAfter: usd(7) },
      ]);
    });
  });
});

describe("a cancellation", () => {
  test("frees the hold, costs nothing, and the request counts", () => {
    const one = living({ profile: { limits: { ...NO_LIMITS, rpm: 2, tpm: 200 } } });
    one.admit({ id: "a" });
    const { events } = one.ask({ type: "cancel", id: "a", aborted: false });
    expect(events).toEqual([{ type: "released", id: "a", model: "m", admittedAt: NOON }]);
    expect(recordOf(one)).toMatchObject({ balance: usd(100), held: ZERO });
    expect(one.admitted({ id: "b", promptTokens: 0, outputTokens: 200 })).toMatchObject({ tokens: 200 });
    expect(one.admitted({ id: "c", promptTokens: 0, outputTokens: 0 })).toBe("rpm_exceeded");
  });

  test("of what is not held does nothing", () => {
    const one = living();
    one.admit({ id: "a" });
    one.charge({ id: "a" });
    expect(one.ask({ type: "cancel", id: "a", aborted: true })).toEqual({ reply: {} });
    expect(account.dedupIdOf({ type: "cancel", id: "a", aborted: true })).toBe("a:released");
    expect(account.dedupIds({ type: "released", id: "a", model: "m", admittedAt: 0 })).toEqual([
      "a:released",
    ]);
  });

  test("more than 20 free aborts a minute refuse the account for a while", () => {
    const one = living();
    const abort = (id: string) => {
      expect(one.admitted({ id })).toMatchObject({ cost: usd(1) });
      one.ask({ type: "cancel", id, aborted: true });
    };
    for (let i = 0; i < 21; i++) abort(`r${i}`);
    expect(one.admitted({ id: "more" })).toBe("too_many_aborts");
    expect(one.admitted({ id: "more", keyHash: "x" })).toBe("invalid_api_key");
    expect(one.admitted({ id: "more", routing: { code: "model_not_found", message: "" } })).toBe(
      "model_not_found",
    );
    one.now += 61_000;
    abort("later");
  });

  test("requests that failed for other reasons are no aborts", () => {
    const one = living();
    for (let i = 0; i < 30; i++) {
      one.admit({ id: `r${i}` });
      one.ask({ type: "cancel", id: `r${i}`, aborted: false });
    }
    expect(one.admitted({ id: "more" })).toMatchObject({ cost: usd(1) });
  });
});

describe("months and days", () => {
  /** Spending before a moment that no longer counts after it. */
  test.each([
    ["midnight", "2026-01-15T23:59:59.999Z", "2026-01-16T00:00:00Z", [0.5, 1]],
    ["the end of a month", "2026-01-31T23:59:59.999Z", "2026-02-01T00:00:00Z", [0.5, 0.5]],
    ["the end of February", "2026-02-28T23:59:59.999Z", "2026-03-01T00:00:00Z", [0.5, 0.5]],
    ["into the leap day", "2028-02-28T23:59:59.999Z", "2028-02-29T00:00:00Z", [0.5, 1]],
    ["out of the leap day", "2028-02-29T23:59:59.999Z", "2028-03-01T00:00:00Z", [0.5, 0.5]],
    ["the end of a year", "2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00Z", [0.5, 0.5]],
    ["the same day a year later", "2026-01-15T12:00:00Z", "2027-01-15T12:00:00Z", [0.5, 0.5]],
    ["the same day a month later", "2026-01-15T12:00:00Z", "2026-02-15T12:00:00Z", [0.5, 0.5]],
    ["an hour on the same day", "2026-01-15T12:00:00Z", "2026-01-15T13:00:00Z", [1, 1]],
  ])("%s", (_when, before, after, [day, month]) => {
    const one = living({
      now: Date.parse(before),
      credit: [{ amount: usd(9), expiresAt: Date.UTC(2099, 0) }],
    });
    one.charge({ id: "a" });
    one.now = Date.parse(after);
    one.charge({ id: "b" });
    const record = recordOf(one);
    expect([record.spentToday, record.spentThisMonth]).toEqual([usd(day!), usd(month!)]);
    expect(record.today.m?.requests).toBe(day === 1 ? 2 : 1);
    expect(record.month.m?.requests).toBe(month === 1 ? 2 : 1);
  });

  test("nothing was spent yet today when the last charge was yesterday's", () => {
    const one = living();
    one.charge();
    one.now += 86_400_000;
    expect(recordOf(one)).toMatchObject({ spentToday: ZERO, spentThisMonth: usd(0.5), today: {} });
    one.now = Date.UTC(2026, 1, 1);
    expect(recordOf(one)).toMatchObject({ spentToday: ZERO, spentThisMonth: ZERO, month: {} });
  });

  test("a DailyLimit that was reached opens at midnight UTC, a HardLimit with the month", () => {
    const one = living({ profile: { dailyLimit: usd(1), hardLimit: usd(1.5) } });
    one.charge({ id: "a", cost: usd(1) });
    expect(one.admitted({ id: "b" })).toBe("daily_limit_reached");
    one.now = Date.UTC(2026, 0, 16) - 1;
    expect(one.admitted({ id: "b" })).toBe("daily_limit_reached");
    one.now += 1;
    expect(one.admitted({ id: "b" })).toMatchObject({ cost: usd(0.5) });
    one.charge({ id: "b", cost: usd(0.5) });
    expect(one.admitted({ id: "c" })).toBe("hard_limit_reached");
    one.now = Date.UTC(2026, 1, 1);
    expect(one.admitted({ id: "c" })).toMatchObject({ cost: usd(1) });
  });

  test("totals add up every kind of token", () => {
    const one = living();
    const usage = {
      ...NO_USAGE,
      inText: 1,
      inCached: 2,
      inCacheWrite: 3,
      inCacheWrite1h: 4,
      outText: 5,
      outReason: 6,
    };
    for (const id of ["a", "b"]) one.charge({ id, usage, prompt: 10, completion: 11 });
    expect(recordOf(one).today).toEqual({
      m: { requests: 2, prompt: 20, completion: 22, cached: 4, cacheWrite: 14, reasoning: 12, cost: usd(1) },
    });
  });
});

describe("the fold", () => {
  const line = { id: "x", amount: usd(1), balanceAfter: usd(1) };
  const WRONG: readonly (readonly [string, AccountEvent])[] = [
    ["a grant", { type: "grant", from: 1 as AccountId, expiresAt: NOON + 1, ...line }],
    ["a charge", { type: "charge", ...factsOf(), amount: usd(-0.5), balanceAfter: usd(99) }],
    [
      "a charge of an entry that is not there",
      {
        ...{ type: "charge", ...factsOf(), amount: usd(-0.5), balanceAfter: usd(99.5) },
        taken: [{ amount: usd(0.5), expiresAt: NOON }],
      },
    ],
    ["an expiry", { type: "expire", id: "x", amount: ZERO, balanceAfter: usd(99) }],
    ["more expiry than is due", { type: "expire", id: "x", amount: usd(-1), balanceAfter: usd(99) }],
    ["a return of what is not owed", { type: "returned", why: "", ...line }],
    ["a second birth", { type: "created", profile: living().state.profile! }],
  ];

  test.each(WRONG)("refuses %s that does not agree with the book", (_what, event) => {
    const one = living();
    expect(() => account.evolve(one.state, event, NOON)).toThrow();
  });

  test("credit leaves by a line once it is due, once, and not while a hold needs it", () => {
    const one = living({ credit: [{ amount: usd(10), expiresAt: NOON + 5_000 }] });
    one.admit({ cost: usd(4) });
    one.now += 5_000;
    one.ask({ type: "expireCredit" });
    expect(recordOf(one)).toMatchObject({ balance: usd(4), held: usd(4) });
    one.charge({ cost: usd(3) });
    expect(recordOf(one).balance).toBe(ZERO);
    one.ask({ type: "expireCredit" }, { id: "second" });
    expect(one.ask({ type: "expireCredit" }).events).toEqual([]);
    const amounts = one.events.flatMap(({ e }) => (e.type === "expire" ? [e.amount] : []));
    expect(amounts).toEqual([usd(-6), usd(-1)]);
    expect(account.idle(one.state)).toBe(true);
  });
});

describe("the founding of Root", () => {
  test("makes account 1, once", () => {
    const one = living();
    one.state = account.empty("1");
    expect(one.ask({ type: "createRoot", keyHash: KEY }).reply).toEqual({ founded: true });
    expect(one.state.profile).toMatchObject({ id: 1, name: "root", parent: null, dna: ".", gear: 0 });
    expect(one.ask({ type: "createRoot", keyHash: "other" })).toEqual({ reply: { founded: false } });
    expect(one.admitted({ cost: 1 as Nano })).toEqual({ cost: 1 as Nano, tokens: 100 });
  });
});
