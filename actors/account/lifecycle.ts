// The stages of an account's life, and what of its affairs with other accounts is unfinished: its move to another parent,
// its closing, its request for AutoQuota, parents that do not know yet that it has left. Shapes only.

import type { AccountId } from "../ids.ts";
import type { Nano } from "../money.ts";

/**
 * closing: nobody's key any more; requests in flight still settle. emptied: its credit has gone, late charges are
 * losses. closed: over.
 */
export type LifecycleStage = "open" | "closing" | "emptied" | "closed";

export const LIFECYCLE_STAGES: readonly LifecycleStage[] = ["open", "closing", "emptied", "closed"];

export interface Closing {
  readonly id: string;
  readonly bornAt: number;
  /** Wall ms. */
  readonly at: number;
  readonly by: AccountId;
  readonly stage: Exclude<LifecycleStage, "open">;
  readonly fee: Nano;
  readonly refunded: Nano;
}

/** What an account is given with its move, so that the new parent judges it by what it will have there. */
export interface MovedTerms {
  readonly rates?: number;
  readonly resources?: readonly string[];
}

/** The last move: asked of the new parent, or how it ended. */
export interface AccountMove {
  readonly id: string;
  readonly bornAt: number;
  readonly to: AccountId;
  readonly dna: string;
  readonly brings?: MovedTerms;
  readonly stage: "asked" | "moved" | "refused";
  readonly refusal: { readonly code: string; readonly message: string } | null;
}

/** A parent that still counts this account among its children. */
export interface ChildRemoval {
  readonly id: string;
  readonly parent: AccountId;
  readonly bornAt: number;
}

/** AutoQuota: one request at a time, and none beside a charge for a while after a refusal. */
export interface QuotaRequest {
  readonly asked: {
    readonly id: string;
    readonly bornAt: number;
    /** The parent that was asked, whoever is the parent since. */
    readonly from: AccountId;
    readonly amount: Nano;
    readonly keep: Nano;
    /** The parent has given: the credit is on its way. */
    readonly granted: boolean;
  } | null;
  /** Wall ms before which no charge makes a further request. */
  readonly notBefore: number;
}

/** A mail that SoftLimit asks for, one a month. */
export interface SoftLimitAlert {
  readonly month: string;
  readonly state: "waiting" | "sent";
  /** Wall ms of the next try. */
  readonly dueAt: number;
  readonly limit: Nano;
  readonly spent: Nano;
}

export const NO_QUOTA_REQUEST: QuotaRequest = { asked: null, notBefore: 0 };
