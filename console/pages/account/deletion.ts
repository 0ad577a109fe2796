// What the deletion of an account does with its balance, before it is asked for (contract section 3). The service takes the fee and
// moves the rest when it deletes; requests under way until then change the balance.

import { type Nanos, NO_NANOS, subtractNanos, toNanos } from "../../api/amount.ts";

/** The fee of a deletion at most. */
const FEE_MAX = toNanos(200_000_000n);

/** What becomes of a balance. */
export interface Deletion {
  readonly fee: Nanos;
  /** What goes back to the account above. */
  readonly refund: Nanos;
  /** Debt that is written off. */
  readonly writeOff: Nanos;
}

/** Returns what becomes of a balance when its account is deleted. */
export function deletionOf(balance: Nanos): Deletion {
  if (balance <= 0n) return { fee: NO_NANOS, refund: NO_NANOS, writeOff: toNanos(-balance) };
  const fee = balance < FEE_MAX ? balance : FEE_MAX;
  return { fee, refund: subtractNanos(balance, fee), writeOff: NO_NANOS };
}
