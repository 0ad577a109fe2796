// Credit that moves between accounts: made only by Root, never lost on the way, and back with its old expiry when the
// other side refuses.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { account } from "../../../actors/account/account.ts";
import type { Account, Transfer } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { type Nano, ZERO } from "../../../actors/money.ts";
import type { Effect } from "../../../src/runtime/actor.ts";
import {
  CLOSED,
  createChild,
  DAY,
  done,
  factsOf,
  type Living,
  living,
  NOON,
  newAccount,
  ROOT_PROFILE,
  usd,
} from "../account-samples.ts";

/** What the runtime would send now. */
const debtsOf = (one: Living): readonly Effect[] => account.pendingEffects(one.state);

describe("a gift to a newborn", () => {
  test("leaves the parent with a debt, in one commit", () => {
    const one = living();
    const { reply, events, save } = one.ask(createChild());
    expect([reply, save]).toEqual([{ id: 8 }, true]);
    expect(events).toMatchObject([
      { type: "transfer_out", id: "X", to: 8, amount: usd(-10), balanceAfter: usd(90) },
      {
        type: "owing",
        transfer: { id: "X", to: 8, amount: usd(10), kind: "transfer_in", expiresAt: NOON + 30 * DAY },
      },
    ]);
    expect(debtsOf(one)).toMatchObject([
      { id: "X:in", to: { kind: "account", id: "8" }, command: { type: "receiveCredit", from: 7 } },
    ]);
    expect(one.state.children).toBe(1);
  });

  test("is minted by Root, who has no credit of its own", () => {
    const root = living({ profile: ROOT_PROFILE, credit: ZERO });
    expect(root.ask(createChild()).events).toMatchObject([
      { type: "minted", id: "X", amount: usd(10) },
      { type: "owing", transfer: { kind: "grant", taken: [] } },
    ]);
    expect(root.state).toMatchObject({ minted: usd(10), credit: { entries: [], owed: 0 } });
  });

  test("shows in Root's document too: it has a child more", () => {
    const root = living({ profile: ROOT_PROFILE, credit: ZERO });
    account.materialize(root.state);
    root.ask(createChild());
    expect(account.materialize(root.state)).toMatchObject([{ table: "accounts", body: { children: 1 } }]);
  });

  test("is the child's first commit: who it is, then what it has", () => {
    const parent = living();
    parent.ask(createChild());
    const child = account.empty("8");
    const { events } = decide(child, debtsOf(parent)[0]!.command);
    expect(events).toMatchObject([
      { type: "created", profile: { id: 8, parent: 7, dna: ".1.2.7." } },
      {
        type: "transfer_in",
        id: "X",
        from: 7,
        amount: usd(10),
        balanceAfter: usd(10),
        expiresAt: NOON + 30 * DAY,
      },
    ]);
  });

  test("that was delivered before writes nothing", () => {
    const one = living();
    one.ask(createChild());
    expect(one.ask(createChild(), { done: true })).toEqual({ reply: { id: 8 as AccountId } });
    const receive = debtsOf(one)[0]!.command;
    expect(decide(account.empty("8"), receive, true)).toEqual({ reply: {} });
    expect(account.dedupIdOf(receive as never)).toBe("X");
  });

  test("is settled by the child's answer, and only once", () => {
    const one = living();
    one.ask(createChild());
    expect(one.ask(done("X:in", null)).events).toEqual([{ type: "settled", id: "X" }]);
    expect(debtsOf(one)).toEqual([]);
    expect(one.ask(done("X:in", null))).toEqual({ reply: {} });
    expect(one.ask(done("X:in", CLOSED))).toEqual({ reply: {} });
  });

  test("that is refused comes back with the expiry it had, and the child was never born", () => {
    const entries = [
      { amount: usd(4), expiresAt: NOON + 5 * DAY },
      { amount: usd(40), expiresAt: NOON + 50 * DAY },
    ];
    const one = living({ credit: entries });
    one.ask(createChild());
    one.charge({ id: "meanwhile", cost: usd(1) });
    expect(one.ask(done("X:in", CLOSED)).events).toMatchObject([
      { type: "returned", id: "X", amount: usd(10), balanceAfter: usd(43), why: "account_disabled" },
    ]);
    expect(one.state.credit.entries).toEqual([
      { amount: usd(4), expiresAt: NOON + 5 * DAY },
      { amount: usd(39), expiresAt: NOON + 50 * DAY },
    ]);
    expect(one.state.children).toBe(0);
    const root = living({ profile: ROOT_PROFILE, credit: ZERO });
    root.ask(createChild());
    root.ask(done("X:in", CLOSED));
    expect(root.state).toMatchObject({ minted: ZERO, children: 0, owing: [] });
  });

  test("lets what is due leave first", () => {
    const one = living({
      credit: [
        { amount: usd(4), expiresAt: NOON + 1 },
        { amount: usd(40), expiresAt: NOON + DAY },
      ],
    });
    one.now += 10;
    expect(one.ask(createChild()).events).toMatchObject([
      { type: "expire", amount: usd(-4), balanceAfter: usd(40) },
      { type: "transfer_out", balanceAfter: usd(30) },
      { type: "owing", transfer: { taken: [{ amount: usd(10), expiresAt: NOON + DAY }] } },
    ]);
  });

  test.each([
    ["all there is", usd(100), ZERO, null],
    ["more than there is", usd(100.000000001), ZERO, "insufficient_parent_balance"],
    ["what UserMinBalance leaves", usd(95), usd(5), null],
    ["more than UserMinBalance leaves", usd(95.01), usd(5), "insufficient_parent_balance"],
    ["a negative UserMinBalance makes no debt", usd(101), usd(-5), "insufficient_parent_balance"],
  ])("%s", (_what, amount, keep, code) => {
    const one = living();
    expect(one.ask(createChild({ amount, keep })).refused?.code ?? null).toBe<string | null>(code);
    expect(one.events.length).toBe(code === null ? 4 : 2);
  });

  test("takes nothing that a request in flight has reserved, nor an overdraft", () => {
    const one = living({ profile: { xCredit: usd(50) } });
    one.admit({ cost: usd(1) });
    expect(one.ask(createChild({ amount: usd(99.5) })).refused?.code).toBe("insufficient_parent_balance");
    expect(one.ask(createChild({ amount: usd(99) })).refused).toBeUndefined();
  });

  test("goes to an account only once, and to nobody not at all", () => {
    const other = living();
    const transfer: Transfer = {
      id: "X",
      to: 7 as AccountId,
      amount: usd(1),
      expiresAt: NOON + DAY,
      kind: "transfer_in",
      taken: [],
      child: null,
      bornAt: NOON,
    };
    const from = 2 as AccountId;
    expect(other.ask({ type: "receiveCredit", transfer, from }).events).toHaveLength(1);
    const founded = { ...transfer, child: other.state.profile };
    expect(other.ask({ type: "receiveCredit", transfer: founded, from }).refused?.code).toBe(
      "duplicate_name",
    );
    expect(decide(account.empty("9"), { type: "receiveCredit", transfer, from } as never).refused?.code).toBe(
      "user_not_found",
    );
  });

  test("to Root ceases to be", () => {
    const root = living({ profile: ROOT_PROFILE, credit: ZERO });
    const transfer = {
      id: "X",
      to: 1,
      amount: usd(3),
      expiresAt: NOON,
      kind: "refund",
      taken: [],
      child: null,
    };
    root.ask({
      type: "receiveCredit",
      transfer: { ...transfer, bornAt: NOON } as never,
      from: 2 as AccountId,
    });
    expect(root.state).toMatchObject({ minted: usd(-3), credit: { entries: [] } });
  });
});

describe("conservation", () => {
  test("what Root minted is what accounts have, what is on its way, what was charged and what expired", () => {
    const step = fc.record({
      act: fc.constantFrom("create", "deliver", "refuse", "charge", "expire", "wait", "hold"),
      who: fc.nat(5),
      amount: fc.integer({ min: 0, max: 500 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const all: Living[] = [living({ profile: ROOT_PROFILE, credit: ZERO })];
        for (const [i, { act, who, amount }] of steps.entries()) {
          const one = all[who % all.length]!;
          const id = `x${i}`;
          if (act === "wait") for (const each of all) each.now += 7 * DAY;
          else if (act === "hold") one.admit({ id, cost: amount as Nano });
          else if (act === "charge") one.ask({ type: "charge", ...factsOf({ id, cost: amount as Nano }) });
          else if (act === "expire") one.ask({ type: "expireCredit" }, { id });
          else if (act === "create") {
            const child = newAccount({ id: (100 + i) as AccountId });
            one.ask(createChild({ id, child, amount: amount as Nano, days: 1 + (amount % 30) }));
          } else deliver(one, all, act === "refuse");
          expect(sumOf(all)).toBe(all[0]!.state.minted);
          expect(all[0]!.state.credit).toEqual({ entries: [], owed: ZERO });
        }
      }),
      { numRuns: 200 },
    );
  });

  function deliver(one: Living, all: Living[], refuse: boolean): void {
    const [effect] = debtsOf(one);
    if (effect === undefined) return;
    const newborn = living({ credit: ZERO });
    newborn.state = account.empty(effect.to.id);
    newborn.now = one.now;
    if (!refuse) {
      newborn.ask(effect.command as never);
      all.push(newborn);
    }
    one.ask(done(effect.id, refuse ? CLOSED : null));
  }

  /** Balances, debts not delivered, charges, expiries: whatever became of minted credit. */
  function sumOf(all: readonly Living[]): Nano {
    let sum = 0;
    for (const { state, events } of all) {
      sum += state.credit.entries.reduce((total, entry) => total + entry.amount, 0) - state.credit.owed;
      for (const debt of state.owing) sum += debt.amount;
      for (const { e } of events) if (e.type === "charge" || e.type === "expire") sum -= e.amount;
    }
    return sum as Nano;
  }
});

function decide(state: Account, command: { type: string }, isDone = false) {
  return account.decide(state, command as never, { id: "t", from: "", now: NOON, epoch: 1, done: isDone });
}
