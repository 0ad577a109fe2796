// Admission decides whether a request may run and opens its hold. The guards are checked in the contract's
// order:
//
//   key, flags, IP, scope, Idempotency-Key, path, model, level (decided by routing; the key's own lists
//   here), rate limits, caps of the key, balance, HardLimit, DailyLimit
//
// A request whose hold is open may ask again for another model. A new hold then replaces the old one, as if
// the old one did not exist, but the request is counted once. Nothing durable is written.

import type { Refusal } from "../../src/base/errors.ts";
import type { Decision, Turn } from "../../src/runtime/actor.ts";
import type { NamedKey } from "../api-key/named-key.ts";
import { type ApiKeyId, MAIN_API_KEY } from "../ids.ts";
import type { Nano } from "../money.ts";
import type { Tags } from "../tags.ts";
import { entryRefusal, INVALID_KEY, keyListRefusal, presentedKey } from "./authenticate.ts";
import { tooManyAborts } from "./charge.ts";
import { closeHold, HOLD_TTL_MS, HOLDS_MAX, hasEnded, openHold } from "./holds.ts";
import { idempotencyRefusal } from "./idempotency.ts";
import { type RemainingLimit, remainingLimits, type Spender } from "./rate-limits.ts";
import { type HoldDemand, reserve } from "./reserve.ts";
import {
  type Account,
  type AccountEvent,
  type Hold,
  type Idempotency,
  openProfile,
  type Profile,
} from "./state.ts";

/** What is asked of the account for a request that has no id yet. */
export interface AdmissionRequest extends HoldDemand {
  readonly keyHash: string;
  /** The client's address; null when addresses are not judged, in a dry run alone. */
  readonly ip: string | null;
  /** Version of the profile from which the route was computed. */
  readonly version: number;
  /**
   * The endpoint's path, which the key's Resources must allow; null when paths are not judged, in a dry run
   * alone. `model` is empty where there is none.
   */
  readonly path: string | null;
  /**
   * Routing's refusal of path, model or level, or null. It is returned after the checks of key, flags, IP and
   * repeat.
   */
  readonly routing: Refusal | null;
  /** Null means that the client sent no Idempotency-Key. */
  readonly idempotency: Idempotency | null;
}

/** Input of the command `admit`. */
export interface AdmitInput extends AdmissionRequest {
  /** Id of hold, charge and ledger line; the service generates it. */
  readonly id: string;
}

/** The open hold of an admitted request, and what the limits leave. Times are wall-clock milliseconds. */
export interface Admitted {
  readonly cost: Nano;
  readonly tokens: number;
  /** Time of the first admission; it stays when the hold is replaced for another model. */
  readonly admittedAt: number;
  /** When the hold was taken for its current model. */
  readonly takenAt: number;
  readonly requests: RemainingLimit | null;
  readonly tokensLeft: RemainingLimit | null;
  /** The named key that asked; null for the main key. */
  readonly apiKey: AdmittedKey | null;
}

/** What a request takes along of the named key that asked: its charge and hold are the key's wherever it ends. */
export interface AdmittedKey {
  readonly id: ApiKeyId;
  readonly name: string;
  readonly tags: Tags;
}

/**
 * Reply to a route that was made from an old profile. It carries the current one, with which the caller routes
 * again.
 */
export interface StaleProfile {
  readonly stale: { readonly profile: Profile; readonly version: number };
}

/** Code of the refusal of a change that was made from an old profile; `details` carries the current profile. */
export const STALE_PROFILE = "stale_profile";

/**
 * Opens the hold of a request, or returns the one that it has (`Admitted`); replies `StaleProfile` to a route
 * from an old profile. A request for another model replaces the hold; if that is refused, the old hold stays.
 * Refuses with the code of the first failed guard, or
 * service_unavailable if the store is behind, the account has HOLDS_MAX holds, or the request has ended
 * already. Changes volatile state only.
 */
export function admit(state: Account, input: AdmitInput, turn: Turn): Decision<AccountEvent> {
  const { now, from } = turn;
  const open = state.volatile.holds.get(input.id) ?? null;
  // The caller has already ended or lost this request, so a hold opened now would end only by expiry. A live
  // node re-asserts its holds.
  if (open === null && (hasEnded(state, input.id) || state.volatile.abandoned?.has(input.id))) {
    return { refused: OVER, ungated: true };
  }
  const barrier = firstBarrier(state, open, input, now);
  if ("stale" in barrier) return { reply: barrier, ungated: true };
  if ("code" in barrier) return { refused: barrier, ungated: true };
  if (open === null && turn.behind) return { refused: STORE_BEHIND, ungated: true };
  const { spender } = barrier;
  const hold = open?.model === input.model ? open : take(spender, input, open, turn);
  if ("code" in hold) return { refused: hold, ungated: true };
  hold.holder = from;
  const { cost, tokens, admittedAt, takenAt } = hold;
  const { requests, tokensLeft } = remainingLimits(spender, input, now);
  const apiKey = spender.named === null ? null : admittedKey(spender.named);
  return { reply: { cost, tokens, admittedAt, takenAt, requests, tokensLeft, apiKey }, ungated: true };
}

const admittedKey = ({ key: { id, name, tags } }: NamedKey): AdmittedKey => ({ id, name, tags });

/** Opens a hold in place of the former one, if there is one; a refusal leaves the former hold open. */
function take(spender: Spender, input: AdmitInput, former: Hold | null, { now, from }: Turn): Hold | Refusal {
  const { state, named } = spender;
  if (former !== null) closeHold(state, former.id, now);
  const reserved = reserve(spender, input, now, former !== null);
  if ("code" in reserved) {
    if (former !== null) openHold(state, former, now);
    return reserved;
  }
  const taken: Hold = {
    id: input.id,
    model: input.model,
    apiKey: named?.key.id ?? MAIN_API_KEY,
    idempotency: input.idempotency,
    holder: from,
    cost: reserved.cost,
    tokens: reserved.tokens,
    admittedAt: former?.admittedAt ?? now,
    takenAt: now,
    expiresAt: now + HOLD_TTL_MS,
  };
  const hold = former?.counted ? { ...taken, counted: true as const } : taken;
  openHold(state, hold, now);
  return hold;
}

/** What stands before the reservation: nothing, and then the key that spends; a refusal; or a newer profile. */
type Barrier = Refusal | StaleProfile | { readonly spender: Spender };

/**
 * Checks everything that precedes the reservation, in the contract's order. `open` is the hold that the request already has.
 * Returns the first refusal, the current profile if the route was made from an old one, or who spends if nothing stands
 * against the request.
 */
export function firstBarrier(
  state: Account,
  open: Hold | null,
  input: AdmissionRequest,
  now: number,
): Barrier {
  // A request that runs while its account closes may still finish.
  const profile = open === null ? openProfile(state) : state.profile;
  const named =
    open === null || open.apiKey === MAIN_API_KEY
      ? presentedKey(state, profile, input.keyHash, now)
      : runningKey(state, open);
  if (profile === null) return INVALID_KEY;
  if (named !== null && "code" in named) return named;
  const refused = entryRefusal(profile, open === null ? named : null, { ip: input.ip, scope: "invoke" });
  // A caller with an old profile without allow list has not determined the client's address.
  const stale = input.version !== state.version;
  if (refused !== null && !(stale && refused.code === "ip_not_allowed")) return refused;
  if (stale) return { stale: { profile, version: state.version } };
  const barrier =
    idempotencyRefusal(state, open?.id ?? null, input.idempotency, now) ?? listRefusal(named, input);
  if (barrier !== null) return barrier;
  if (open === null) {
    const tooMany = tooManyAborts(state, now) ?? (state.volatile.holds.size < HOLDS_MAX ? null : full());
    if (tooMany !== null) return tooMany;
  }
  return { spender: { state, profile, named } };
}

/**
 * Returns the named key of an open hold. A key that was disabled or has expired since lets its running requests finish; of a
 * deleted one neither caps nor lists are known, so its requests go on with the model that they have.
 */
const runningKey = (state: Account, { apiKey }: Hold): NamedKey | Refusal =>
  state.apiKeys?.get(apiKey) ?? INVALID_KEY;

/** Returns routing's refusal or that of the key's own lists, whichever comes first. */
const listRefusal = (named: NamedKey | null, input: AdmissionRequest): Refusal | null =>
  named === null ? input.routing : keyListRefusal(named.key, input);

/** Returns the STALE_PROFILE refusal with the current profile and version in its details. */
export const staleProfileSignal = ({ profile, version }: Account): Refusal => ({
  code: STALE_PROFILE,
  message: "the profile has changed",
  details: { profile, version },
});

/** The refusal of new requests while the store is behind, so that running requests are charged first. */
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
