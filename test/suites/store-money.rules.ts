// Rules of sums of credit by tree: what each event counts as, that transfers are in exactly one place, and that the sums are
// the same whether snapshots cover all, some or none of the commits.

import { describe, expect, test } from "bun:test";
import { differenceOf } from "../../src/report/money-statement.ts";
import type { TreeMoney } from "../../src/store/money-fold.ts";
import type { Commit, Store } from "../../src/store/store.ts";
import { commit, save } from "./store-samples.ts";

type Event = Readonly<Record<string, unknown>>;

/** Events in commits of their accounts, in the order in which they are stored. */
type History = readonly (readonly [account: number, ...events: readonly Event[]])[];

const created = (account: number, dna: string): Event => ({ type: "created", profile: { id: account, dna } });
const minted = (id: string, amount: number): Event => ({ type: "minted", id, amount });
const owing = (id: string, to: number, amount: number, owner?: number): Event => ({
  type: "owing",
  transfer: { id, to, amount, ...(owner === undefined ? {} : { owner }) },
});
const settled = (id: string): Event => ({ type: "settled", id });
const line = (type: string, id: string, amount: number, balanceAfter: number, more: Event = {}): Event => ({
  ...{ type, id, amount, balanceAfter },
  ...more,
});

/** Owner 2 with 3 below it, Owner 4; amounts in nano-dollars. */
const HISTORY: History = [
  [1, created(1, ".")],
  [1, minted("g2", 1_000), owing("g2", 2, 1_000)],
  [2, created(2, ".1."), line("grant", "g2", 1_000, 1_000, { from: 1 })],
  [1, settled("g2")],
  [1, minted("g4", 500), owing("g4", 4, 500)],
  [4, created(4, ".1."), line("grant", "g4", 500, 500, { from: 1 })],
  [2, line("transfer_out", "t3", -300, 700, { to: 3 }), owing("t3", 3, 300, 2)],
  [3, created(3, ".1.2."), line("transfer_in", "t3", 300, 300, { from: 2 })],
  [2, settled("t3")],
  [3, line("charge", "c1", -40, 260), line("query_fee", "f1", -1, 259)],
  [3, line("expire", "e1", -9, 250), line("adjust", "a1", 0, 250)],
  // A debt and a late charge, which nobody pays.
  [4, line("charge", "c2", -520, -20), line("write_off", "w1", 20, 0)],
  [4, line("late_charge", "c3", -7, -7), line("write_off", "w2", 7, 0)],
  // One refund to Root that has arrived, one that is under way, and one that Root has while its giver does not know.
  [2, line("refund_out", "r1", -50, 650, { to: 1 }), owing("r1", 1, 50, 2)],
  [1, minted("r1", -50)],
  [2, settled("r1")],
  [2, line("refund_out", "r2", -60, 590, { to: 1 }), owing("r2", 1, 60, 2)],
  [2, line("refund_out", "r3", -70, 520, { to: 1 }), owing("r3", 1, 70, 2)],
  [1, minted("r3", -70)],
  // A gift that was refused, at Root and at an Owner.
  [1, minted("g9", 80), owing("g9", 9, 80)],
  [1, minted("g9:returned", -80), line("returned", "g9", 0, 0)],
  [2, line("transfer_out", "t9", -90, 430, { to: 9 }), owing("t9", 9, 90, 2)],
  [2, line("returned", "t9", 90, 520)],
  // Account 3 moves to Owner 4 with its balance; credit of its former tree comes afterwards.
  [2, line("transfer_out", "q3", -20, 500, { to: 3 }), owing("q3", 3, 20, 2)],
  [3, { type: "moving", id: "m", to: 4, dna: ".1.4." }],
  [3, { type: "moved", id: "m" }],
  [3, line("auto_quota", "q3", 20, 270, { from: 2, owner: 2 })],
  [3, line("charge", "c4", -30, 240)],
  // What nobody created has no tree.
  [8, { type: "forgone" }],
];

const NOTHING = {
  ...{ minted: 0, adjusted: 0, writtenOff: 0, charges: 0, fees: 0, expired: 0, returned: 0 },
  ...{ movedIn: 0, movedOut: 0, balances: 0, underWay: 0 },
};

const WANTED: Readonly<Record<number, Partial<Record<keyof TreeMoney, number>>>> = {
  1: { minted: 1_500, returned: 120 },
  2: {
    ...{ minted: 1_000, balances: 500, charges: 40, fees: 1, expired: 9 },
    ...{ returned: 120, underWay: 60, movedOut: 270 },
  },
  4: { minted: 500, writtenOff: 27, charges: 557, movedIn: 270, balances: 240 },
};

export function moneyRules(store: () => Store): void {
  function commitsOf(history: History): Commit[] {
    const tails = new Map<number, { seq: number; linesTo: number }>();
    return history.map(([account, ...events], i) => {
      const tail = tails.get(account) ?? { seq: 0, linesTo: 0 };
      const at = 1_000 + i;
      const marks = events.flatMap(({ type, id }) => (type === "settled" || !id ? [] : [String(id)]));
      const stored = events.map((e) => ({ at, line: "balanceAfter" in e, e }));
      const lines = stored.filter((one) => one.line).length;
      const next = { seq: tail.seq + 1, linesTo: tail.linesTo + lines };
      tails.set(account, next);
      return commit(`account/${account}`, next.seq, {
        at,
        marks,
        lines,
        linesTo: next.linesTo,
        events: stored,
      });
    });
  }

  async function keep(commits: readonly Commit[]): Promise<void> {
    for (const one of commits) await store().append([one]);
  }

  const saveAll = async (commits: readonly Commit[]): Promise<void> => {
    const last = new Map(commits.map((one) => [one.actor, one]));
    await store().save(
      [...last.values()].map(({ actor, seq, linesTo }) => save(actor, seq, [], { linesTo })),
    );
  };

  async function found() {
    const { trees, accounts } = await store().moneyTotals(0);
    const sums = [...trees]
      .sort(([a], [b]) => a - b)
      .map(([tree, one]) => [
        tree,
        Object.fromEntries(Object.entries(one).map(([name, value]) => [name, Number(value)])),
      ]);
    return { accounts, sums: Object.fromEntries(sums) };
  }

  const wanted = () => ({
    accounts: 4,
    sums: Object.fromEntries(Object.entries(WANTED).map(([tree, sums]) => [tree, { ...NOTHING, ...sums }])),
  });

  describe("sums of credit by tree", () => {
    test("an empty store has none", async () => {
      expect(await found()).toEqual({ accounts: 0, sums: {} });
    });

    test.each([0, 7, 14, 22, HISTORY.length])(
      "are the same with snapshots of the first %i commits",
      async (saved) => {
        const commits = commitsOf(HISTORY);
        await keep(commits.slice(0, saved));
        await saveAll(commits.slice(0, saved));
        await keep(commits.slice(saved));
        expect(await found()).toEqual(wanted());
        await saveAll(commits);
        expect(await found()).toEqual(wanted());
        await saveAll(commits.slice(0, saved));
        expect(await found()).toEqual(wanted());
      },
    );

    test("add up for each tree after every commit", async () => {
      for (const one of commitsOf(HISTORY)) {
        await store().append([one]);
        const { trees } = await store().moneyTotals(0);
        for (const [tree, sums] of trees) {
          if (tree !== 1) expect([one, tree, differenceOf(sums)]).toEqual([one, tree, 0n]);
        }
      }
    });

    test("show credit that is given and came nowhere", async () => {
      const isLost = ({ type, id }: Event) => type === "transfer_in" && id === "t3";
      const commits = commitsOf(
        HISTORY.slice(0, 9).map(
          ([account, ...events]) => [account, ...events.filter((e) => !isLost(e))] as const,
        ),
      );
      await keep(commits);
      const { trees } = await store().moneyTotals(0);
      expect(differenceOf(trees.get(2)!)).toBe(300n);
    });

    test("are exact beyond the range of exact numbers", async () => {
      const huge = Number.MAX_SAFE_INTEGER;
      const charges = Array.from({ length: 5 }, (_, i): History[number] => [
        2,
        line("charge", `huge ${i}`, -huge, -i),
      ]);
      const commits = commitsOf([[2, created(2, ".1.")], ...charges]);
      await keep(commits.slice(0, 4));
      await saveAll(commits.slice(0, 4));
      await keep(commits.slice(4));
      const { trees } = await store().moneyTotals(0);
      expect(trees.get(2)!.charges).toBe(5n * BigInt(huge));
    });
  });
}
