// Computes what a request may reserve: its worst case if the limits allow it. Only a request beside no other hold that the
// limit counts may reserve less, so that a nearly empty account can still send one request at a time. Reads only; `admit`
// opens the hold. Each limit is a row of a table: a further one is a further row.

import type { Refusal } from "../../src/base/errors.ts";
import { availableAt, balanceAt, bookBalance, withOverdraft } from "../credit.ts";
import { formatUsd, least, minus, most, type Nano, plusCapped, ZERO } from "../money.ts";
import { dayEnd, monthEnd } from "../time.ts";
import { spentInMonth, spentOnDay } from "./evolve.ts";
import { type LimitRow, reserveTokens, type Spender, type WindowDemand } from "./rate-limits.ts";
import { isRoot } from "./state.ts";

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
 * Returns the reservation, or the refusal of the first limit that is exceeded: rate limits, the caps of the key, then
 * insufficient_balance, hard_limit_reached, daily_limit_reached of the account. `counted` means that the windows of account
 * and key already include the request.
 */
export function reserve(
  spender: Spender,
  need: HoldDemand,
  now: number,
  counted: boolean,
): Reservation | Refusal {
  const tokens = reserveTokens(spender, need, now, counted);
  if (typeof tokens !== "number") return tokens;
  const { profile, named, state } = spender;
  let cost: Nano | Refusal = need.cost;
  if (named !== null) cost = fitted(KEY_LIMITS, spender, need, cost, now);
  if (typeof cost !== "number") return cost;
  // Root has no limits of its own; the caps of its keys hold.
  if (isRoot(profile)) return { cost, tokens };

  const spendable = withOverdraft(balanceAt(state.credit, state.volatile, now), profile.xCredit);
  if (spendable <= need.threshold) return insufficient(spendable, need.threshold);
  cost = fitted(ACCOUNT_LIMITS, spender, need, cost, now);
  return typeof cost === "number" ? { cost, tokens } : cost;
}

/** Returns the cost to hold below these limits, which is smaller than the worst case only beside no other hold. */
function fitted(
  limits: readonly MoneyLimit[],
  spender: Spender,
  need: HoldDemand,
  worst: Nano,
  now: number,
): Nano | Refusal {
  let cost = worst;
  for (const limit of limits) {
    if (!limit.isSet(spender)) continue;
    const remaining = limit.remaining(spender, now);
    if (cost <= remaining) continue;
    if (remaining <= 0 || remaining < need.promptCost || !limit.isAlone(spender)) {
      return limit.refusal(spender, need.cost, now);
    }
    cost = least(cost, remaining);
  }
  return cost;
}

/** Returns the refusal of a fee by a cap of the key that asks, or null when it fits below all of them. */
export function feeRefusal(spender: Spender, fee: Nano, now: number): Refusal | null {
  if (spender.named === null) return null;
  const limit = KEY_LIMITS.find((one) => one.isSet(spender) && one.remaining(spender, now) < fee);
  return limit?.refusal(spender, fee, now) ?? null;
}

/** Returns what remains of the key's caps, the balance and the account's limits; Root has no limits of its own. */
export function moneyRows(spender: Spender, now: number): LimitRow[] {
  const { profile, named } = spender;
  const limits = [...(named === null ? [] : KEY_LIMITS), ...(isRoot(profile) ? [] : ACCOUNT_LIMITS)];
  return limits
    .filter((limit) => limit.isSet(spender))
    .map((limit) => {
      const [whole, remaining] = [limit.limit(spender), limit.remaining(spender, now)];
      return {
        scope: limit.scope,
        name: limit.name,
        limit: whole,
        used: minus(whole, remaining),
        remaining: most(ZERO, remaining),
        resetsAt: limit.resetsAt(now),
        unit: "nano",
      };
    });
}

/** What bounds the cost of requests: the balance, or the spending of a month or a day. */
interface MoneyLimit {
  readonly scope: LimitRow["scope"];
  readonly name: LimitRow["name"];
  isSet(spender: Spender): boolean;
  limit(spender: Spender): Nano;
  /** What remains after holds; negative if more was spent than the limit allows. */
  remaining(spender: Spender, now: number): Nano;
  /** Whether the limit counts no open hold. Asked only where the limit is exceeded. */
  isAlone(spender: Spender): boolean;
  resetsAt(now: number): number | null;
  refusal(spender: Spender, needed: Nano, now: number): Refusal;
}

const available = ({ state, profile }: Spender, now: number): Nano =>
  withOverdraft(availableAt(state.credit, state.volatile, now), profile.xCredit);

const isAccountAlone = ({ state }: Spender): boolean => state.volatile.holds.size === 0;

const BALANCE: MoneyLimit = {
  scope: "account",
  name: "balance",
  isSet: () => true,
  limit: ({ state, profile }) => withOverdraft(bookBalance(state.credit), profile.xCredit),
  remaining: available,
  isAlone: isAccountAlone,
  resetsAt: () => null,
  refusal(spender, needed, now) {
    const held = spender.state.volatile.heldCost;
    return {
      code: "insufficient_balance",
      message:
        `This request may cost up to ${formatUsd(needed)} USD; ${formatUsd(available(spender, now))} USD is free on this account` +
        `${held > 0 ? `, ${formatUsd(held)} USD is reserved by requests in flight` : ""}. Recharge, or ask for less output.`,
    };
  },
};

/** How far back a limit of spending counts. */
const PERIODS = {
  hardLimit: { name: "hard_limit", called: "monthly HardLimit", resetsAt: monthEnd },
  dailyLimit: { name: "daily_limit", called: "DailyLimit", resetsAt: dayEnd },
} as const;

/** Where a limit of spending stands, and what counts against it. */
interface Payer {
  readonly scope: LimitRow["scope"];
  /** Whose limit it is, in the messages of refusals. */
  of(spender: Spender): string;
  limit(spender: Spender, field: keyof typeof PERIODS): Nano;
  spent(spender: Spender, field: keyof typeof PERIODS, now: number): Nano;
  held(spender: Spender): Nano;
  isAlone(spender: Spender): boolean;
}

const ACCOUNT: Payer = {
  scope: "account",
  of: () => "",
  limit: ({ profile }, field) => profile[field],
  spent: ({ state }, field, now) =>
    field === "hardLimit" ? spentInMonth(state, now) : spentOnDay(state, now),
  held: ({ state }) => state.volatile.heldCost,
  isAlone: isAccountAlone,
};

/** Asked only for spenders with a named key. */
const API_KEY: Payer = {
  scope: "api_key",
  of: ({ named }) => ` of key ${named!.key.name}`,
  limit: ({ named }, field) => named!.key[field],
  spent: ({ named }, field, now) =>
    field === "hardLimit" ? named!.spentInMonth(now) : named!.spentOnDay(now),
  held: ({ state, named }) => state.volatile.keyHolds?.get(named!.key.id)?.cost ?? ZERO,
  isAlone: ({ state, named }) => !state.volatile.keyHolds?.has(named!.key.id),
};

function periodLimit(payer: Payer, field: keyof typeof PERIODS): MoneyLimit {
  const { name, called, resetsAt } = PERIODS[field];
  return {
    scope: payer.scope,
    name,
    isSet: (spender) => payer.limit(spender, field) !== 0,
    limit: (spender) => payer.limit(spender, field),
    remaining: (spender, now) =>
      minus(payer.limit(spender, field), plusCapped(payer.spent(spender, field, now), payer.held(spender))),
    isAlone: payer.isAlone,
    resetsAt,
    refusal: (spender, _needed, now) => ({
      code: `${name}_reached`,
      message:
        `The ${called}${payer.of(spender)} of ${formatUsd(payer.limit(spender, field))} USD is reached: ` +
        `${formatUsd(payer.spent(spender, field, now))} spent, ${formatUsd(payer.held(spender))} in flight.`,
    }),
  };
}

/** The limits of each payer, in the order in which a request is checked. */
const KEY_LIMITS: readonly MoneyLimit[] = [
  periodLimit(API_KEY, "hardLimit"),
  periodLimit(API_KEY, "dailyLimit"),
];
const ACCOUNT_LIMITS: readonly MoneyLimit[] = [
  BALANCE,
  periodLimit(ACCOUNT, "hardLimit"),
  periodLimit(ACCOUNT, "dailyLimit"),
];

const insufficient = (spendable: Nano, threshold: Nano): Refusal => ({
  code: "insufficient_balance",
  message: `The balance of ${formatUsd(spendable)} USD is not above the minimum of ${formatUsd(threshold)} USD. Recharge this account.`,
});
