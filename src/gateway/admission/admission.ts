// From a parsed request to a hold: route it, estimate its worst case, ask the account. A route made from an old profile
// is refused by the account and made again with the fresh one it sends along; one that is refused for lack of balance is
// asked once more after AutoQuota had its chance. A backup model takes the hold anew.

import {
  type AdmissionRequest,
  type Admitted,
  STALE_PROFILE,
  STORE_BEHIND,
} from "../../../actors/account/admit.ts";
import type { AccountId } from "../../../actors/ids.ts";
import type { Protocol } from "../../../actors/index.ts";
import { ZERO } from "../../../actors/money.ts";
import { type Refusal, RefusedError } from "../../base/errors.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import type { AccountContext, ConfigCache } from "../account/config-cache.ts";
import type { ManagementCaller } from "../account/identify.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import { type HoldEstimate, type RequestSize, worstCase } from "../metering/hold-estimate.ts";
import { failoverCandidates } from "../routing/failover-candidates.ts";
import type { CandidateTable } from "../routing/failover-plan.ts";
import {
  legFor,
  type NoRoute,
  type Route,
  type RouteCandidate,
  type RoutingStep,
  route,
} from "../routing/route.ts";
import { unmet } from "../routing/unmet-demands.ts";
import { type KeyPin, restrictToKey, routeToPinnedKey } from "../stored-objects/key-pin.ts";
import type { AutoQuota } from "./auto-quota.ts";
import type { Settlement } from "./settlement.ts";

/** What was asked; or what is wrong with the asking, which key, flags and IP still go before. */
export type RequestedModel =
  | { readonly model: string; readonly size: RequestSize }
  | { readonly refusal: Refusal };

/** What routing and holds need to know of a path. */
export type MeteredPath = Pick<GatewayEndpoint, "path" | "meter">;

export interface AdmissionInput {
  readonly id: string;
  /** Where it was sent. */
  readonly surface: MeteredPath;
  readonly caller: ManagementCaller;
  readonly ip: () => string;
  readonly asked: RequestedModel;
  readonly idempotency: AdmissionRequest["idempotency"];
  /** The one key that can answer it; left out or null: any. */
  readonly keeper?: KeyPin | null;
}

export interface Admission {
  readonly caller: ManagementCaller;
  readonly lineage: AccountContext;
  readonly route: Route;
  readonly worst: HoldEstimate;
  readonly admitted: Admitted;
  readonly size: RequestSize;
}

export interface RoutingParts {
  readonly system: ActorSystem<Protocol>;
  readonly replicas: ConfigCache;
  readonly limits: { readonly holdOutputTokens: number };
}

export interface HoldingParts extends RoutingParts {
  readonly settle: Pick<Settlement, "admit">;
}

export interface AdmissionParts extends HoldingParts {
  readonly autoQuota: AutoQuota;
}

/** Throws Refused for new work while the store is too far behind. An account of another node says so itself. */
export function mustKeepUp(parts: {
  readonly system: Pick<ActorSystem<Protocol>, "lagMs">;
  readonly lagMostMs: number;
}): void {
  if (parts.system.lagMs() > parts.lagMostMs) throw new RefusedError(STORE_BEHIND);
}

const STALE_MOST = 5;

/** Throws Refused. */
export async function admission(parts: AdmissionParts, input: AdmissionInput): Promise<Admission> {
  const { settle, replicas } = parts;
  const { id, caller } = input;
  let toppedUp = false;
  for (let tries = 0; ; tries++) {
    const lineage = await replicas.lineage(caller.account);
    const { question, found, worst, size } = await buildAdmissionRequest(parts, input, lineage);
    try {
      const admitted = await settle.admit(caller.account, { id, ...question }, { id });
      if (found === null || size === null || worst === null) throw new Error("admitted without a route");
      return { caller, lineage, route: found, worst, admitted, size };
    } catch (error) {
      if (applyFreshProfile(replicas, caller.account, error, tries)) continue;
      if (toppedUp || !(await parts.autoQuota.lifts(lineage, error))) throw error;
      toppedUp = true;
    }
  }
}

/** What is asked of the account for a request, and the route that it was made from. */
export async function buildAdmissionRequest(
  parts: RoutingParts,
  input: Omit<AdmissionInput, "id">,
  lineage: AccountContext,
): Promise<{
  readonly question: AdmissionRequest;
  readonly found: Route | null;
  readonly routed: Route | NoRoute | null;
  readonly worst: HoldEstimate | null;
  readonly size: RequestSize | null;
}> {
  const { asked, keeper = null } = input;
  const anywhere =
    "refusal" in asked ? null : await routeOf(parts.replicas, lineage, input.surface, asked.model);
  const routed =
    anywhere === null || keeper === null
      ? anywhere
      : await routeToPinnedKey(parts, lineage, anywhere, keeper);
  const found = routed?.ok === true ? routed : null;
  const size = "refusal" in asked ? null : asked.size;
  const unserved =
    found === null || size?.demands === undefined
      ? null
      : await unmet(input.surface, size.demands, found, () => legsOf(parts, input, lineage, found));
  const worst = found === null || size === null ? null : worstOf(parts, found, found, size, input.surface);
  const question: AdmissionRequest = {
    keyHash: input.caller.keyHash,
    // The address costs a system call, and only a white list asks for it.
    ip: lineage.account.profile.allowIps.length === 0 ? "" : input.ip(),
    version: lineage.account.version,
    routing: "refusal" in asked ? asked.refusal : (refusalOf(routed) ?? unserved),
    idempotency: input.idempotency,
    threshold: lineage.config.config.userApiBalance,
    ...demandOf(found, worst),
  };
  return { question, found, routed, worst, size };
}

/** Everywhere it may go: to the one key that keeps what it refers to, or along its plan. */
async function legsOf(
  { replicas }: RoutingParts,
  { keeper = null, surface, asked }: Omit<AdmissionInput, "id">,
  lineage: AccountContext,
  found: Route,
): Promise<CandidateTable> {
  if (keeper !== null) return [[{ ...found, view: restrictToKey(keeper.key, found.view) }]];
  const model = "refusal" in asked ? found.model : asked.model;
  return (await planOf(replicas, lineage, found, surface, model)).rows;
}

/** The same request asked for another leg of its route. */
export function questionAt(
  parts: Pick<RoutingParts, "limits">,
  input: Omit<AdmissionInput, "id">,
  { lineage, route, size }: Pick<Admission, "lineage" | "route" | "size">,
  leg: RouteCandidate,
): { readonly question: AdmissionRequest; readonly found: Route; readonly worst: HoldEstimate } {
  const found: Route = { ...route, ...leg };
  const worst = worstOf(parts, leg, route, size, input.surface);
  const question: AdmissionRequest = {
    keyHash: input.caller.keyHash,
    ip: lineage.account.profile.allowIps.length === 0 ? "" : input.ip(),
    version: lineage.account.version,
    routing: null,
    idempotency: input.idempotency,
    threshold: lineage.config.config.userApiBalance,
    ...demandOf(found, worst),
  };
  return { question, found, worst };
}

/** The hold of a request taken anew for another leg; null: refused, and the old hold stays. */
export async function retakeHold(
  parts: HoldingParts,
  input: AdmissionInput,
  from: Admission,
  leg: RouteCandidate,
): Promise<Admission | null> {
  const { id, caller } = input;
  const { question, found, worst } = questionAt(parts, input, from, leg);
  try {
    const taken = { id: `${id}:${leg.model}` };
    const admitted = await parts.settle.admit(caller.account, { id, ...question }, taken);
    return { ...from, route: found, worst, admitted };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (!applyFreshProfile(parts.replicas, caller.account, error, 0)) return null;
  }
  // The profile has changed while the request ran: the leg is decided upon anew, by what holds now.
  const lineage = await parts.replicas.lineage(caller.account);
  const level = (level: number) => parts.replicas.level(lineage.owner, level);
  const allowed = legFor({ ...input.surface, model: leg.model, lineage, level }, leg.model, []);
  if ("ok" in allowed || lineage.account.version === from.lineage.account.version) return null;
  return retakeHold(parts, input, { ...from, lineage }, { ...leg, modelLimits: allowed.modelLimits });
}

/** Everywhere a request may go, its own leg first, with every Level's view at hand. */
export async function planOf(
  replicas: ConfigCache,
  lineage: AccountContext,
  route: Route,
  { path, meter }: MeteredPath,
  model: string,
): Promise<{ readonly rows: CandidateTable; readonly steps: readonly RoutingStep[] }> {
  const level = (level: number) => replicas.level(lineage.owner, level);
  for (;;) {
    const found = failoverCandidates({ path, meter, model, lineage, level }, route);
    if (!("ok" in found)) return found;
    await replicas.loadLevel(lineage.owner, found.level);
  }
}

/** The route of a model, with every Level's view at hand. */
export async function routeOf(
  replicas: ConfigCache,
  lineage: AccountContext,
  { path, meter }: MeteredPath,
  model: string,
): Promise<Route | NoRoute> {
  for (;;) {
    const level = (level: number) => replicas.level(lineage.owner, level);
    const found = route({ path, meter, model, lineage, level });
    if (found.ok !== "needs_level") return found;
    await replicas.loadLevel(lineage.owner, found.level);
  }
}

function worstOf(
  parts: Pick<RoutingParts, "limits">,
  leg: RouteCandidate,
  { multipliers }: Route,
  size: RequestSize,
  { meter }: MeteredPath,
): HoldEstimate {
  if (meter.free) return FREE;
  return worstCase(meter, leg, size, multipliers, parts.limits.holdOutputTokens);
}

const FREE: HoldEstimate = { promptTokens: 0, outputTokens: 0, cost: ZERO, promptCost: ZERO };

const demandOf = (found: Route | null, worst: HoldEstimate | null) => ({
  model: found?.model ?? "",
  promptTokens: worst?.promptTokens ?? 0,
  outputTokens: worst?.outputTokens ?? 0,
  cost: worst?.cost ?? ZERO,
  promptCost: worst?.promptCost ?? ZERO,
  modelLimits: found?.modelLimits ?? null,
});

/**
 * Takes over the fresh profile that a refusal brings, after which the account may be asked again; false: it brings none,
 * or this is not the first few `tries` (from 0) any more.
 */
export function applyFreshProfile(
  replicas: ConfigCache,
  account: AccountId,
  error: unknown,
  tries: number,
): boolean {
  const stale = error instanceof RefusedError && error.refusal.code === STALE_PROFILE;
  if (!stale || tries >= STALE_MOST) return false;
  replicas.acceptProfile(account, error.refusal.details as Parameters<ConfigCache["acceptProfile"]>[1]);
  return true;
}

const refusalOf = (routed: Route | NoRoute | null): Refusal | null =>
  routed === null || routed.ok ? null : routed.refusal;
