// A level of a bill: what each account directly below cost itself, what everything below it cost, and both together. The figures are
// the service's own; adding two of them is exact.

import type { Account } from "../../api/accounts.ts";
import { addNanos, compareExact, type Nanos, NO_NANOS, subtractNanos } from "../../api/amount.ts";
import type { Answers } from "../../api/answers.ts";

/** A bill of accounts below. */
export type SubtreeBill = Answers["/x-bill"];
/** What one account used, in such a bill. */
export type BilledAccount = SubtreeBill["usage_users"][number];

/** An account with all that is below it. */
export interface Branch {
  readonly account: Account;
  readonly own: Nanos;
  /** null: it is asked for, or could not be read. */
  readonly below: Nanos | null;
  readonly together: Nanos | null;
  readonly requests: number | null;
}

/**
 * Returns the branches of a level, the dearest first. `users` is the bill of the level, `bills` those of the accounts that have
 * subaccounts, by id; one that is undefined is not known yet.
 */
export function branchesOf(
  accounts: readonly Account[],
  users: readonly BilledAccount[],
  bills: ReadonlyMap<number, Pick<SubtreeBill, "total_credit_used" | "total_requests"> | undefined>,
): readonly Branch[] {
  const used = new Map(users.map((user) => [user.id, user]));
  return accounts
    .map((account): Branch => {
      const own = used.get(account.ID);
      const cost = own?.total_credit_used ?? NO_NANOS;
      const requests = own?.total_requests ?? 0;
      if (!bills.has(account.ID)) {
        return { account, own: cost, below: NO_NANOS, together: cost, requests };
      }
      const bill = bills.get(account.ID);
      if (bill === undefined) return { account, own: cost, below: null, together: null, requests: null };
      const { total_credit_used: below, total_requests: more } = bill;
      return { account, own: cost, below, together: addNanos(cost, below), requests: requests + more };
    })
    .sort((one, other) => compareExact(other.together ?? other.own, one.together ?? one.own));
}

/**
 * Returns what the bill of a level has beyond its branches: deleted accounts, and the days that moved ones spent there. Null while a
 * branch is not known.
 */
export function restOf(total: Nanos, branches: readonly Branch[]): Nanos | null {
  if (branches.some(({ together }) => together === null)) return null;
  return subtractNanos(total, branches.map(({ together }) => together!).reduce(addNanos, NO_NANOS));
}
