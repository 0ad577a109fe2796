// A tree of accounts without a runtime: commands are decided and folded at once, debts are delivered by hand, as often
// and as badly as a test likes. Marks are remembered as the ledger would.

import { type AccountCommand, account } from "../../actors/account/account.ts";
import { type Account, type AccountEvent, stageOf } from "../../actors/account/state.ts";
import type { AccountId } from "../../actors/ids.ts";
import { type Nano, ZERO } from "../../actors/money.ts";
import type { Refusal } from "../../src/base/errors.ts";
import type { Decision, Effect } from "../../src/runtime/actor.ts";
import { createChild, NOON, newAccount, profileOf, ROOT_PROFILE } from "./account-samples.ts";

interface Member {
  state: Account;
  readonly events: AccountEvent[];
  readonly marks: Set<string>;
}

/** What becomes of a delivery: it arrives and its answer too, its answer is lost, or nothing arrives. */
export type Fate = "delivered" | "unanswered" | "lost";

/** Where the amount of a line goes when it leaves the balance for good. */
const CEASED = new Set(["charge", "late_charge", "query_fee", "delete_fee", "expire", "write_off"]);

export function accountTree() {
  const members = new Map<number, Member>();
  const tree = {
    now: NOON,
    members,
    of(id: number): Member {
      const found = members.get(id);
      if (found !== undefined) return found;
      const fresh = { state: account.empty(String(id)), events: [], marks: new Set<string>() };
      members.set(id, fresh);
      return fresh;
    },
    fold(id: number, ...events: readonly AccountEvent[]): void {
      const member = tree.of(id);
      for (const event of events) {
        account.evolve(member.state, event, tree.now);
        member.events.push(event);
        for (const mark of account.dedupIds(event)) member.marks.add(mark);
      }
    },
    ask(id: number, command: AccountCommand, turn = `turn-${++turns}`): Decision<AccountEvent> {
      const member = tree.of(id);
      const mark = account.dedupIdOf(command);
      const done = mark !== undefined && member.marks.has(mark);
      const decision = account.decide(member.state, command, {
        id: turn,
        from: "",
        now: tree.now,
        epoch: 1,
        done,
      });
      tree.fold(id, ...(decision.events ?? []));
      return decision;
    },
    /** Replays one account from its events, as a crash of its process would. */
    crash(id: number): void {
      const member = tree.of(id);
      const [first] = member.events;
      if (first === undefined) return;
      member.state = account.thaw(String(id), JSON.parse(JSON.stringify(account.freeze(member.state))));
    },
    debts: (): { readonly from: number; readonly effect: Effect }[] =>
      [...members].flatMap(([from, { state }]) =>
        account.pendingEffects(state).map((effect) => ({ from, effect })),
      ),
    deliver({ from, effect }: { from: number; effect: Effect }, fate: Fate = "delivered"): void {
      if (fate === "lost") return;
      const { refused = null } = tree.ask(Number(effect.to.id), effect.command as AccountCommand, effect.id);
      if (fate === "delivered") tree.answer(from, effect.id, refused);
    },
    answer(to: number, effect: string, refused: Refusal | null): void {
      tree.ask(to, { type: "effectDone", effect, refused });
    },
    /** Delivers until nobody owes anything. Throws when that never comes. */
    rest(): void {
      for (let i = 0; i < 1_000; i++) {
        const debts = tree.debts();
        if (debts.length === 0) return;
        for (const debt of debts) tree.deliver(debt);
      }
      throw new Error("some debts are never settled");
    },
    /** An account below a parent, with credit that has arrived. */
    born(id: number, parent: number, amount: Nano): void {
      const name = `account-${id}`;
      const child = newAccount({ id: id as AccountId, name, keyHash: String(id).padStart(64, "0") });
      const { refused } = tree.ask(parent, createChild({ id: `birth-${id}`, child, amount, days: 180 }));
      if (refused !== undefined) throw new Error(refused.code);
      tree.rest();
    },
    /** Everything that became of minted credit; must equal what Root minted. */
    accounted(): Nano {
      let sum = 0;
      for (const { state, events } of members.values()) {
        sum += state.credit.entries.reduce((total, entry) => total + entry.amount, 0) - state.credit.owed;
        for (const debt of state.owing) {
          if (!tree.of(debt.to).marks.has(debt.id)) sum += debt.amount;
        }
        for (const e of events) if (CEASED.has(e.type)) sum -= (e as { amount: Nano }).amount;
      }
      return sum as Nano;
    },
    /** How many children the accounts themselves say that each has. */
    childrenOf: (id: number): number =>
      [...members.values()].filter(({ state }) => state.profile?.parent === id && stageOf(state) !== "closed")
        .length,
  };
  let turns = 0;
  tree.fold(1, { type: "created", profile: profileOf(ROOT_PROFILE) });
  return tree;
}

export type AccountTree = ReturnType<typeof accountTree>;

export const balanceOf = (tree: AccountTree, id: number): Nano =>
  tree.of(id).events.reduce((last, e) => ("balanceAfter" in e ? e.balanceAfter : last), ZERO);
