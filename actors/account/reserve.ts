// Computes what a request may reserve: its worst case if the limits allow it. Only a request that is alone on
// the account may reserve less, so that a nearly empty account can still send one request at a time. Reads
// only; `admit` opens the hold.

import type { Refusal } from "../../src/base/errors.ts";
import { availableAt, balanceAt, bookBalance, withOverdraft } from "../credit.ts";
import { formatUsd, least, minus, most, type Nano, ZERO } from "../money.ts";
import { dayEnd, monthEnd } from "../time.ts";
import { spentInMonth, spentOnDay } from "./evolve.ts";
import { type LimitRow, reserveTokens, type WindowDemand } from "./rate-limits.ts";
import { type Account, isRoot, type Profile } from "./state.ts";

/** The worst case of a request. Costs are nano-dollars. */
export interface HoldDemand extends WindowDemand {
  /** Worst-case cost of the whole request. */
  readonly cost: Nano;
  /** Worst-case cost of the prompt alone. */
  readonly promptCost: Nano;
  /** The Owner's UserApiBalance, above which the balance must be. */
  readonly threshold: Nano;
}

/** The cost (nano-dollars) and tokens to hold. */
export interface Reservation {
  readonly cost: Nano;
  readonly tokens: number;
}

/**
 * Returns the reservation, or the refusal of the first limit that is exceeded: rate limits, then
 * insufficient_balance, hard_limit_reached, daily_limit_reached. `counted` means that the account's windows
 * already include the request.
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
  const spendable = withOverdraft(balanceAt(credit, volatile, now), profile.xCredit);
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

/** Returns what remains of the balance and the money limits; empty for Root, which has none. */
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
  /** What remains after holds; negative if more was spent than the limit allows. */
  readonly remaining: Nano;
  readonly resetsAt: number | null;
  refusal(needed: Nano): Refusal;
}

function moneyLimits(state: Account, profile: Profile, now: number): MoneyLimit[] {
  const held = state.volatile.heldCost;
  const available = withOverdraft(availableAt(state.credit, state.volatile, now), profile.xCredit);
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
