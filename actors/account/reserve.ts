// What a request may reserve: the worst case where that remains, less only for a request that is alone on the account,
// so that a nearly empty account can still call, one request at a time. Reads only; taking the hold is admit's part.

import type { Refusal } from "../../src/base/errors.ts";
import { availableAt, balanceAt, bookBalance, withOverdraft } from "../credit.ts";
import { formatUsd, least, minus, most, type Nano, ZERO } from "../money.ts";
import { dayEnd, monthEnd } from "../time.ts";
import { spentInMonth, spentOnDay } from "./evolve.ts";
import { type LimitRow, reserveTokens, type WindowDemand } from "./rate-limits.ts";
import { type Account, isRoot, type Profile } from "./state.ts";

/** What a request needs of the account, at worst. */
export interface HoldDemand extends WindowDemand {
  /** Worst case in all, and of the prompt alone. */
  readonly cost: Nano;
  readonly promptCost: Nano;
  /** The Owner's UserApiBalance. */
  readonly threshold: Nano;
}

export interface Reservation {
  readonly cost: Nano;
  readonly tokens: number;
}

/**
 * The hold to take, or why none is given. `counted`: the account counts this request already, so that only its cost,
 * its tokens and its model are in question.
 */
export function reserve(
  state: Account,
  profile: Profile,
  need: HoldDemand,
  now: number,
  counted: boolean,
): Reservation | Refusal {
  const alone = state.volatile.holds.size === 0;
  const tokens = reserveTokens(state, profile, need, now, { alone, counted });
  if (typeof tokens !== "number") return tokens;
  if (isRoot(profile)) return { cost: need.cost, tokens };

  const { credit, volatile } = state;
  const spendable = withOverdraft(balanceAt(credit, volatile.heldCost, now), profile.xCredit);
  if (spendable <= need.threshold) return insufficient(spendable, need.threshold);

  let cost = need.cost;
  for (const limit of moneyLimits(state, profile, now)) {
    if (cost <= limit.remaining) continue;
    if (!alone || limit.remaining <= 0 || limit.remaining < need.promptCost) {
      return limit.refusal(need.cost);
    }
    cost = least(cost, limit.remaining);
  }
  return { cost, tokens };
}

/** What balance and money limits leave now. Root has none of them. */
export function moneyRows(state: Account, profile: Profile, now: number): LimitRow[] {
  if (isRoot(profile)) return [];
  return moneyLimits(state, profile, now).map(({ name, limit, remaining, resetsAt }) => ({
    scope: "account",
    name,
    limit,
    remaining: most(ZERO, remaining),
    resetsAt,
    unit: "nano",
  }));
}

interface MoneyLimit {
  readonly name: LimitRow["name"];
  readonly limit: Nano;
  /** Holds taken off; below zero where more was spent than allowed. */
  readonly remaining: Nano;
  readonly resetsAt: number | null;
  refusal(needed: Nano): Refusal;
}

function moneyLimits(state: Account, profile: Profile, now: number): MoneyLimit[] {
  const held = state.volatile.heldCost;
  const available = withOverdraft(availableAt(state.credit, held, now), profile.xCredit);
  const limits: MoneyLimit[] = [
    {
      name: "balance",
      limit: withOverdraft(bookBalance(state.credit), profile.xCredit),
      remaining: available,
      resetsAt: null,
      refusal: (needed) => ({
        code: "insufficient_balance",
        message:
          `This request may cost up to ${formatUsd(needed)} USD; ${formatUsd(available)} USD is free on this account` +
          `${held > 0 ? `, ${formatUsd(held)} USD is reserved by requests in flight` : ""}. Recharge, or ask for less output.`,
      }),
    },
  ];
  const periods = [
    ["hard_limit", "monthly HardLimit", profile.hardLimit, spentInMonth(state, now), monthEnd],
    ["daily_limit", "DailyLimit", profile.dailyLimit, spentOnDay(state, now), dayEnd],
  ] as const;
  for (const [name, called, limit, spent, end] of periods) {
    if (limit === 0) continue;
    limits.push({
      name,
      limit,
      remaining: minus(minus(limit, spent), held),
      resetsAt: end(now),
      refusal: () => ({
        code: `${name}_reached`,
        message: `The ${called} of ${formatUsd(limit)} USD is reached: ${formatUsd(spent)} spent, ${formatUsd(held)} in flight.`,
      }),
    });
  }
  return limits;
}

const insufficient = (spendable: Nano, threshold: Nano): Refusal => ({
  code: "insufficient_balance",
  message: `The balance of ${formatUsd(spendable)} USD is not above the minimum of ${formatUsd(threshold)} USD. Recharge this account.`,
});
