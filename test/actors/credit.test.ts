// Prepaid credit against a slow oracle that keeps every nano-dollar apart: earliest expiry first, debts before credit,
// and what is due leaves only where no hold stands on it.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  availableAt,
  balanceAt,
  bookBalance,
  type Credit,
  expirable,
  expirableParts,
  expire,
  grant,
  type HeldCredit,
  nextExpiry,
  noCredit,
  pay,
  spend,
  spendingBreakdown,
} from "../../actors/credit.ts";
import { type Nano, ZERO } from "../../actors/money.ts";

const nano = (amount: number) => amount as Nano;
const creditOf = (entries: readonly (readonly [number, number])[], owed = 0): Credit => ({
  entries: entries.map(([amount, expiresAt]) => ({ amount: nano(amount), expiresAt })),
  owed: nano(owed),
});
const rows = (credit: Credit) => credit.entries.map(({ amount, expiresAt }) => [amount, expiresAt]);

describe("credit", () => {
  test("that expires first is spent first, whatever order it came in", () => {
    const credit = noCredit();
    for (const [amount, expiresAt] of [
      [5, 300],
      [5, 100],
      [5, 200],
    ] as const)
      grant(credit, { amount: nano(amount), expiresAt });
    expect(spend(credit, nano(7))).toEqual(
      creditOf([
        [5, 100],
        [2, 200],
      ]).entries,
    );
    expect(rows(credit)).toEqual([
      [3, 200],
      [5, 300],
    ]);
    expect(nextExpiry(credit)).toBe(200);
  });

  test("spent beyond the entries is a debt, and a grant pays that first", () => {
    const credit = creditOf([[5, 100]]);
    expect(spend(credit, nano(8))).toEqual(creditOf([[5, 100]]).entries);
    expect([credit.owed, bookBalance(credit), nextExpiry(credit)]).toEqual([nano(3), nano(-3), null]);
    grant(credit, { amount: nano(2), expiresAt: 500 });
    expect([credit.owed, rows(credit)]).toEqual([nano(1), []]);
    grant(credit, { amount: nano(4), expiresAt: 500 });
    expect([credit.owed, rows(credit)]).toEqual([ZERO, [[3, 500]]]);
  });

  test("with the same expiry is one entry", () => {
    const credit = creditOf([
      [1, 100],
      [1, 200],
    ]);
    grant(credit, { amount: nano(4), expiresAt: 100 });
    expect(rows(credit)).toEqual([
      [5, 100],
      [1, 200],
    ]);
  });

  test("in more than 1,000 entries: the two latest become one, with the later expiry and nothing lost", () => {
    const credit = noCredit();
    for (let i = 1; i <= 1_000; i++) grant(credit, { amount: nano(i), expiresAt: i });
    grant(credit, { amount: nano(7), expiresAt: 5_000 });
    expect(credit.entries).toHaveLength(1_000);
    expect(credit.entries.at(-1)).toEqual({ amount: nano(1_007), expiresAt: 5_000 });
    grant(credit, { amount: nano(3), expiresAt: 0 });
    expect(credit.entries).toHaveLength(1_000);
    expect(credit.entries[0]).toEqual({ amount: nano(3), expiresAt: 0 });
    expect(bookBalance(credit)).toBe(nano(500_500 + 7 + 3));
  });

  test("is never granted or spent in negative amounts, nor expired beyond what is due", () => {
    expect(() => grant(noCredit(), { amount: nano(-1), expiresAt: 1 })).toThrow();
    expect(() => spend(noCredit(), nano(-1))).toThrow();
    expect(() => expire(creditOf([[5, 100]]), nano(1), 99)).toThrow("more credit expires than is due");
  });

  test("that would be spent is returned without spending it", () => {
    const credit = creditOf([
      [5, 100],
      [5, 200],
    ]);
    const before = structuredClone(credit);
    expect(spendingBreakdown(credit, nano(7), 0)).toEqual(spend(structuredClone(credit), nano(7)));
    expect(credit).toEqual(before);
  });
});

/** Holds by cost and the time of their admission. */
const heldOf = (holds: readonly (readonly [cost: number, at: number])[]): HeldCredit => ({
  heldCost: nano(holds.reduce((sum, [cost]) => sum + cost, 0)),
  holds: { values: () => holds.map(([cost, admittedAt]) => ({ cost: nano(cost), admittedAt })) },
});

describe("expiry under holds", () => {
  /** One coin a nano-dollar, sorted by expiry. */
  const coinsOf = (credit: Credit): number[] =>
    credit.entries.flatMap(({ amount, expiresAt }) => new Array<number>(amount).fill(expiresAt));

  const entries = fc.array(fc.tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 12 })), {
    maxLength: 8,
  });
  const holds = fc.array(fc.tuple(fc.nat(9), fc.nat(14)), { maxLength: 6 });
  const given = fc.record({ entries, owed: fc.nat(5), holds, now: fc.nat(14) });

  function build({ entries, owed }: { entries: [number, number][]; owed: number }): Credit {
    const credit = noCredit();
    for (const [amount, expiresAt] of entries) grant(credit, { amount: nano(amount), expiresAt });
    if (entries.length === 0) credit.owed = nano(owed);
    return credit;
  }

  test("agrees with counting coins", () => {
    fc.assert(
      fc.property(given, (input) => {
        const credit = build(input);
        const held = heldOf(input.holds);
        const coins = coinsOf(credit);
        // Each hold, in the order of admission, marks the earliest coins that were valid then.
        const marked = new Set<number>();
        for (const [cost, at] of [...input.holds].sort((a, b) => a[1] - b[1])) {
          let need = cost;
          for (const [i, expiresAt] of coins.entries()) {
            if (need === 0 || expiresAt > input.now) break;
            if (expiresAt <= at || marked.has(i)) continue;
            marked.add(i);
            need--;
          }
        }
        const goes = coins.filter((expiresAt, i) => expiresAt <= input.now && !marked.has(i)).length;
        expect(expirable(credit, held, input.now)).toBe(nano(goes));
        expect(balanceAt(credit, held, input.now)).toBe(nano(coins.length - credit.owed - goes));
        expect(availableAt(credit, held, input.now)).toBe(
          nano(coins.length - credit.owed - goes - held.heldCost),
        );

        expire(credit, nano(goes), input.now, expirableParts(credit, held, input.now));
        const kept = coins.filter((expiresAt, i) => expiresAt > input.now || marked.has(i));
        expect(coinsOf(credit)).toEqual(kept);
        expect(expirable(credit, held, input.now)).toBe(ZERO);
      }),
      { numRuns: 1_000 },
    );
  });

  test("a hold keeps nothing that had expired when it was admitted", () => {
    const credit = creditOf([
      [5, 100],
      [5, 200],
    ]);
    expect(expirable(credit, heldOf([[3, 50]]), 300)).toBe(nano(7));
    expect(expirable(credit, heldOf([[3, 100]]), 300)).toBe(nano(7));
    expect(expirableParts(credit, heldOf([[3, 150]]), 300)).toEqual([
      { amount: nano(5), expiresAt: 100 },
      { amount: nano(2), expiresAt: 200 },
    ]);
    expect(expirable(credit, heldOf([[3, 200]]), 300)).toBe(nano(10));
  });

  test("old lines without parts remove the latest due credit, as they did when they were written", () => {
    const credit = creditOf([
      [5, 100],
      [5, 200],
    ]);
    expire(credit, nano(7), 300);
    expect(credit).toEqual(creditOf([[3, 100]]));
  });

  test("any history of grants, spendings and expiries agrees with counting coins", () => {
    const act = fc.record({
      act: fc.constantFrom("grant", "spend", "expire"),
      amount: fc.nat(9),
      at: fc.nat(20),
    });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 30 }), (acts) => {
        const credit = noCredit();
        let coins: number[] = [];
        let owed = 0;
        let now = 0;
        for (const { act, amount, at } of acts) {
          now++;
          if (act === "grant") {
            grant(credit, { amount: nano(amount), expiresAt: at });
            const paid = Math.min(owed, amount);
            owed -= paid;
            coins = [...coins, ...new Array<number>(amount - paid).fill(at)].sort((a, b) => a - b);
          } else if (act === "spend") {
            spend(credit, nano(amount));
            owed += Math.max(0, amount - coins.length);
            coins = coins.slice(amount);
          } else {
            expire(credit, expirable(credit, heldOf([]), now), now, expirableParts(credit, heldOf([]), now));
            coins = coins.filter((expiresAt) => expiresAt > now);
          }
          expect(coinsOf(credit)).toEqual(coins);
          expect(credit.owed).toBe(nano(owed));
          expect(credit.entries.every(({ amount }) => amount > 0)).toBe(true);
          expect(credit.owed === 0 || credit.entries.length === 0).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});

test("of a debt no more is written off than there is, and nothing of what is no debt", () => {
  const credit = creditOf([], 7);
  pay(credit, nano(7));
  expect(credit).toEqual(creditOf([]));
  expect(() => pay(credit, nano(1))).toThrow();
  expect(() => pay(creditOf([[5, 1]]), nano(1))).toThrow();
});
