// From a parsed request to a hold: routes it, estimates its worst case, and asks the account. The account
// refuses a route made from an old profile and sends the fresh one, with which the request is routed again. A
// refusal for lack of balance is retried once after AutoQuota has run. A backup model takes the hold again.

import { type AdmissionRequest, STALE_PROFILE, STORE_BEHIND } from "../../../actors/account/admit.ts";
import type { AccountId } from "../../../actors/ids.ts";
import type { Protocol } from "../../../actors/index.ts";
import { ZERO } from "../../../actors/money.ts";
import { type Refusal, RefusedError } from "../../base/errors.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import type { AccountContext, ConfigCache } from "../account/config-cache.ts";
import type { Caller } from "../account/identify.ts";
import type { Admission } from "../context.ts";
import { type HoldEstimate, worstCase } from "../metering/hold-estimate.ts";
import type { RequestSize } from "../metering/request-size.ts";
import type { CandidateTable } from "../routing/failover-plan.ts";
import { type MeteredPath, planOf, routeOf } from "../routing/resolve-route.ts";
import { candidateFor, type NoRoute, type Route, type RouteCandidate } from "../routing/route.ts";
import { unmet } from "../routing/unmet-demands.ts";
import { type KeyPin, restrictToKey, routeToPinnedKey } from "../stored-objects/key-pin.ts";
import type { AutoQuota } from "./auto-quota.ts";
import type { Settlement } from "./settlement.ts";

/**
 * The requested model and size, or the refusal of an invalid request. The account checks key, flags and IP
 * before it returns that refusal.
 */
export type RequestedModel =
  | { readonly model: string; readonly size: RequestSize }
  | { readonly refusal: Refusal };

/** A request to be admitted. */
export interface AdmissionInput {
  readonly id: string;
  /** The endpoint it was sent to. */
  readonly endpoint: MeteredPath;
  readonly caller: Caller;
  readonly ip: () => string;
  readonly requested: RequestedModel;
  readonly idempotency: AdmissionRequest["idempotency"];
  /** The only key that can answer; null or omitted when any can. */
  readonly pinnedKey?: KeyPin | null;
}

/** The services that routing needs. */
export interface RoutingParts {
  readonly system: ActorSystem<Protocol>;
  readonly configs: ConfigCache;
  readonly limits: { readonly holdOutputTokens: number };
}

/** The services that taking a hold needs. */
export interface HoldingParts extends RoutingParts {
  readonly settlement: Pick<Settlement, "admit">;
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

const STALE_MAX = 5;

/**
 * Admits a request: routes it and takes its hold. Throws `RefusedError`; after any other error it is unknown
 * whether the hold exists.
 */
export async function admission(parts: AdmissionParts, input: AdmissionInput): Promise<Admission> {
  const { settlement, configs } = parts;
  const { id, caller } = input;
  let toppedUp = false;
  for (let tries = 0; ; tries++) {
    const accountContext = await configs.lineage(caller.account);
    const { question, found, estimate, size } = await buildAdmissionRequest(parts, input, accountContext);
    try {
      const admitted = await settlement.admit(caller.account, { id, ...question }, { id });
      if (found === null || size === null || estimate === null) throw new Error("admitted without a route");
      return { caller, accountContext, route: found, estimate, admitted, size };
    } catch (error) {
      if (applyFreshProfile(configs, caller.account, error, tries)) continue;
      if (toppedUp || !(await parts.autoQuota.lifts(accountContext, error))) throw error;
      toppedUp = true;
    }
  }
}

/** Builds what is asked of the account, with the route and estimate that it was made from. */
export async function buildAdmissionRequest(
  parts: RoutingParts,
  input: Omit<AdmissionInput, "id">,
  accountContext: AccountContext,
): Promise<{
  readonly question: AdmissionRequest;
  readonly found: Route | null;
  readonly routed: Route | NoRoute | null;
  readonly estimate: HoldEstimate | null;
  readonly size: RequestSize | null;
}> {
  const { requested, pinnedKey = null } = input;
  const anywhere =
    "refusal" in requested
      ? null
      : await routeOf(parts.configs, accountContext, input.endpoint, requested.model);
  const routed =
    anywhere === null || pinnedKey === null
      ? anywhere
      : await routeToPinnedKey(parts, accountContext, anywhere, pinnedKey);
  const found = routed?.ok === true ? routed : null;
  const size = "refusal" in requested ? null : requested.size;
  const unserved =
    found === null || size?.demands === undefined
      ? null
      : await unmet(input.endpoint, size.demands, found, () =>
          candidatesOf(parts, input, accountContext, found),
        );
  const estimate =
    found === null || size === null ? null : estimateFor(parts, found, found, size, input.endpoint);
  const question: AdmissionRequest = {
    keyHash: input.caller.keyHash,
    // The address costs a system call, and only an allow list needs it.
    ip: accountContext.account.profile.allowIps.length === 0 ? "" : input.ip(),
    version: accountContext.account.version,
    routing: "refusal" in requested ? requested.refusal : (refusalOf(routed) ?? unserved),
    idempotency: input.idempotency,
    threshold: accountContext.config.config.userApiBalance,
    ...demandOf(found, estimate),
  };
  return { question, found, routed, estimate, size };
}

/** Returns all candidates; a pinned request has only the pinned key. */
async function candidatesOf(
  { configs }: RoutingParts,
  { pinnedKey = null, endpoint, requested }: Omit<AdmissionInput, "id">,
  accountContext: AccountContext,
  found: Route,
): Promise<CandidateTable> {
  if (pinnedKey !== null) return [[{ ...found, view: restrictToKey(pinnedKey.key, found.view) }]];
  const model = "refusal" in requested ? found.model : requested.model;
  return (await planOf(configs, accountContext, found, endpoint, model)).rows;
}

/** Builds the same request for another candidate. */
export function questionAt(
  parts: Pick<RoutingParts, "limits">,
  input: Omit<AdmissionInput, "id">,
  { accountContext, route, size }: Pick<Admission, "accountContext" | "route" | "size">,
  candidate: RouteCandidate,
): { readonly question: AdmissionRequest; readonly found: Route; readonly estimate: HoldEstimate } {
  const found: Route = { ...route, ...candidate };
  const estimate = estimateFor(parts, candidate, route, size, input.endpoint);
  const question: AdmissionRequest = {
    keyHash: input.caller.keyHash,
    ip: accountContext.account.profile.allowIps.length === 0 ? "" : input.ip(),
    version: accountContext.account.version,
    routing: null,
    idempotency: input.idempotency,
    threshold: accountContext.config.config.userApiBalance,
    ...demandOf(found, estimate),
  };
  return { question, found, estimate };
}

/**
 * Takes the hold of a request again for another candidate. Returns null when the account refuses; the old
 * hold then stays. Throws errors other than refusals.
 */
export async function retakeHold(
  parts: HoldingParts,
  input: AdmissionInput,
  from: Admission,
  candidate: RouteCandidate,
): Promise<Admission | null> {
  const { id, caller } = input;
  const { question, found, estimate } = questionAt(parts, input, from, candidate);
  try {
    const taken = { id: `${id}:${candidate.model}` };
    const admitted = await parts.settlement.admit(caller.account, { id, ...question }, taken);
    return { ...from, route: found, estimate, admitted };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (!applyFreshProfile(parts.configs, caller.account, error, 0)) return null;
  }
  // The profile has changed while the request ran, so the new profile decides whether the candidate is
  // allowed.
  const accountContext = await parts.configs.lineage(caller.account);
  const level = (level: number) => parts.configs.level(accountContext.owner, level);
  const allowed = candidateFor(
    { ...input.endpoint, model: candidate.model, accountContext, level },
    candidate.model,
    [],
  );
  if ("ok" in allowed || accountContext.account.version === from.accountContext.account.version) return null;
  return retakeHold(
    parts,
    input,
    { ...from, accountContext },
    { ...candidate, modelLimits: allowed.modelLimits },
  );
}

function estimateFor(
  parts: Pick<RoutingParts, "limits">,
  candidate: RouteCandidate,
  { multipliers }: Route,
  size: RequestSize,
  { meter }: MeteredPath,
): HoldEstimate {
  if (meter.free) return FREE;
  return worstCase(meter, candidate, size, multipliers, parts.limits.holdOutputTokens);
}

const FREE: HoldEstimate = { promptTokens: 0, outputTokens: 0, cost: ZERO, promptCost: ZERO };

const demandOf = (found: Route | null, estimate: HoldEstimate | null) => ({
  model: found?.model ?? "",
  promptTokens: estimate?.promptTokens ?? 0,
  outputTokens: estimate?.outputTokens ?? 0,
  cost: estimate?.cost ?? ZERO,
  promptCost: estimate?.promptCost ?? ZERO,
  modelLimits: found?.modelLimits ?? null,
});

/**
 * Caches the fresh profile that a stale-profile refusal contains. Returns true when the account may then be
 * asked again; false for other errors and after `STALE_MAX` tries. `tries` counts from 0.
 */
export function applyFreshProfile(
  configs: ConfigCache,
  account: AccountId,
  error: unknown,
  tries: number,
): boolean {
  const stale = error instanceof RefusedError && error.refusal.code === STALE_PROFILE;
  if (!stale || tries >= STALE_MAX) return false;
  configs.acceptProfile(account, error.refusal.details as Parameters<ConfigCache["acceptProfile"]>[1]);
  return true;
}

const refusalOf = (routed: Route | NoRoute | null): Refusal | null =>
  routed === null || routed.ok ? null : routed.refusal;
