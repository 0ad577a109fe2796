// Admission: may this request be made, and what is reserved for it? Guards in the contract's order, then the hold.
//
//   key, flags, IP, a repeat's key, (path, model, level: decided by routing), rate limits, balance, HardLimit, DailyLimit
//
// A request whose hold is open may ask again for another model: its hold is then taken anew, as if the old one were not
// there, but still as the same request. Writes nothing durable.

import type { Refusal } from "../../src/base/errors.ts";
import type { Decision, Turn } from "../../src/runtime/actor.ts";
import { allowsAddress } from "../ip-allow-list.ts";
import type { Nano } from "../money.ts";
import { tooManyAborts } from "./charge.ts";
import { closeHold, HOLD_TTL_MS, HOLDS_MAX, hasEnded, openHold } from "./holds.ts";
import { idempotencyRefusal } from "./idempotency.ts";
import { type RemainingLimit, remainingLimits } from "./rate-limits.ts";
import { type HoldDemand, reserve } from "./reserve.ts";
import {
  type Account,
  type AccountEvent,
  type Hold,
  type Idempotency,
  openProfile,
  type Profile,
} from "./state.ts";

/** A request before it has an id. */
export interface AdmissionRequest extends HoldDemand {
  readonly keyHash: string;
  /** The client's address. */
  readonly ip: string;
  /** Version of the profile that the route was made with. */
  readonly version: number;
  /** Routing decided against path, model or level: answered after key, flags, IP and a repeat's key. */
  readonly routing: Refusal | null;
  /** null: the client gave no key. */
  readonly idempotency: Idempotency | null;
}

export interface AdmitInput extends AdmissionRequest {
  /** Id of hold, charge and ledger line, minted by the service. */
  readonly id: string;
}

export interface Admitted {
  readonly cost: Nano;
  readonly tokens: number;
  /** Of the first admission, also when the hold was taken anew for another model. */
  readonly admittedAt: number;
  /** When the hold was taken for its model. */
  readonly takenAt: number;
  readonly requests: RemainingLimit | null;
  readonly tokensLeft: RemainingLimit | null;
}

/** The refusal with which an account answers a route, or a change, made from an old profile. `details` is the fresh one. */
export const STALE_PROFILE = "stale_profile";

/**
 * Opens the hold of a request, or answers the one that it has. Asked for another model, takes the hold anew; refused, the
 * hold stays as it was.
 */
export function admit(state: Account, input: AdmitInput, turn: Turn): Decision<AccountEvent> {
  const { now, from } = turn;
  const open = state.volatile.holds.get(input.id) ?? null;
  // Given up by whoever asked: nobody would ever end its hold. What was abandoned is told again, if its front end lives.
  if (open === null && (hasEnded(state, input.id) || state.volatile.abandoned.has(input.id))) {
    return { refused: OVER, ungated: true };
  }
  const refused = firstRefusal(state, open, input, now);
  if (refused !== null) return { refused, ungated: true };
  if (open === null && turn.behind) return { refused: STORE_BEHIND, ungated: true };
  const profile = state.profile!;
  const hold = open?.model === input.model ? open : take(state, profile, input, open, turn);
  if ("code" in hold) return { refused: hold, ungated: true };
  hold.holder = from;
  const { cost, tokens, admittedAt, takenAt } = hold;
  return {
    reply: { cost, tokens, admittedAt, takenAt, ...remainingLimits(state, profile, input, now) },
    ungated: true,
  };
}

/** A new hold in place of the one that this request has, if it has one. */
function take(
  state: Account,
  profile: Profile,
  input: AdmitInput,
  former: Hold | null,
  { now, from }: Turn,
): Hold | Refusal {
  if (former !== null) closeHold(state, former.id, now);
  const reserved = reserve(state, profile, input, now, former !== null);
  if ("code" in reserved) {
    if (former !== null) openHold(state, former, now);
    return reserved;
  }
  const hold: Hold = {
    id: input.id,
    model: input.model,
    idempotency: input.idempotency,
    ...reserved,
    holder: from,
    ...(former?.counted && { counted: true }),
    admittedAt: former?.admittedAt ?? now,
    takenAt: now,
    expiresAt: now + HOLD_TTL_MS,
  };
  openHold(state, hold, now);
  return hold;
}

/** What stands before any reservation, in the contract's order; null: nothing. `open`: the hold that it has already. */
export function firstRefusal(
  state: Account,
  open: Hold | null,
  input: AdmissionRequest,
  now: number,
): Refusal | null {
  // A request that runs when its account closes still has its time.
  const profile = open === null ? openProfile(state) : state.profile;
  const refused = authenticationRefusal(profile, input.keyHash, input.ip);
  // Who routes by an old profile without a white list does not know the client's address yet.
  const stale = input.version !== state.version;
  if (refused !== null && !(stale && refused.code === "ip_not_allowed")) return refused;
  if (stale) return staleProfileSignal(state);
  const barrier = idempotencyRefusal(state, open?.id ?? null, input.idempotency, now) ?? input.routing;
  if (barrier !== null || open !== null) return barrier;
  return tooManyAborts(state, now) ?? (state.volatile.holds.size < HOLDS_MAX ? null : full());
}

export const staleProfileSignal = ({ profile, version }: Account): Refusal => ({
  code: STALE_PROFILE,
  message: "the profile has changed",
  details: { profile, version },
});

/** Nobody's key, or not this account's any more. */
export const INVALID_KEY: Refusal = {
  code: "invalid_api_key",
  message: "The API key is not valid. Check the key, or ask for a new one.",
};

/** Key, flags, IP: what every authenticated endpoint asks first. */
export function authenticationRefusal(profile: Profile | null, keyHash: string, ip: string): Refusal | null {
  if (profile === null || profile.keyHash !== keyHash) {
    return INVALID_KEY;
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

/** New requests, while what is done cannot be stored in time: those that run are charged first. */
export const STORE_BEHIND: Refusal = {
  code: "service_unavailable",
  message: "The store is slow at the moment. Try again shortly.",
  retryAfterS: 1,
};

const OVER: Refusal = {
  code: "service_unavailable",
  message: "This request was given up before it was admitted. Send it again.",
  retryAfterS: 1,
};

const full = (): Refusal => ({
  code: "service_unavailable",
  message: `This account has ${HOLDS_MAX} requests in flight, the most it may have. Wait for some to end.`,
  retryAfterS: 1,
});
