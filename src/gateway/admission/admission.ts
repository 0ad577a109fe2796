// From a parsed request to a hold: routes it, estimates its worst case, and asks the account. The account
// refuses a route made from an old profile and sends the fresh one, with which the request is routed again. A
// refusal for lack of balance is retried once after AutoQuota has run. A backup model takes the hold again.

import { type AdmissionRequest, STORE_BEHIND, type StaleProfile } from "../../../actors/account/admit.ts";
import type { Profile } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import type { Protocol } from "../../../actors/index.ts";
import { ZERO } from "../../../actors/money.ts";
import { type Refusal, RefusedError } from "../../base/errors.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import type { Upstream } from "../../upstream/upstream.ts";
import type { AccountContext, ConfigCache } from "../account/config-cache.ts";
import type { Caller } from "../account/identify.ts";
import type { Admission, AdmittedContext, RequestedModel } from "../context.ts";
import { type HoldEstimate, worstCase } from "../metering/hold-estimate.ts";
import type { RequestSize } from "../metering/request-size.ts";
import type { CandidateTable } from "../routing/failover-plan.ts";
import { type MeteredPath, planOf, routeOf } from "../routing/resolve-route.ts";
import { candidateFor, type NoRoute, type Route, type RouteCandidate } from "../routing/route.ts";
import { unmet } from "../routing/unmet-demands.ts";
import { type KeyPin, restrictToKey, routeToPinnedKey, upstreamFor } from "../stored-objects/key-pin.ts";
import type { AutoQuota } from "./auto-quota.ts";
import type { AdmitReply, Settlement } from "./settlement.ts";

/** A request to be admitted. */
export interface AdmissionInput {
  readonly id: string;
  /** The endpoint it was sent to. */
  readonly endpoint: MeteredPath;
  readonly caller: Caller;
  /** Returns the client's address. */
  ip(): string;
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
  readonly upstream: Pick<Upstream, "lacks">;
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
    if ("route" in tried) return tried;
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

/** What is asked of the account, with the route and estimate that it was made from. */
export interface BuiltAdmission {
  readonly question: AdmissionRequest;
  /** The route, or why there is none; null when the request is invalid. */
  readonly routed: Route | NoRoute | null;
  readonly route: Route | null;
  readonly estimate: HoldEstimate | null;
  readonly size: RequestSize | null;
}

/** A request that has no id yet. A dry run may judge no address: `ip` then returns null. */
export type UnnamedAdmission = Omit<AdmissionInput, "id" | "ip"> & { ip(): string | null };

/**
 * Builds what is asked of the account, at once if the views of the Levels are cached and the request neither is
 * pinned to a key nor demands what only some keys may take.
 */
export function buildAdmissionRequest(
  parts: RoutingParts,
  input: UnnamedAdmission,
  accountContext: AccountContext,
): BuiltAdmission | Promise<BuiltAdmission> {
  const { requested, pinnedKey = null } = input;
  if ("refusal" in requested) return built(parts, input, accountContext, null, null);
  const routed = routeOf(parts.configs, accountContext, input.endpoint, requested.model);
  if (pinnedKey !== null || routed instanceof Promise) {
    return buildLater(parts, input, accountContext, routed);
  }
  const unmetDemand = unmetBy(parts, input, accountContext, routed);
  return unmetDemand instanceof Promise
    ? unmetDemand.then((refusal) => built(parts, input, accountContext, routed, refusal))
    : built(parts, input, accountContext, routed, unmetDemand);
}

async function buildLater(
  parts: RoutingParts,
  input: UnnamedAdmission,
  accountContext: AccountContext,
  routing: Route | NoRoute | Promise<Route | NoRoute>,
): Promise<BuiltAdmission> {
  const { pinnedKey = null } = input;
  const anywhere = await routing;
  const routed =
    pinnedKey === null ? anywhere : await routeToPinnedKey(parts, accountContext, anywhere, pinnedKey);
  const refusal = await unmetBy(parts, input, accountContext, routed);
  return built(parts, input, accountContext, routed, refusal);
}

/** Returns why no candidate can meet the demands of a request, or null. */
function unmetBy(
  parts: RoutingParts,
  input: UnnamedAdmission,
  accountContext: AccountContext,
  routed: Route | NoRoute,
): Refusal | null | Promise<Refusal | null> {
  const { requested, endpoint } = input;
  if (!routed.ok || "refusal" in requested || requested.size.demands === undefined) return null;
  const candidates = () => candidatesOf(parts.configs, input, accountContext, routed);
  const upstream = upstreamFor(input.pinnedKey ?? null, parts.upstream);
  return unmet(endpoint, requested.size.demands, routed, candidates, upstream);
}

function built(
  parts: RoutingParts,
  input: UnnamedAdmission,
  accountContext: AccountContext,
  routed: Route | NoRoute | null,
  unmetDemand: Refusal | null,
): BuiltAdmission {
  const { requested } = input;
  const route = routed?.ok === true ? routed : null;
  const size = "refusal" in requested ? null : requested.size;
  const estimate =
    route === null || size === null ? null : estimateFor(parts, route, route, size, input.endpoint);
  const refusal = "refusal" in requested ? requested.refusal : (refusalOf(routed) ?? unmetDemand);
  const refusedModel = routed?.ok === false ? routed.model : "";
  const question = questionOf(input, accountContext, refusal, route, estimate, refusedModel);
  return { question, routed, route, estimate, size };
}

/**
 * Returns the client's address where an allow list may need it, else "": it costs a system call. Lists of named keys are
 * known to the account alone. A dry run that judges no address gets null, or "" for one that no list needs.
 */
export const addressFor = (
  profile: Pick<Profile, "keyHash" | "allowIps">,
  { keyHash }: Caller,
  from: { ip(): string | null },
): string | null => (profile.allowIps.length === 0 && profile.keyHash === keyHash ? "" : from.ip());

/** `refusedModel`: the mapped name of a model that has no route. */
function questionOf(
  input: UnnamedAdmission,
  { account, config }: AccountContext,
  routing: Refusal | null,
  route: Route | null,
  estimate: HoldEstimate | null,
  refusedModel = "",
): AdmissionRequest {
  return {
    keyHash: input.caller.keyHash,
    ip: addressFor(account.profile, input.caller, input),
    version: account.version,
    path: input.endpoint.path,
    routing,
    idempotency: input.idempotency,
    threshold: config.config.userApiBalance,
    model: route?.model ?? refusedModel,
    promptTokens: estimate?.promptTokens ?? 0,
    outputTokens: estimate?.outputTokens ?? 0,
    cost: estimate?.cost ?? ZERO,
    promptCost: estimate?.promptCost ?? ZERO,
    modelLimits: route?.modelLimits ?? null,
  };
}

/** Returns all candidates of a route, its own first; a pinned request has only the pinned key. */
export async function candidatesOf(
  configs: ConfigCache,
  { pinnedKey = null, endpoint, requested }: Pick<AdmissionInput, "pinnedKey" | "endpoint" | "requested">,
  accountContext: AccountContext,
  route: Route,
): Promise<CandidateTable> {
  if (pinnedKey !== null) return [[{ ...route, view: restrictToKey(pinnedKey, route.view) }]];
  const model = "refusal" in requested ? route.model : requested.model;
  return (await planOf(configs, accountContext, route, endpoint, model)).rows;
}

/** Builds the same request for another candidate. */
export function buildRequestAt(
  parts: Pick<RoutingParts, "limits">,
  input: UnnamedAdmission,
  { accountContext, route, size }: Pick<Admission, "accountContext" | "route" | "size">,
  candidate: RouteCandidate,
): { readonly question: AdmissionRequest; readonly route: Route; readonly estimate: HoldEstimate } {
  const moved: Route = { ...route, ...candidate };
  const estimate = estimateFor(parts, candidate, route, size, input.endpoint);
  return { question: questionOf(input, accountContext, null, moved, estimate), route: moved, estimate };
}

/** The part of a request's context that another candidate changes. */
export type MovableContext = AdmissionInput &
  Pick<AdmittedContext, "admission"> & { replaceAdmission(admission: Admission): void };

/**
 * Moves a request's route and hold to another candidate; the hold is taken again only for another model. Returns
 * false when the account refuses; nothing has changed then, and the old hold stays. Throws errors other than
 * refusals.
 */
export async function retakeHold(
  parts: HoldingParts,
  context: MovableContext,
  candidate: RouteCandidate,
): Promise<boolean> {
  const { admission } = context;
  const moved =
    candidate.model === admission.route.model
      ? { ...admission, route: { ...admission.route, ...candidate } }
      : await admissionAt(parts, context, admission, candidate);
  if (moved === null) return false;
  context.replaceAdmission(moved);
  return true;
}

/** Takes the hold for another model. Returns null when the account refuses. */
async function admissionAt(
  parts: HoldingParts,
  input: AdmissionInput,
  from: Admission,
  candidate: RouteCandidate,
): Promise<Admission | null> {
  const { id, caller, endpoint } = input;
  const { configs } = parts;
  const { question, route, estimate } = buildRequestAt(parts, input, from, candidate);
  let admitted: AdmitReply;
  try {
    const taken = { id: `${id}:${candidate.model}` };
    admitted = await parts.settlement.admit(caller.account, { id, ...question }, taken);
  } catch (error) {
    if (error instanceof RefusedError) return null;
    throw error;
  }
  if (!("stale" in admitted)) return { ...from, route, estimate, admitted };
  configs.acceptProfile(caller.account, admitted.stale);
  // The profile has changed while the request ran, so the new profile decides whether the candidate is
  // allowed.
  const accountContext = await configs.accountContext(caller.account);
  const level = (level: number) => configs.level(accountContext.owner, level);
  const { path, meter } = endpoint;
  const { model } = candidate;
  const allowed = candidateFor({ path, meter, model, accountContext, level }, model, []);
  if ("ok" in allowed || accountContext.account.version === from.accountContext.account.version) return null;
  const { modelLimits } = allowed;
  return admissionAt(parts, input, { ...from, accountContext }, { ...candidate, modelLimits });
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

const refusalOf = (routed: Route | NoRoute | null): Refusal | null =>
  routed === null || routed.ok ? null : routed.refusal;
