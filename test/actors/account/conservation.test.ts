// Credit is neither made nor lost, and every parent knows its children, whatever is asked in whatever order, however
// badly debts are delivered, whenever a process dies.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { AccountCommand } from "../../../actors/account/account.ts";
import { stageOf } from "../../../actors/account/state.ts";
import { type AccountId, MAIN_API_KEY } from "../../../actors/ids.ts";
import { type Nano, ZERO } from "../../../actors/money.ts";
import { admitInput, createChild, DAY, factsOf, newAccount } from "../account-samples.ts";
import { type AccountTree, accountTree, type Fate } from "../account-tree.ts";

interface Step {
  readonly act: keyof typeof ACTS | "deliver" | "wait" | "crash";
  readonly who: number;
  readonly other: number;
  readonly amount: number;
  readonly fate: Fate;
}

/** What is drawn, as a command; `id` is of the step. */
const ACTS = {
  create: (id, { amount }, i) =>
    createChild({
      id,
      child: newAccount({
        id: (100 + i) as AccountId,
        name: `account-${i}`,
        autoQuota: (amount % 3 === 0 ? 40 : 0) as Nano,
        softLimit: (amount % 5 === 0 ? 50 : 0) as Nano,
      }),
      amount: amount as Nano,
      days: 1 + (amount % 30),
      keep: ZERO,
    }),
  give: (id, { amount, other }, i) => ({
    ...{ type: "startTransfer", id, bornAt: 0, to: other as AccountId, amount: amount as Nano },
    ...{ days: 1 + (i % 30), keep: ZERO, kind: "transfer_in" },
  }),
  giveBack: (id, { amount }) => ({ type: "startRefund", id, bornAt: 0, amount: amount as Nano }),
  hold: (id, { amount }) => ({ type: "admit", ...admitInput({ id, cost: amount as Nano }) }),
  charge: (id, { amount }) => ({
    type: "charge",
    ...factsOf({ id, cost: amount as Nano, keep: 20 as Nano }),
  }),
  fee: (id, { amount }) => ({ type: "fee", id, amount: (amount % 20) as Nano, apiKey: MAIN_API_KEY }),
  topUp: () => ({ type: "topUp", keep: ZERO }),
  adjust: (id, { amount }) => ({ type: "adjust", id, by: 1 as AccountId, creditUsed: amount as Nano }),
  expire: () => ({ type: "expireCredit" }),
  move: (id, { other }, _, tree) => ({
    ...{ type: "move", id, bornAt: 0, to: other as AccountId, by: 1 as AccountId },
    dna: `${tree.of(other).state.profile?.dna ?? "."}${other}.`,
  }),
  close: (id, { amount }) => ({
    ...{ type: "close", id, bornAt: 0, by: 1 as AccountId },
    recursive: amount % 2 === 0,
  }),
  settleClosing: (id) => ({ type: "settleClosing", id, bornAt: 0 }),
  endClosing: () => ({ type: "endClosing" }),
} as const satisfies Record<string, (id: string, step: Step, i: number, tree: AccountTree) => AccountCommand>;

const step: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom<Step["act"][]>(
    ...(Object.keys(ACTS) as (keyof typeof ACTS)[]),
    ...(["create", "charge", "deliver", "deliver", "deliver", "deliver", "wait", "crash"] as const),
  ),
  who: fc.nat(20),
  other: fc.nat(20),
  amount: fc.integer({ min: 1, max: 500 }),
  fate: fc.constantFrom<Fate[]>("delivered", "delivered", "unanswered", "lost"),
});

function take(tree: AccountTree, drawn: Step, i: number): void {
  const living = [...tree.members].filter(([, { state }]) => state.profile !== null).map(([id]) => id);
  const who = living[drawn.who % living.length]!;
  const one: Step = { ...drawn, other: living[drawn.other % living.length]! };
  switch (one.act) {
    case "wait":
      tree.now += one.amount % 2 === 0 ? 40_000 : 3 * DAY;
      return;
    case "crash":
      tree.crash(who);
      return;
    case "deliver": {
      const debts = tree.debts();
      if (debts.length > 0) tree.deliver(debts[one.amount % debts.length]!, one.fate);
      return;
    }
    default:
      tree.ask(who, ACTS[one.act](`x${i}`, one, i, tree), `x${i}`);
  }
}

/** A tree of three levels with credit, so that short runs have something to move. */
function grown(): AccountTree {
  const tree = accountTree();
  tree.born(2, 1, 10_000 as Nano);
  tree.born(3, 2, 2_000 as Nano);
  tree.born(4, 2, 1_000 as Nano);
  tree.born(5, 3, 300 as Nano);
  return tree;
}

const RUNS = { numRuns: 200 };
const steps = fc.array(step, { maxLength: 150, size: "max" });

describe("over random trees, operations and crashes", () => {
  test("minted = balances + in flight + charged + fees + expired + written off, after every step", () => {
    fc.assert(
      fc.property(steps, (drawn) => {
        const tree = grown();
        for (const [i, one] of drawn.entries()) {
          take(tree, one, i);
          const { state } = tree.of(1);
          expect(tree.accounted()).toBe(state.minted);
          expect(state.credit).toEqual({ entries: [], owed: ZERO });
        }
      }),
      RUNS,
    );
  });

  test("at rest every parent counts its children, nobody who is gone has or owes anything, no move is open", () => {
    fc.assert(
      fc.property(steps, (drawn) => {
        const tree = grown();
        for (const [i, one] of drawn.entries()) take(tree, one, i);
        tree.rest();
        for (const [id, { state }] of tree.members) {
          if (state.profile === null) continue;
          expect([id, state.children]).toEqual([id, tree.childrenOf(id)]);
          expect([state.owing, state.leaving]).toEqual([[], []]);
          expect(state.move?.stage).not.toBe("asked");
          expect(state.quota.asked).toBeNull();
          const stage = stageOf(state);
          if (stage === "emptied" || stage === "closed") {
            expect(state.credit).toEqual({ entries: [], owed: ZERO });
          }
        }
      }),
      RUNS,
    );
  });

  test("the DNA of every account that is there is its ancestors'", () => {
    fc.assert(
      fc.property(steps, (drawn) => {
        const tree = grown();
        for (const [i, one] of drawn.entries()) take(tree, one, i);
        tree.rest();
        for (const { state } of tree.members.values()) {
          // Who is gone stays where it was.
          if (state.profile === null || state.profile.parent === null || stageOf(state) === "closed")
            continue;
          const parent = tree.of(state.profile.parent).state.profile!;
          expect(state.profile.dna).toBe(`${parent.dna}${parent.id}.`);
        }
      }),
      RUNS,
    );
  });
});
