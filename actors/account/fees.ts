// Ledger lines that belong to no request and no transfer: query fees, and figures that Root sets by hand.

import type { Decision, Turn } from "../../src/runtime/actor.ts";
import { availableAt, bookBalance, creditAfter, partsToName, withOverdraft } from "../credit.ts";
import { type AccountId, type ApiKeyId, MAIN_API_KEY } from "../ids.ts";
import { formatUsd, minus, type Nano, negate, ZERO } from "../money.ts";
import { INVALID_KEY } from "./authenticate.ts";
import { accountNotFound, expireDue } from "./charge.ts";
import type { Adjusted } from "./events.ts";
import { feeRefusal } from "./reserve.ts";
import { type Account, type AccountEvent, isRoot } from "./state.ts";
import { accountChanged } from "./views.ts";

/** Input of the command `fee`; `id` is the dedup id, `amount` is in nano-dollars, `apiKey` the key that asked. */
export interface TakeFee {
  readonly id: string;
  readonly amount: Nano;
  readonly apiKey: ApiKeyId;
}

/**
 * Takes a fee once and returns the amount paid, which is 0 for Root. Refuses hard_limit_reached and daily_limit_reached of
 * the key that asked, invalid_api_key if it was deleted, insufficient_balance, user_not_found.
 */
export function takeFee(state: Account, { id, amount, apiKey }: TakeFee, turn: Turn): Decision<AccountEvent> {
  const { profile, credit, volatile } = state;
  if (profile === null) return { refused: accountNotFound(state) };
  if (isRoot(profile)) return { reply: { paid: ZERO } };
  if (turn.done) return { reply: { paid: amount } };
  const named = state.apiKeys?.get(apiKey) ?? null;
  // The caps of a deleted key are not known any more.
  if (named === null && apiKey !== MAIN_API_KEY) return { refused: INVALID_KEY };
  const capped = feeRefusal({ state, profile, named }, amount, turn.now);
  if (capped !== null) return { refused: capped };
  const free = withOverdraft(availableAt(credit, volatile, turn.now), profile.xCredit);
  if (free < amount) {
    const message = `This answer costs ${formatUsd(amount)} USD; ${formatUsd(free)} USD is free on this account. Recharge, or ask for less.`;
    return { refused: { code: "insufficient_balance", message } };
  }
  const expired = expireDue(state, turn);
  const before = expired.at(-1)?.balanceAfter ?? bookBalance(credit);
  const taken = partsToName(creditAfter(credit, expired, turn.now), amount, turn.now);
  return {
    reply: { paid: amount },
    events: [
      ...expired,
      {
        ...{ type: "query_fee", id, amount: negate(amount), balanceAfter: minus(before, amount) },
        ...(named !== null && { apiKey: named.key.id, apiKeyName: named.key.name }),
        ...(taken !== undefined && { taken }),
      },
    ],
  };
}

/** Input of the command `adjust`; `id` is the dedup id, `by` the account that sets the figures. */
export interface AdjustTotals extends Partial<Adjusted> {
  readonly id: string;
  readonly by: AccountId;
}

/**
 * Sets lifetime figures or the overdraft for Root. A ledger line of amount 0 records the values before and
 * after. A new overdraft is published. Refuses user_not_found.
 */
export function adjustTotals(
  state: Account,
  { id, by, ...input }: AdjustTotals,
  turn: Turn,
): Decision<AccountEvent> {
  if (turn.done) return { reply: {} };
  const { profile, creditUsed, chargeAmount } = state;
  if (profile === null) return { refused: accountNotFound(state) };
  const now: Adjusted = { creditUsed, chargeAmount, xCredit: profile.xCredit };
  const names = (["creditUsed", "chargeAmount", "xCredit"] as const).filter(
    (name) => input[name] !== undefined,
  );
  const pick = (from: Partial<Adjusted>): Partial<Adjusted> =>
    Object.fromEntries(names.map((name) => [name, from[name]]));
  const { xCredit } = input;
  return {
    reply: {},
    events: [
      {
        ...{ type: "adjust", id, amount: ZERO, balanceAfter: bookBalance(state.credit), by },
        ...{ before: pick(now), after: pick(input) },
      },
    ],
    ...(xCredit === undefined ? {} : { publish: [accountChanged(state, { ...profile, xCredit })] }),
    save: true,
  };
}
