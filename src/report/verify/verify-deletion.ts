// The end of an account, held against its own lines: what it paid, gave back and lost. What belongs to an end alone
// (its fee, a debt written off, a late charge) makes or takes credit, so it must not stand anywhere else.

import type { AccountEvent } from "../../../actors/account/state.ts";
import type { Findings } from "./findings.ts";

/** spec: Limits: what a deletion may cost, in nano-dollars. */
const FEE_MOST = 200_000_000;

/** Of an account's book, what its end is held against. */
export interface Ending {
  balance: number;
  /** Deleted: its credit has gone, and what comes later is a loss. */
  emptied: boolean;
  /** What its deletion has cost. */
  deleteFee: number;
}

/** Looks at one event of an account as it is entered. `beside`: all events of its commit. */
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
      if (event.fee !== book.deleteFee || event.fee > FEE_MOST) {
        wrong(`deletion ${event.id} says that it cost ${event.fee}, its lines ${book.deleteFee}`);
      }
      return;
    }
  }
}

/** What was deleted has nothing left, and owes nothing. */
export function verifyEmpty(name: string, { emptied, balance }: Ending, findings: Findings): void {
  if (!emptied || balance === 0) return;
  findings.add("deletion", name, `it was emptied and has a balance of ${balance}`);
}
