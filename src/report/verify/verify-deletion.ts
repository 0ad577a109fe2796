// Verifies the deletion of an account against its own lines: what it paid, gave back and lost. Lines that
// belong to a deletion alone (its fee, a write-off, a late charge) create or destroy credit, so they must not
// occur anywhere else.

import type { AccountEvent } from "../../../actors/account/state.ts";
import type { Findings } from "./findings.ts";

/** Largest fee of a deletion, in nano-dollars (spec: Limits). */
const FEE_MAX = 200_000_000;

/** The part of a book against which a deletion is verified; amounts are in nano-dollars. */
export interface Ending {
  balance: number;
  /** True once a deletion has taken the credit; later charges are losses. */
  emptied: boolean;
  /** Fees that the deletion has cost. */
  deleteFee: number;
}

/**
 * Checks one event when it is added to the book, and reports findings. `beside` is all events of its commit.
 */
export function verifyDeletion(
  book: Ending,
  event: AccountEvent,
  beside: readonly AccountEvent[],
  findings: Findings,
  where: string,
): void {
  const wrong = (what: string) => findings.add("deletion", where, what);
  const isEnd = beside.some(({ type }) => type === "emptied");
  switch (event.type) {
    case "delete_fee":
      book.deleteFee -= event.amount;
      if (!isEnd) wrong(`delete_fee ${event.id} without a deletion`);
      return;
    case "write_off": {
      const isLate = beside.some((one) => one.type === "late_charge" && event.id === `${one.id}:write_off`);
      if (!isEnd && !isLate) {
        findings.add("write_off", where, `write_off ${event.id} with neither a deletion nor a late charge`);
      }
      return;
    }
    case "charge":
      if (book.emptied) wrong(`charge ${event.id} of an account that was emptied before`);
      return;
    case "late_charge":
      if (!book.emptied) wrong(`late_charge ${event.id} of an account that was not emptied`);
      return;
    case "emptied": {
      const gift = beside.find((one) => one.type === "refund_out" && one.id === `${event.id}:refund`);
      const refunded = gift?.type === "refund_out" ? -gift.amount : 0;
      if (event.refunded !== refunded) {
        wrong(`deletion ${event.id} says that ${event.refunded} went back, its line ${refunded}`);
      }
      if (event.fee !== book.deleteFee || event.fee > FEE_MAX) {
        wrong(`deletion ${event.id} says that it cost ${event.fee}, its lines ${book.deleteFee}`);
      }
      return;
    }
  }
}

/** Checks that a deleted account has neither credit nor debt. */
export function verifyEmpty(name: string, { emptied, balance }: Ending, findings: Findings): void {
  if (!emptied || balance === 0) return;
  findings.add("deletion", name, `it was emptied and has a balance of ${balance}`);
}
