// Admits a request: takes its hold with what admission-request.ts asks of the account. The account refuses a route made
// from an old profile and sends the fresh one, with which the request is routed again. A refusal for lack of balance is
// retried once after AutoQuota has run.

import { STORE_BEHIND, type StaleProfile } from "../../../actors/account/admit.ts";
import type { AccountId } from "../../../actors/ids.ts";
import type { Protocol } from "../../../actors/index.ts";
import { type Refusal, RefusedError } from "../../base/errors.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import type { AccountContext } from "../account/account-context.ts";
import type { ConfigCache } from "../account/config-cache.ts";
import type { Caller } from "../account/identify.ts";
import type { Admission } from "../context.ts";
import {
  type AdmissionInput,
  type BuiltAdmission,
  buildAdmissionRequest,
  type RoutingParts,
} from "./admission-request.ts";
import type { AutoQuota } from "./auto-quota.ts";
import type { AdmitReply, Settlement } from "./settlement.ts";

/** The services that taking a hold needs. */
export interface HoldingParts extends RoutingParts {
  readonly settlement: Pick<Settlement, "admit" | "admittedAnew">;
}

/** The services of `admission`. */
export interface AdmissionParts extends HoldingParts {
  readonly autoQuota: AutoQuota;
}

/**
 * Throws `RefusedError` for new requests while the store lags behind. It sees only this node's lag; an
 * account on another node refuses by itself.
 */
export function mustKeepUp(parts: {
  readonly system: Pick<ActorSystem<Protocol>, "lagMs">;
  readonly lagMostMs: number;
}): void {
  if (parts.system.lagMs() > parts.lagMostMs) throw new RefusedError(STORE_BEHIND);
}

/**
 * How often an account may answer that its profile is newer before the request is refused. Each answer carries
 * the profile, so this takes as many changes of it in a row.
 */
const STALE_MAX = 5;

/** The refusal of a request whose account changed while it was routed, `STALE_MAX` times in a row. */
export const PROFILE_KEEPS_CHANGING: Refusal = {
  code: "service_unavailable",
  message: "The settings of this account are changing at the moment. Try again shortly.",
  retryAfterS: 1,
};

/**
 * Caches the profile of an account's `StaleProfile` reply, after which the request is routed and asked again.
 * `tries` is the number of such replies so far. Throws `PROFILE_KEEPS_CHANGING` when there are `STALE_MAX`.
 */
export function acceptFreshProfile(
  configs: Pick<ConfigCache, "acceptProfile">,
  account: AccountId,
  { stale }: StaleProfile,
  tries: number,
): void {
  configs.acceptProfile(account, stale);
  if (tries >= STALE_MAX) throw new RefusedError(PROFILE_KEEPS_CHANGING);
}

/** What one try to admit a request led to: besides an admission a newer profile, or the error of the account. */
type Tried = Admission | StaleProfile | { readonly error: unknown; readonly accountContext: AccountContext };

/**
 * Admits a request: routes it and takes its hold, at once when everything is cached and the account is loaded here. A
 * refusal for lack of balance is retried once after AutoQuota. Throws or rejects with `RefusedError`; after any other
 * error it is unknown whether the hold exists.
 */
export function admission(parts: AdmissionParts, input: AdmissionInput): Admission | Promise<Admission> {
  const tried = tryOnce(parts, input);
  return !(tried instanceof Promise) && "route" in tried ? tried : untilAdmitted(parts, input, tried);
}

async function untilAdmitted(
  parts: AdmissionParts,
  input: AdmissionInput,
  first: Tried | Promise<Tried>,
): Promise<Admission> {
  let staleReplies = 0;
  let toppedUp = false;
  for (let tried = await first; ; tried = await tryOnce(parts, input)) {
    if ("route" in tried) {
      if (staleReplies > 0 || toppedUp) parts.settlement.admittedAnew(input.id);
      return tried;
    }
    if ("stale" in tried) acceptFreshProfile(parts.configs, input.caller.account, tried, ++staleReplies);
    else {
      const { error, accountContext } = tried;
      if (toppedUp || !(await parts.autoQuota.topUpAfter(accountContext, error))) throw error;
      toppedUp = true;
    }
  }
}

function tryOnce(parts: AdmissionParts, input: AdmissionInput): Tried | Promise<Tried> {
  const cached = parts.configs.accountContext(input.caller.account);
  return cached instanceof Promise
    ? cached.then((accountContext) => tryWith(parts, input, accountContext))
    : tryWith(parts, input, cached);
}

function tryWith(
  parts: AdmissionParts,
  input: AdmissionInput,
  accountContext: AccountContext,
): Tried | Promise<Tried> {
  const built = buildAdmissionRequest(parts, input, accountContext);
  return built instanceof Promise
    ? built.then((later) => takeHold(parts, input, accountContext, later))
    : takeHold(parts, input, accountContext, built);
}

function takeHold(
  { settlement }: AdmissionParts,
  { id, caller }: AdmissionInput,
  accountContext: AccountContext,
  built: BuiltAdmission,
): Tried | Promise<Tried> {
  try {
    const reply = settlement.admit(caller.account, { id, ...built.question }, { id });
    if (!(reply instanceof Promise)) return held(caller, accountContext, built, reply);
    return reply.then(
      (later) => held(caller, accountContext, built, later),
      (error) => ({ error, accountContext }),
    );
  } catch (error) {
    return { error, accountContext };
  }
}

function held(
  caller: Caller,
  accountContext: AccountContext,
  { route, estimate, size }: BuiltAdmission,
  admitted: AdmitReply,
): Tried {
  if ("stale" in admitted) return admitted;
  if (route === null || size === null || estimate === null) throw new Error("admitted without a route");
  return { caller, accountContext, route, estimate, admitted, size };
}
