// AutoQuota: an account whose balance runs low asks its parent for credit, with one request open at a time.
//
//   Q  1  ask      the account writes `quota_asked` Q beside the charge that lowered the balance, or by
//                  `topUp`; this makes a pending effect to the parent P
//      2  give     the parent decides `give` Q: it keeps UserMinBalance and transfers the amount, or refuses
//      3  answer   given: `quota_granted` Q; the request ends when the ledger line `auto_quota` Q is written
//                  here.
//                  refused: `quota_refused` Q; no charge asks again for 60 s. A request that is refused for
//                  lack of balance asks at once, after a check of the parent's credit
//                  (src/gateway/admission/auto-quota.ts)
//
// An account never asks for an amount that its balance cannot hold. If the amount does not fit on arrival,
// `declined` Q ends the request and the credit returns to the parent.
//
// situation                     state found                 recovery
// crash after 1                 Q asked                     delivered again; P finds the dedup id Q, or
//                                                           decides
// crash after 2                 Q asked, transfer Q open    answer and credit are both delivered, in any
//                                                           order
// credit arrives before answer  Q has ended                 the answer changes nothing

import type { Refusal } from "../../src/base/errors.ts";
import type { Decision, Effect, Publication, Turn } from "../../src/runtime/actor.ts";
import { balanceAt, creditAfter, spend } from "../credit.ts";
import type { AccountId } from "../ids.ts";
import type { Nano } from "../money.ts";
import { roomOf } from "./capacity.ts";
import type { Account, AccountEvent, Expire, Profile } from "./state.ts";

/** Days until credit that came by AutoQuota expires. */
const QUOTA_DAYS = 180;

/** Input of the command `topUp`. */
export interface TopUp {
  /** The Owner's UserMinBalance, which the parent must keep. */
  readonly keep: Nano;
}

/**
 * Asks the parent for AutoQuota regardless of the balance, after admission was refused for lack of it. The
 * reply's `asked` says that a quota request is open; the caller then polls the balance.
 */
export function topUp(state: Account, { keep }: TopUp, turn: Turn): Decision<AccountEvent> {
  if (state.quota.asked !== null) return { reply: { asked: true } };
  // An earlier refusal does not delay this, because a client's request waits for the credit.
  const request = ask(state, `${turn.id}:quota`, keep, turn.now);
  return { reply: { asked: request !== null }, events: request === null ? [] : [request] };
}

/**
 * Returns the quota request to write beside a charge that leaves `keep` or less; null if one is open or none
 * is due. `expired` are the lines that are written before the charge.
 */
export function requestQuotaAfterCharge(
  state: Account,
  charge: { readonly id: string; readonly cost: Nano; readonly keep?: Nano },
  now: number,
  expired: readonly Expire[],
): AccountEvent | null {
  if (charge.keep === undefined || state.profile?.autoQuota === 0 || now < state.quota.notBefore) return null;
  const credit = creditAfter(state.credit, expired, now);
  // Whichever entries the charge takes, the balance is the same.
  spend(credit, charge.cost);
  if (balanceAt(credit, state.volatile, now) > charge.keep) return null;
  return ask(state, `${charge.id}:quota`, charge.keep, now);
}

function ask(state: Account, id: string, keep: Nano, now: number): AccountEvent | null {
  const { profile, quota, closing } = state;
  if (profile === null || profile.parent === null || closing !== null || profile.autoQuota <= 0) return null;
  if (quota.asked !== null || profile.autoQuota > roomOf(state)) return null;
  const { parent: from, autoQuota: amount } = profile;
  return { type: "quota_asked", id, bornAt: now, from, amount, keep };
}

/** The command `startTransfer` as an AutoQuota request sends it; pending-effects.ts checks it against the protocol. */
interface GiveQuota {
  readonly type: "startTransfer";
  readonly id: string;
  readonly bornAt: number;
  readonly to: AccountId;
  readonly amount: Nano;
  readonly days: number;
  readonly keep: Nano;
  readonly kind: "auto_quota";
}

/** Returns the pending effect that asks the parent for credit; empty if no request waits for an answer. */
export function quotaEffects({ id, quota: { asked } }: Account): Effect<"account", GiveQuota>[] {
  if (asked === null || asked.granted) return [];
  const { bornAt, from, amount, keep } = asked;
  const kind = "auto_quota";
  const command = {
    type: "startTransfer",
    id: asked.id,
    bornAt,
    to: id,
    amount,
    days: QUOTA_DAYS,
    keep,
    kind,
  } as const;
  return [{ id: `${asked.id}:give`, to: { kind: "account", id: String(from) }, command, bornAt }];
}

/** Publication body: AutoQuota moved credit to the account `id`. */
export interface QuotaMove {
  readonly id: AccountId;
  readonly dna: string;
  readonly from: AccountId;
  readonly amount: Nano;
}

/** Bus topic of `QuotaMove`; `>` subscribes to all accounts. */
export const quotaTopic = (id: AccountId | ">"): string => `quota.${id}`;

/** Returns the publication that AutoQuota moved `amount` from the parent to this account. */
export const quotaMoved = ({ id, dna }: Profile, from: AccountId, amount: Nano): Publication<QuotaMove> => ({
  topic: quotaTopic(id),
  body: { id, dna, from, amount },
});

/** Records the parent's answer to quota request `id`; does nothing if that request has ended. */
export function settleQuotaRequest(
  state: Account,
  id: string,
  refused: Refusal | null,
): Decision<AccountEvent> {
  const { asked } = state.quota;
  if (asked?.id !== id || asked.granted) return { reply: {} };
  const answer: AccountEvent =
    refused === null ? { type: "quota_granted", id } : { type: "quota_refused", id, why: refused.code };
  return { reply: {}, events: [answer] };
}
