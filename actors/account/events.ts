// The events of an account: ledger lines, credit in transit, and lifecycle changes. Every ledger is replayed
// from its first event, so new kinds may be added here, but the form of an existing kind must never change.

import type { ApiKey, ApiKeyChange } from "../api-key/api-key.ts";
import type { Entry } from "../credit.ts";
import type { AccountId, ApiKeyId } from "../ids.ts";
import type { Nano } from "../money.ts";
import type { MovedTerms } from "./lifecycle.ts";
import type { StoredFacts } from "./stored-facts.ts";
import type { LineApiKey, Profile, ProfileChange } from "./types.ts";

/**
 * A ledger line. `amount` is negative when credit leaves this account; `balanceAfter` is the book balance
 * after it.
 */
export interface LedgerLine {
  readonly id: string;
  readonly amount: Nano;
  readonly balanceAfter: Nano;
}

/**
 * The parts of entries that a line spends, while a hold keeps credit that had expired when the spender was admitted. Other
 * lines, and old ones, spend the earliest entries.
 */
interface Spending {
  readonly taken?: readonly Entry[];
}

/** Removes expired credit from the balance. Old lines have no `parts`: they removed the latest due credit. */
export type Expire = { readonly type: "expire"; readonly parts?: readonly Entry[] } & LedgerLine;

/** How credit came to an account; a `grant` is credit that Root created. */
export type Receipt = "grant" | "transfer_in" | "refund" | "auto_quota";

/**
 * Credit in transit to another account. `child` is the profile of the account that the transfer creates, or
 * null.
 */
export interface Transfer {
  readonly id: string;
  readonly to: AccountId;
  readonly amount: Nano;
  readonly expiresAt: number;
  readonly kind: Receipt;
  readonly taken: readonly { readonly amount: Nano; readonly expiresAt: number }[];
  readonly child: Profile | null;
  readonly bornAt: number;
  /** The Owner of the giver when it gave. Root's transfers, and old ones, have none. */
  readonly owner?: AccountId;
}

/** The lifetime figures that Root may set by hand. */
export interface Adjusted {
  readonly creditUsed: Nano;
  readonly chargeAmount: Nano;
  readonly xCredit: Nano;
}

/** A charge as the ledger keeps it. */
type Charged = {
  /** Wall-clock ms at which its hold was taken for this model; if absent, this is `admittedAt`. */
  readonly takenAt?: number;
  /**
   * A `released` before this charge counted the request in the windows, because its node had been declared
   * dead.
   */
  readonly counted?: true;
  /** Present beside `idempotency`, whose dedup id contains the account and is built from the event alone. */
  readonly account?: AccountId;
} & StoredFacts &
  Spending &
  LedgerLine;

/** Events that move or count credit. Those with `balanceAfter` are ledger lines. */
export type MoneyEvent =
  /**
   * Root only: credit is created, or destroyed if negative. It is no line, since Root's balance is 0 by
   * definition.
   */
  | { readonly type: "minted"; readonly id: string; readonly amount: Nano }
  /** Credit leaves to a child or, as `refund_out`, to the parent. */
  | ({ readonly type: "transfer_out" | "refund_out"; readonly to: AccountId } & Spending & LedgerLine)
  /** A transfer is pending, as an effect to another account; it ends with `settled` or `returned`. */
  | { readonly type: "owing"; readonly transfer: Transfer }
  | { readonly type: "settled"; readonly id: string }
  | ({ readonly type: "returned"; readonly why: string } & LedgerLine)
  /** A transfer is refused for good, however often it is delivered. */
  | { readonly type: "declined"; readonly id: string }
  | ({
      readonly type: Receipt;
      readonly from: AccountId;
      readonly expiresAt: number;
      /** The Owner in whose tree it was given, if that is not the receiver's own. */
      readonly owner?: AccountId;
    } & LedgerLine)
  | ({ readonly type: "charge" } & Charged)
  /**
   * A charge that came after its account was emptied. It is not counted as usage and is written off in the
   * same commit.
   */
  | ({ readonly type: "late_charge" } & Charged)
  | ({ readonly type: "query_fee" } & LineApiKey & Spending & LedgerLine)
  | ({ readonly type: "delete_fee" } & LedgerLine)
  /** A negative balance that will not be paid is raised to zero. */
  | ({ readonly type: "write_off" } & LedgerLine)
  /** Root set lifetime figures by hand; the amount of the line is 0. */
  | ({
      readonly type: "adjust";
      readonly by: AccountId;
      readonly before: Partial<Adjusted>;
      readonly after: Partial<Adjusted>;
    } & LedgerLine)
  /**
   * A request ended without a charge: it counts in the windows, and no reply waits for it. `takenAt` is as in
   * a charge.
   */
  | {
      readonly type: "released";
      readonly id: string;
      readonly model: string;
      readonly admittedAt: number;
      readonly takenAt?: number;
      /** Absent for the main key. */
      readonly apiKey?: ApiKeyId;
    }
  | Expire;

/** Events of profile, children, move, closing, AutoQuota and alerts. */
export type LifeEvent =
  | { readonly type: "created"; readonly profile: Profile }
  /** The creation took too long: this account can never be created. */
  | { readonly type: "forgone" }
  /** The API key was replaced; the former one is invalid from here on. */
  | { readonly type: "rotated"; readonly keyHash: string }
  | { readonly type: "updated"; readonly change: ProfileChange; readonly by: AccountId }
  /** A child was moved here, or has left. A new child is counted by the `owing` transfer that creates it. */
  | { readonly type: "child_joined" | "child_left"; readonly id: string; readonly child: AccountId }
  /** Another parent is asked to take this account; the move ends with `moved` or `move_refused`. */
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
  /** A former parent has confirmed that this account left. */
  | { readonly type: "left"; readonly id: string }
  | { readonly type: "closing"; readonly id: string; readonly bornAt: number; readonly by: AccountId }
  /** The credit has left: as fee and refund, or a negative balance was written off. */
  | { readonly type: "emptied"; readonly id: string; readonly fee: Nano; readonly refunded: Nano }
  | { readonly type: "closed"; readonly id: string }
  /** AutoQuota asks the parent; the request is open until the credit arrives or is refused. */
  | {
      readonly type: "quota_asked";
      readonly id: string;
      readonly bornAt: number;
      readonly from: AccountId;
      readonly amount: Nano;
      /** The minimum balance that the parent must keep. */
      readonly keep: Nano;
    }
  | { readonly type: "quota_granted"; readonly id: string }
  | { readonly type: "quota_refused"; readonly id: string; readonly why: string }
  /**
   * The cost of `month` (`YYYY-MM`) reached SoftLimit; written once a month, beside the charge that reached
   * it.
   */
  | {
      readonly type: "soft_limit_reached";
      readonly month: string;
      readonly limit: Nano;
      readonly spent: Nano;
    }
  | { readonly type: "mail_sent"; readonly month: string }
  | { readonly type: "mail_postponed"; readonly month: string; readonly nextAt: number };

/** Events of the named API keys; `by` is the account that acted. */
export type ApiKeyEvent =
  /** `id` is the dedup id of the command. */
  | { readonly type: "api_key_added"; readonly id: string; readonly key: ApiKey }
  | {
      readonly type: "api_key_updated";
      readonly apiKey: ApiKeyId;
      readonly change: ApiKeyChange;
      readonly by: AccountId;
    }
  | {
      readonly type: "api_key_rotated";
      readonly apiKey: ApiKeyId;
      readonly hash: string;
      /** The account to which the secret was shown. */
      readonly by: AccountId;
      /** Id of the command. */
      readonly issuedBy: string;
      /** Wall-clock ms until which the former secret is valid. */
      readonly formerUntil: number;
      /** The newest secret was never shown, and ends instead of the one before. */
      readonly replaces: boolean;
    }
  | { readonly type: "api_key_deleted"; readonly apiKey: ApiKeyId; readonly by: AccountId }
  /** A key was used for something that writes no line; at most once an hour. */
  | { readonly type: "api_key_used"; readonly apiKey: ApiKeyId }
  /** The claims of these dead secrets are released. */
  | { readonly type: "api_key_secrets_forgotten"; readonly hashes: readonly string[] };

export type AccountEvent = MoneyEvent | LifeEvent | ApiKeyEvent;
