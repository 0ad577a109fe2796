// The lifecycle stages of an account, and its unfinished work with other accounts: a move to another parent,
// its closing, an AutoQuota request, and notices to former parents. Types only; the rules stand in move.ts,
// closing.ts, auto-quota.ts.

import type { AccountId } from "../ids.ts";
import type { Nano } from "../money.ts";

/**
 * closing: the key is invalid, and requests in flight still settle. emptied: the credit has left, and late
 * charges are losses. closed: the deletion has finished.
 */
export type LifecycleStage = "open" | "closing" | "emptied" | "closed";

/** All stages, in the order in which an account passes them. */
export const LIFECYCLE_STAGES: readonly LifecycleStage[] = ["open", "closing", "emptied", "closed"];

/** A deletion that was started. `fee` and `refunded` are nano-dollars; see closing.ts. */
export interface Closing {
  readonly id: string;
  readonly bornAt: number;
  /** Wall-clock ms at which it started. */
  readonly at: number;
  readonly by: AccountId;
  readonly stage: Exclude<LifecycleStage, "open">;
  readonly fee: Nano;
  readonly refunded: Nano;
}

/**
 * Settings that change together with a move, so that the new parent checks those that the account will have
 * there.
 */
export interface MovedTerms {
  readonly rates?: number;
  readonly resources?: readonly string[];
}

/** The last move: open while `asked`, otherwise its outcome. */
export interface AccountMove {
  readonly id: string;
  readonly bornAt: number;
  readonly to: AccountId;
  readonly dna: string;
  readonly brings?: MovedTerms;
  readonly stage: "asked" | "moved" | "refused";
  readonly refusal: { readonly code: string; readonly message: string } | null;
}

/** A pending notice to a former parent, which still counts this account among its children. */
export interface ChildRemoval {
  readonly id: string;
  readonly parent: AccountId;
  readonly bornAt: number;
}

/** The state of AutoQuota: at most one open request, and a pause for charges after a refusal. */
export interface QuotaRequest {
  readonly asked: {
    readonly id: string;
    readonly bornAt: number;
    /** The parent that was asked; the account may have another parent since. */
    readonly from: AccountId;
    readonly amount: Nano;
    readonly keep: Nano;
    /** The parent has agreed and the credit is in transit. */
    readonly granted: boolean;
  } | null;
  /** Wall-clock ms before which no charge makes a further request; 0 means no pause. */
  readonly notBefore: number;
}

/** A mail about a reached SoftLimit, at most one per month. Amounts are nano-dollars. */
export interface SoftLimitAlert {
  readonly month: string;
  readonly state: "waiting" | "sent";
  /** Wall-clock ms of the next try. */
  readonly dueAt: number;
  readonly limit: Nano;
  readonly spent: Nano;
}

/** No open request and no pause. */
export const NO_QUOTA_REQUEST: QuotaRequest = { asked: null, notBefore: 0 };
