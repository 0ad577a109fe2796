// AutoQuota: when the balance runs low the parent is asked for more, one request at a time.
//
//   Q  1  ask      `quota_asked` Q, with the charge that brought the balance down, or by `topUp`; an effect to the parent
//      2  give     the parent's `give` Q keeps UserMinBalance and moves the amount as any transfer, or refuses
//      3  answer   given: `quota_granted` Q, nothing more is asked; the request ends when the line `auto_quota` Q is here.
//                  refused: `quota_refused` Q, and no charge asks again for 60 s; whoever finds too little balance does at
//                  once, after a look at what the parent has (src/gateway/admission/auto-quota.ts)
//
// Nothing is asked for that would not fit here; where it does not fit on arrival, `declined` Q ends the request, and the
// parent gets it back.
//
// crash              state found         recovery
// after 1            Q asked             asked again: the parent finds Q by its mark, or decides now
// after 2            Q asked, P owes Q   both are delivered, in any order
// the credit first   Q over              the word of it changes nothing

import type { Refusal } from "../../src/base/errors.ts";
import type { Decision, Effect, Publication, Turn } from "../../src/runtime/actor.ts";
import { balanceAt, type Credit, spend } from "../credit.ts";
import type { AccountId } from "../ids.ts";
import type { Nano } from "../money.ts";
import { roomOf } from "./capacity.ts";
import type { Account, AccountEvent, Profile } from "./state.ts";

/** Credit that came by AutoQuota is valid so long. */
const QUOTA_DAYS = 180;

export interface TopUp {
  /** The Owner's UserMinBalance: what the parent must keep. */
  readonly keep: Nano;
}

/**
 * Asks the parent for AutoQuota, whatever the balance is: admission refused for lack of it. `asked`: a request is open
 * now; the caller reads the balance until it is there.
 */
export function topUp(state: Account, { keep }: TopUp, turn: Turn): Decision<AccountEvent> {
  if (state.quota.asked !== null) return { reply: { asked: true } };
  // Whatever the parent said before: it is asked for a request that is refused now.
  const events = ask(state, `${turn.id}:quota`, keep, turn.now);
  return { reply: { asked: events.length > 0 }, events };
}

/** Beside a charge that leaves `keep` or less: the request, when none is open. */
export function requestQuotaAfterCharge(
  state: Account,
  charge: { readonly id: string; readonly cost: Nano; readonly keep?: Nano },
  now: number,
): AccountEvent[] {
  if (charge.keep === undefined || state.profile?.autoQuota === 0 || now < state.quota.notBefore) return [];
  const credit: Credit = { entries: [...state.credit.entries], owed: state.credit.owed };
  spend(credit, charge.cost);
  if (balanceAt(credit, state.volatile.heldCost, now) > charge.keep) return [];
  return ask(state, `${charge.id}:quota`, charge.keep, now);
}

function ask(state: Account, id: string, keep: Nano, now: number): AccountEvent[] {
  const { profile, quota, closing } = state;
  if (profile === null || profile.parent === null || closing !== null || profile.autoQuota <= 0) return [];
  if (quota.asked !== null || profile.autoQuota > roomOf(state)) return [];
  const { parent: from, autoQuota: amount } = profile;
  return [{ type: "quota_asked", id, bornAt: now, from, amount, keep }];
}

/** What the parent is still to be asked. */
export function quotaEffects({ id, quota: { asked } }: Account): Effect[] {
  if (asked === null || asked.granted) return [];
  const { bornAt, from, amount, keep } = asked;
  const command = { type: "give", id: asked.id, bornAt, to: id, amount, days: QUOTA_DAYS, keep };
  return [
    {
      id: `${asked.id}:give`,
      to: { kind: "account", id: String(from) },
      command: { ...command, kind: "auto_quota" } as { type: string },
      bornAt,
    },
  ];
}

/** AutoQuota has moved credit here. */
export interface QuotaMove {
  readonly id: AccountId;
  readonly dna: string;
  readonly from: AccountId;
  readonly amount: Nano;
}

export const quotaTopic = (id: AccountId | ">"): string => `quota.${id}`;

export const quotaMoved = ({ id, dna }: Profile, from: AccountId, amount: Nano): Publication => {
  const body: QuotaMove = { id, dna, from, amount };
  return { topic: quotaTopic(id), body };
};

/** The parent's answer. */
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
