// Checks whether the refunds of a deletion fit, before any credit moves: each account below refunds to its
// parent, the deepest first, and a balance has an upper bound. Charges in the meantime only make refunds
// smaller; balances that rise in the meantime are handled by the deletion itself.

import { BALANCE_NANO_MAX, overfull } from "../../actors/account/capacity.ts";
import { lessFee } from "../../actors/account/closing.ts";
import { type AccountId, ancestorsOf, dnaBelow, ROOT } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import { minus, most, type Nano, plus, toNano, ZERO } from "../../actors/money.ts";
import type { Clock } from "../base/clock.ts";
import type { Refusal } from "../base/errors.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";
import { balanceInRow, parseAccountRow } from "./account-rows.ts";

interface Parts {
  readonly system: ActorSystem<Protocol>;
  readonly store: Store;
  readonly clock: Clock;
}

/**
 * Returns a refusal if a deletion would bring some account over its bound; null if not, or if the deletion is
 * already in progress. `recursive` includes the subtree.
 */
export async function refundsOverfull(
  { system, store, clock }: Parts,
  account: AccountId,
  recursive: boolean,
): Promise<Refusal | null> {
  const { stage, parent, children } = await system.ask(actorRef.account(account), "unfinishedWork", {});
  if (stage !== "open" || parent === null || (children > 0 && !recursive)) return null;
  const { profile, balance } = await system.ask(actorRef.account(account), "read", {});
  const sums = new Refunds();
  if (children > 0) {
    const where = [
      { field: "dna", is: "starts", value: dnaBelow(profile.dna, account) },
      { field: "closed", is: "in", value: [0, 1] },
    ] as const;
    // In descending order a DNA comes before its prefixes, so an account comes after its whole subtree.
    for await (const row of store.scan({ table: "accounts", where, order: "dna", descending: true })) {
      const { id, dna } = parseAccountRow(row);
      const above = ancestorsOf(dna).at(-1) ?? ROOT;
      const full = sums.add(id, above, toNano(balanceInRow(row, clock.wall())));
      if (full !== null) return full;
    }
  }
  const full = sums.add(account, parent, balance);
  if (full !== null) return full;
  const { room } = await system.ask(actorRef.account(parent), "margins", {});
  return overfull(parent, sums.to(parent), room);
}

/** Sums what each account receives from its children. Children must be added before their parent. */
class Refunds {
  readonly #sums = new Map<AccountId, Nano>();

  /**
   * Adds an account that refunds its own balance and what it received to its parent. Returns a refusal when
   * it or its parent cannot hold that.
   */
  add(account: AccountId, parent: AccountId, balance: Nano): Refusal | null {
    const got = this.to(account);
    this.#sums.delete(account);
    const full = overfull(account, got, minus(BALANCE_NANO_MAX, most(ZERO, balance)));
    if (full !== null) return full;
    const given = lessFee(most(ZERO, plus(balance, got)));
    const before = this.to(parent);
    // The sum of two children's refunds may exceed the bound of any account.
    const tooMuch = overfull(parent, given, minus(BALANCE_NANO_MAX, before));
    if (tooMuch !== null) return tooMuch;
    this.#sums.set(parent, plus(before, given));
    return null;
  }

  to(account: AccountId): Nano {
    return this.#sums.get(account) ?? ZERO;
  }
}
