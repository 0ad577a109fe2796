// What can happen to an account, as events: ledger lines, credit under way, the turns of its life. Their form is kept for
// ever, since every ledger is replayed from its first event: a new kind joins, an old one never changes.

import type { AccountId } from "../ids.ts";
import type { Nano } from "../money.ts";
import type { MovedTerms } from "./lifecycle.ts";
import type { ChargeFacts, Profile, ProfileChange } from "./types.ts";

/** A ledger line: `amount` signed from this account's side, `balanceAfter` the book balance after it. */
export interface LedgerLine {
  readonly id: string;
  readonly amount: Nano;
  readonly balanceAfter: Nano;
}

export type Expire = { readonly type: "expire" } & LedgerLine;

/** How credit came to an account; `grant`: made by Root. */
export type Receipt = "grant" | "transfer_in" | "refund" | "auto_quota";

/** Credit under way to another account, with the newborn's profile when it founds one. */
export interface Transfer {
  readonly id: string;
  readonly to: AccountId;
  readonly amount: Nano;
  readonly expiresAt: number;
  readonly kind: Receipt;
  readonly taken: readonly { readonly amount: Nano; readonly expiresAt: number }[];
  readonly child: Profile | null;
  readonly bornAt: number;
}

/** The lifetime figures that Root may set by hand. */
export interface Adjusted {
  readonly creditUsed: Nano;
  readonly chargeAmount: Nano;
  readonly xCredit: Nano;
}

/** A charge as the ledger keeps it. */
type Charged = {
  /** Wall ms at which its hold was taken for this model; absent: when it was admitted. */
  readonly takenAt?: number;
  /** The windows count its request by a `released` before it: its front end had been taken for dead. */
  readonly counted?: true;
  /** Present beside `idempotency`: marks are read from the event alone, and that one is the account's own. */
  readonly account?: AccountId;
} & Omit<ChargeFacts, "keep" | "delivered"> &
  LedgerLine;

export type MoneyEvent =
  /** Root only: credit comes into being. Not a line: Root's balance is 0 by definition. */
  | { readonly type: "minted"; readonly id: string; readonly amount: Nano }
  /** Credit leaves for a child, or (`refund_out`) for the parent. */
  | ({ readonly type: "transfer_out" | "refund_out"; readonly to: AccountId } & LedgerLine)
  /** A debt to another account's actor; ends with `settled` or `returned`. */
  | { readonly type: "owing"; readonly transfer: Transfer }
  | { readonly type: "settled"; readonly id: string }
  | ({ readonly type: "returned"; readonly why: string } & LedgerLine)
  /** A transfer that is not taken, however often it comes. */
  | { readonly type: "declined"; readonly id: string }
  | ({ readonly type: Receipt; readonly from: AccountId; readonly expiresAt: number } & LedgerLine)
  | ({ readonly type: "charge" } & Charged)
  /** A charge that came after its account was emptied: no use of the account's, and written off beside it. */
  | ({ readonly type: "late_charge" } & Charged)
  | ({ readonly type: "query_fee" | "delete_fee" } & LedgerLine)
  /** A debt that nobody will pay; brings the balance up to zero. */
  | ({ readonly type: "write_off" } & LedgerLine)
  /** Root set lifetime figures by hand; its amount is 0. */
  | ({
      readonly type: "adjust";
      readonly by: AccountId;
      readonly before: Partial<Adjusted>;
      readonly after: Partial<Adjusted>;
    } & LedgerLine)
  /** A request that ended without a charge: counts in the windows, gates nothing. `takenAt`: as in a charge. */
  | {
      readonly type: "released";
      readonly id: string;
      readonly model: string;
      readonly admittedAt: number;
      readonly takenAt?: number;
    }
  | Expire;

export type LifeEvent =
  | { readonly type: "created"; readonly profile: Profile }
  /** The creation took too long: nobody is ever born here. */
  | { readonly type: "forgone" }
  /** Another API key; the one before is dead from here on. */
  | { readonly type: "rotated"; readonly keyHash: string }
  | { readonly type: "updated"; readonly change: ProfileChange; readonly by: AccountId }
  /** A child that was moved here, or is gone. A newborn counts with the transfer that founds it. */
  | { readonly type: "child_joined" | "child_left"; readonly id: string; readonly child: AccountId }
  /** Another parent is asked to take this account; ends with `moved` or `move_refused`. */
  | {
      readonly type: "moving";
      readonly id: string;
      readonly bornAt: number;
      readonly to: AccountId;
      /** DNA under the new parent. */
      readonly dna: string;
      readonly by: AccountId;
      readonly brings?: MovedTerms;
    }
  | { readonly type: "moved"; readonly id: string }
  | { readonly type: "move_refused"; readonly id: string; readonly code: string; readonly message: string }
  /** A former parent knows that this account has left it. */
  | { readonly type: "left"; readonly id: string }
  | { readonly type: "closing"; readonly id: string; readonly bornAt: number; readonly by: AccountId }
  /** Its credit has gone: fee, refund under way, or a debt written off. */
  | { readonly type: "emptied"; readonly id: string; readonly fee: Nano; readonly refunded: Nano }
  | { readonly type: "closed"; readonly id: string }
  /** AutoQuota asks the parent; open until the credit is here or refused. */
  | {
      readonly type: "quota_asked";
      readonly id: string;
      readonly bornAt: number;
      readonly from: AccountId;
      readonly amount: Nano;
      /** What the parent must keep. */
      readonly keep: Nano;
    }
  | { readonly type: "quota_granted"; readonly id: string }
  | { readonly type: "quota_refused"; readonly id: string; readonly why: string }
  /** The month's cost reached SoftLimit, `YYYY-MM`: once a month, with the charge that did it. */
  | {
      readonly type: "soft_limit_reached";
      readonly month: string;
      readonly limit: Nano;
      readonly spent: Nano;
    }
  | { readonly type: "mail_sent"; readonly month: string }
  | { readonly type: "mail_postponed"; readonly month: string; readonly nextAt: number };

export type AccountEvent = MoneyEvent | LifeEvent;
