// Credit that has expired and is kept for a running request pays for that request alone: other requests, fees and refunds
// spend what is valid for them, as long as there is any.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { account } from "../../../actors/account/account.ts";
import type { AccountEvent } from "../../../actors/account/state.ts";
import { bookBalance } from "../../../actors/credit.ts";
import { type AccountId, MAIN_API_KEY } from "../../../actors/ids.ts";
import { type Nano, toNano, ZERO } from "../../../actors/money.ts";
import { admitInput, DAY, factsOf, type Living, living, NOON, usd } from "../account-samples.ts";

const TOMORROW = NOON + DAY;
const LATER = NOON + 100 * DAY;

/** An account with 10 USD until tomorrow and 10 USD until later, and a request that was admitted just before that day ends. */
function withHold(): Living {
  const one = living({
    credit: [
      { amount: usd(10), expiresAt: TOMORROW },
      { amount: usd(10), expiresAt: LATER },
    ],
  });
  one.now = TOMORROW - 1_000;
  expect(one.admitted({ id: "held", cost: usd(10) })).toMatchObject({ cost: usd(10) });
  one.now = TOMORROW + 1_000;
  return one;
}

const fee = (id: string, amount: Nano) => ({ type: "fee", id, amount, apiKey: MAIN_API_KEY }) as const;
const refund = (id: string, amount: Nano, bornAt: number) =>
  ({ type: "startRefund", id, bornAt, amount }) as const;
const grantOf = (id: string, amount: Nano, expiresAt: number) => {
  const transfer = { id, to: 7 as AccountId, amount, expiresAt, kind: "transfer_in", taken: [] } as const;
  return {
    type: "receiveCredit",
    from: 2 as AccountId,
    transfer: { ...transfer, child: null, bornAt: NOON },
  } as const;
};

const expiredIn = (one: Living) =>
  one.events.reduce((sum, { e }) => (e.type === "expire" ? sum - e.amount : sum), 0);

describe("credit that has expired under a hold", () => {
  test("pays for no request that was admitted later", () => {
    const one = withHold();
    for (let i = 0; i < 9; i++) {
      one.admit({ id: `r${i}`, cost: usd(1) });
      one.charge({ id: `r${i}`, cost: usd(1), admittedAt: one.now });
    }
    one.ask({ type: "cancel", id: "held", aborted: false });
    one.ask({ type: "expireCredit" });
    expect(one.state.credit.entries).toEqual([{ amount: usd(1), expiresAt: LATER }]);
    expect(expiredIn(one)).toBe(usd(10));
  });

  test("pays for the request that holds it", () => {
    const one = withHold();
    one.admit({ id: "r1", cost: usd(4) });
    one.charge({ id: "r1", cost: usd(4), admittedAt: one.now });
    one.charge({ id: "held", cost: usd(10), admittedAt: TOMORROW - 1_000 });
    expect(one.state.credit.entries).toEqual([{ amount: usd(6), expiresAt: LATER }]);
    expect(expiredIn(one)).toBe(0);
  });

  test("does not become a debt while there is credit, expired or not", () => {
    const one = withHold();
    one.admit({ id: "r1", cost: usd(4) });
    one.charge({ id: "r1", cost: usd(12), admittedAt: one.now });
    expect(one.state.credit).toEqual({ entries: [{ amount: usd(8), expiresAt: TOMORROW }], owed: ZERO });
  });

  test("is not refunded to the parent", () => {
    const one = withHold();
    const { events } = one.ask(refund("R", usd(10), one.now));
    const taken = [{ amount: usd(10), expiresAt: LATER }];
    expect(events).toMatchObject([
      { type: "refund_out", taken },
      { type: "owing", transfer: { taken } },
    ]);
    expect(one.state.credit.entries).toEqual([{ amount: usd(10), expiresAt: TOMORROW }]);
  });

  test("pays no fee", () => {
    const one = withHold();
    one.ask(fee("F", usd(2)));
    expect(one.state.credit.entries).toEqual([
      { amount: usd(10), expiresAt: TOMORROW },
      { amount: usd(8), expiresAt: LATER },
    ]);
  });
});

test("lines name what they took only where they did not take what expires first", () => {
  const one = living({ credit: [{ amount: usd(10), expiresAt: TOMORROW }] });
  one.charge({ id: "r1" });
  one.ask(fee("F", usd(1)));
  one.ask(refund("R", usd(1), one.now));
  one.admit({ id: "held", cost: usd(2) });
  const admittedAt = one.now;
  one.now = TOMORROW;
  one.charge({ id: "held", cost: usd(2), admittedAt });
  expect(one.events.filter(({ e }) => "taken" in e)).toEqual([]);
});

/** One coin a nano-dollar, named by its expiry. */
const coinsOf = (entries: readonly { readonly amount: number; readonly expiresAt: number }[]): number[] =>
  entries.flatMap(({ amount, expiresAt }) => new Array<number>(amount).fill(expiresAt));

/**
 * Returns the coins that remain of `coins` after these events by a spender that was admitted at `admittedAt`: what expires
 * leaves first, then goes what was valid for the spender, the earliest first, then the others.
 */
function remaining(coins: readonly number[], events: readonly AccountEvent[], admittedAt: number): number[] {
  const left = [...coins];
  for (const e of events) {
    if (e.type === "expire") for (const coin of coinsOf(e.parts ?? [])) left.splice(left.indexOf(coin), 1);
    else if (e.type === "charge" || e.type === "query_fee" || e.type === "refund_out") {
      const inOrder = [
        ...left.filter((coin) => coin > admittedAt),
        ...left.filter((coin) => coin <= admittedAt),
      ];
      for (const coin of inOrder.slice(0, -e.amount)) left.splice(left.indexOf(coin), 1);
    }
  }
  return left;
}

test("no request, fee or refund takes a coin that had expired when it was admitted while there is another", () => {
  const act = fc.record({
    act: fc.constantFrom("grant", "admit", "charge", "cancel", "fee", "refund", "expire"),
    amount: fc.integer({ min: 1, max: 9 }).map(toNano),
    lives: fc.integer({ min: 1, max: 6 }),
    waits: fc.nat(2),
  });
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
      const one = living({ credit: [{ amount: toNano(9), expiresAt: NOON + 3_000 }] });
      const open: { readonly id: string; readonly admittedAt: number }[] = [];
      for (const [i, { act, amount, lives, waits }] of acts.entries()) {
        one.now += waits * 1_000;
        const id = `${i}`;
        const before = coinsOf(one.state.credit.entries);
        const request = act === "charge" || act === "cancel" ? open.splice(lives % open.length, 1)[0] : null;
        if (request === undefined) continue;
        const admittedAt = request?.admittedAt ?? one.now;
        const book = bookBalance(one.state.credit);
        const { events = [], refused } = one.ask(
          {
            grant: grantOf(id, amount, one.now + lives * 1_000),
            admit: { type: "admit", ...admitInput({ id, cost: amount, promptCost: ZERO }) } as const,
            charge: {
              type: "charge",
              ...factsOf({ id: request?.id ?? "", cost: amount, admittedAt }),
            } as const,
            cancel: { type: "cancel", id: request?.id ?? "", aborted: false } as const,
            fee: fee(id, amount),
            refund: refund(id, amount, one.now),
            expire: { type: "expireCredit" } as const,
          }[act],
        );
        if (act === "admit" && !refused) open.push({ id, admittedAt });
        if (act !== "grant") {
          expect(coinsOf(one.state.credit.entries)).toEqual(remaining(before, events, admittedAt));
        }
        const moved = events.reduce((sum, e) => ("balanceAfter" in e ? sum + e.amount : sum), 0);
        expect(bookBalance(one.state.credit)).toBe(toNano(book + moved));
      }
      const replayed = account.empty("7");
      for (const { e, at } of one.events) account.evolve(replayed, e, at);
      expect(replayed.credit).toEqual(one.state.credit);
    }),
    { numRuns: 1_000 },
  );
});
