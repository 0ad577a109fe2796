// What is asked of an account about a request: routes the request, estimates its worst case, and writes the question,
// for its own route and again for another candidate. It takes no hold and changes nothing, so a dry run asks the same.

import type { AdmissionRequest } from "../../../actors/account/admit.ts";
import type { Profile } from "../../../actors/account/state.ts";
import type { Protocol } from "../../../actors/index.ts";
import { ZERO } from "../../../actors/money.ts";
import type { Refusal } from "../../base/errors.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import type { Upstream } from "../../upstream/upstream.ts";
import type { AccountContext } from "../account/account-context.ts";
import type { ConfigCache } from "../account/config-cache.ts";
import type { Caller } from "../account/identify.ts";
import type { Admission, RequestedModel } from "../context.ts";
import { type HoldEstimate, worstCase } from "../metering/hold-estimate.ts";
import type { RequestSize } from "../metering/request-size.ts";
import type { CandidateTable } from "../routing/failover-plan.ts";
import { type MeteredPath, planOf, routeOf } from "../routing/resolve-route.ts";
import type { NoRoute, Route, RouteCandidate } from "../routing/route.ts";
import { unmet } from "../routing/unmet-demands.ts";
import { type KeyPin, restrictToKey, routeToPinnedKey, upstreamFor } from "../stored-objects/key-pin.ts";

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

/** A request that has no id yet. A dry run may judge no address: `ip` then returns null. */
export type UnnamedAdmission = Omit<AdmissionInput, "id" | "ip"> & { ip(): string | null };

/** What is asked of the account, with the route and estimate that it was made from. */
export interface BuiltAdmission {
  readonly question: AdmissionRequest;
  /** The route, or why there is none; null when the request is invalid. */
  readonly routed: Route | NoRoute | null;
  readonly route: Route | null;
  readonly estimate: HoldEstimate | null;
  readonly size: RequestSize | null;
}

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
