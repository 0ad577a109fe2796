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
  for (const limit of MONEY_LIMITS) {
    if (!limit.isSet(profile)) continue;
    const remaining = limit.remaining(state, profile, now);
    if (cost <= remaining) continue;
    if (!alone || remaining <= 0 || remaining < need.promptCost) {
      return limit.refusal(state, profile, need.cost, now);
    }
    cost = least(cost, remaining);
  }
  return { cost, tokens };
}

/** Returns what remains of the balance and the money limits; empty for Root, which has none. */
export function moneyRows(state: Account, profile: Profile, now: number): LimitRow[] {
  if (isRoot(profile)) return [];
  return MONEY_LIMITS.filter((limit) => limit.isSet(profile)).map((limit) => ({
    scope: "account",
    name: limit.name,
    limit: limit.limit(state, profile),
    remaining: most(ZERO, limit.remaining(state, profile, now)),
    resetsAt: limit.resetsAt(now),
    unit: "nano",
  }));
}

/** What bounds the cost of requests: the balance, or the spending of a month or a day. */
interface MoneyLimit {
  readonly name: LimitRow["name"];
  isSet(profile: Profile): boolean;
  limit(state: Account, profile: Profile): Nano;
  /** What remains after holds; negative if more was spent than the limit allows. */
  remaining(state: Account, profile: Profile, now: number): Nano;
  resetsAt(now: number): number | null;
  refusal(state: Account, profile: Profile, needed: Nano, now: number): Refusal;
}

const available = (state: Account, profile: Profile, now: number): Nano =>
  withOverdraft(availableAt(state.credit, state.volatile, now), profile.xCredit);

/** The limits in the order in which a request is checked. */
const MONEY_LIMITS: readonly MoneyLimit[] = [
  {
    name: "balance",
    isSet: () => true,
    limit: ({ credit }, { xCredit }) => withOverdraft(bookBalance(credit), xCredit),
    remaining: available,
    resetsAt: () => null,
    refusal(state, profile, needed, now) {
      const held = state.volatile.heldCost;
      return {
        code: "insufficient_balance",
        message:
          `This request may cost up to ${formatUsd(needed)} USD; ${formatUsd(available(state, profile, now))} USD is free on this account` +
          `${held > 0 ? `, ${formatUsd(held)} USD is reserved by requests in flight` : ""}. Recharge, or ask for less output.`,
      };
    },
  },
  periodLimit("hard_limit", "monthly HardLimit", "hardLimit", spentInMonth, monthEnd),
  periodLimit("daily_limit", "DailyLimit", "dailyLimit", spentOnDay, dayEnd),
];

function periodLimit(
  name: "hard_limit" | "daily_limit",
  called: string,
  field: "hardLimit" | "dailyLimit",
  spentAt: (state: Account, now: number) => Nano,
  end: (now: number) => number,
): MoneyLimit {
  return {
    name,
    isSet: (profile) => profile[field] !== 0,
    limit: (_, profile) => profile[field],
    remaining: (state, profile, now) =>
      minus(minus(profile[field], spentAt(state, now)), state.volatile.heldCost),
    resetsAt: end,
    refusal: (state, profile, _needed, now) => ({
      code: `${name}_reached`,
      message: `The ${called} of ${formatUsd(profile[field])} USD is reached: ${formatUsd(spentAt(state, now))} spent, ${formatUsd(state.volatile.heldCost)} in flight.`,
    }),
  };
}

const insufficient = (spendable: Nano, threshold: Nano): Refusal => ({
  code: "insufficient_balance",
  message: `The balance of ${formatUsd(spendable)} USD is not above the minimum of ${formatUsd(threshold)} USD. Recharge this account.`,
});
