// Admission: may this request be made, and what is reserved for it? Guards in the contract's order, then the hold.
//
//   key, flags, IP, (path, model, level: decided by routing), rate limits, balance, HardLimit, DailyLimit
//
// The hold is the request's worst case where that remains. What remains is given instead only to a request that is
// alone on the account, so a nearly empty account can still call, one request at a time. Writes nothing durable.

import type { Decision, Refusal, Turn } from "../../src/runtime/actor.ts";
import { allowsAddress } from "../address.ts";
import { availableAt, balanceAt } from "../credit.ts";
import { formatUsd, least, minus, type Nano, plus } from "../money.ts";
import { spentInMonth, spentOnDay } from "./evolve.ts";
import { HOLD_MS, HOLDS_MOST, openHold } from "./holds.ts";
import { headroom, type Remaining, reserveTokens } from "./rate-limits.ts";
import { type Account, type AccountEvent, isRoot, type Profile, type RateLimits } from "./state.ts";

export interface AdmitInput {
  /** Id of hold, charge and ledger line, minted by the service. */
  readonly id: string;
  readonly keyHash: string;
  /** The client's address. */
  readonly ip: string;
  /** Version of the profile that the route was made with. */
  readonly version: number;
  /** Routing decided against path, model or level: answered after key, flags and IP. */
  readonly routing: Refusal | null;
  /** The model finally used. */
  readonly model: string;
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Worst case in all, and of the prompt alone. */
  readonly cost: Nano;
  readonly promptCost: Nano;
  /** Limits of this model for this account, precedence already applied. */
  readonly modelLimits: RateLimits | null;
  /** The Owner's UserApiBalance. */
  readonly threshold: Nano;
}

export interface Admitted {
  readonly cost: Nano;
  readonly tokens: number;
  readonly admittedAt: number;
  readonly requests: Remaining | null;
  readonly tokensLeft: Remaining | null;
}

/** The refusal with which an account answers a route made from an old profile. `details` is the fresh one. */
export const STALE = "stale_profile";

export function admit(state: Account, input: AdmitInput, turn: Turn): Decision<AccountEvent> {
  const { now } = turn;
  const refused = forbidden(state.profile, input.keyHash, input.ip);
  // Who routes by an old profile without a white list does not know the client's address yet.
  const stale = input.version !== state.version;
  if (refused !== null && !(stale && refused.code === "ip_not_allowed")) return { refused, ungated: true };
  const profile = state.profile!;
  if (stale) {
    return {
      refused: {
        code: STALE,
        message: "the profile has changed",
        details: { profile, version: state.version },
      },
      ungated: true,
    };
  }
  if (input.routing !== null) return { refused: input.routing, ungated: true };

  const open = state.volatile.holds.get(input.id);
  if (open === undefined && state.volatile.holds.size >= HOLDS_MOST) {
    return { refused: full(), ungated: true };
  }
  const reserved =
    open === undefined ? reserve(state, profile, input, now) : { cost: open.cost, tokens: open.tokens };
  if ("code" in reserved) return { refused: reserved, ungated: true };
  if (open === undefined) {
    openHold(
      state,
      { id: input.id, model: input.model, ...reserved, admittedAt: now, expiresAt: now + HOLD_MS },
      now,
    );
  }
  return {
    reply: { ...reserved, admittedAt: open?.admittedAt ?? now, ...headroom(state, profile, input, now) },
    ungated: true,
  };
}

/** Nobody's key, or not this account's any more. */
export const WRONG_KEY: Refusal = {
  code: "invalid_api_key",
  message: "The API key is not valid. Check the key, or ask for a new one.",
};

/** Key, flags, IP: what every authenticated endpoint asks first. */
export function forbidden(profile: Profile | null, keyHash: string, ip: string): Refusal | null {
  if (profile === null || profile.keyHash !== keyHash) {
    return WRONG_KEY;
  }
  if (!profile.status) {
    return {
      code: "account_disabled",
      message: "This account is disabled. Ask its parent account to enable it.",
    };
  }
  if (profile.suspended) {
    return {
      code: "account_suspended",
      message:
        "This account is suspended: only its dashboard can be read. Ask its parent account to lift it.",
    };
  }
  if (!allowsAddress(profile.allowIps, ip)) {
    return {
      code: "ip_not_allowed",
      message: `Requests from ${ip} are not allowed by this account's AllowIPs.`,
    };
  }
  return null;
}

const full = (): Refusal => ({
  code: "service_unavailable",
  message: `This account has ${HOLDS_MOST} requests in flight, the most it may have. Wait for some to end.`,
  retryAfterS: 1,
});

/** The hold to take: the worst case, or what remains when the request is alone; or why not. */
function reserve(
  state: Account,
  profile: Profile,
  input: AdmitInput,
  now: number,
): { cost: Nano; tokens: number } | Refusal {
  const alone = state.volatile.holds.size === 0;
  const tokens = reserveTokens(state, profile, input, now, alone);
  if (typeof tokens !== "number") return tokens;
  if (isRoot(profile)) return { cost: input.cost, tokens };

  const { credit, volatile } = state;
  const spendable = plus(balanceAt(credit, volatile.heldCost, now), profile.xCredit);
  if (spendable <= input.threshold) return insufficient(spendable, input.threshold);

  let cost = input.cost;
  for (const limit of moneyLimits(state, profile, now)) {
    if (cost <= limit.remaining) continue;
    if (!alone || limit.remaining <= 0 || limit.remaining < input.promptCost) {
      return limit.refusal(input.cost);
    }
    cost = least(cost, limit.remaining);
  }
  return { cost, tokens };
}

interface MoneyLimit {
  readonly remaining: Nano;
  refusal(needed: Nano): Refusal;
}

function moneyLimits(state: Account, profile: Profile, now: number): MoneyLimit[] {
  const held = state.volatile.heldCost;
  const available = plus(availableAt(state.credit, held, now), profile.xCredit);
  const limits: MoneyLimit[] = [
    {
      remaining: available,
      refusal: (needed) => ({
        code: "insufficient_balance",
        message:
          `This request may cost up to ${formatUsd(needed)} USD; ${formatUsd(available)} USD is free on this account` +
          `${held > 0 ? `, ${formatUsd(held)} USD is reserved by requests in flight` : ""}. Recharge, or ask for less output.`,
      }),
    },
  ];
  const spent: [Nano, Nano, string, string][] = [
    [profile.hardLimit, spentInMonth(state, now), "hard_limit_reached", "monthly HardLimit"],
    [profile.dailyLimit, spentOnDay(state, now), "daily_limit_reached", "DailyLimit"],
  ];
  for (const [limit, used, code, name] of spent) {
    if (limit === 0) continue;
    const remaining = minus(minus(limit, used), held);
    limits.push({
      remaining,
      refusal: () => ({
        code,
        message: `The ${name} of ${formatUsd(limit)} USD is reached: ${formatUsd(used)} spent, ${formatUsd(held)} in flight.`,
      }),
    });
  }
  return limits;
}

const insufficient = (spendable: Nano, threshold: Nano): Refusal => ({
  code: "insufficient_balance",
  message: `The balance of ${formatUsd(spendable)} USD is not above the minimum of ${formatUsd(threshold)} USD. Recharge this account.`,
});
