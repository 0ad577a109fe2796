// Routing: from the requested model to the model and Level that serve it, as a pure function that returns its
// own trace, so that explaining a decision means reading the trace. Alternatives are found by
// `failoverCandidates`.
//
// spec: Routing order for a gateway request, steps 1 to 4; contract section 4. Step 4 (limits) is only
// collected here and enforced by the account; step 5 (the key) is chosen by `callProvider` from the Level's
// view.

import type { Profile } from "../../../actors/account/state.ts";
import type { LevelView } from "../../../actors/level/view.ts";
import { allows, pick } from "../../../actors/pattern.ts";
import type { Group } from "../../../actors/pricing/price.ts";
import { NO_LIMITS, type RateLimits } from "../../../actors/rate-window.ts";
import type { ErrorCode } from "../../base/error-codes.ts";
import type { Refusal } from "../../base/errors.ts";
import type { AccountContext } from "../account/account-context.ts";
import type { EffectiveMap } from "../account/effective-maps.ts";
import type { CandidatePrices, Multipliers } from "../metering/hold-estimate.ts";
import type { MeterKind } from "../metering/meter-kinds.ts";

/** One step of the trace of a routing decision. */
export interface RoutingStep {
  readonly step:
    | "user_mapper"
    | "owner_mapper"
    | "allow_models"
    | "level"
    | "allow_levels"
    | "price"
    | "limits"
    | "model_failover"
    | "switch_over";
  readonly in: string;
  readonly out: string;
  readonly rule?: string;
  readonly note?: string;
}

/** A model at a Level: one place where an attempt can go. */
export interface RouteCandidate extends CandidatePrices {
  readonly level: number;
  readonly view: LevelView;
  readonly modelLimits: RateLimits | null;
}

/** The model and Level chosen for a request, with the trace. */
export interface Route extends RouteCandidate {
  readonly ok: true;
  readonly priceVersion: number;
  readonly multipliers: Multipliers;
  readonly steps: readonly RoutingStep[];
}

/** Why a request has no route, with the trace. */
export interface NoRoute {
  readonly ok: false;
  readonly refusal: Refusal;
  /** The name of the model after the mappers that ran. */
  readonly model: string;
  readonly steps: readonly RoutingStep[];
}

/** A Level's view is needed and not cached: the caller loads it and routes again. */
export interface NeedsLevel {
  readonly ok: "needs_level";
  readonly level: number;
}

/** What a route is made from. */
export interface RouteInput {
  readonly path: string;
  /** How the path is metered, which determines the price groups that are searched. */
  readonly meter: MeterKind;
  readonly model: string;
  readonly accountContext: AccountContext;
  /** Returns the cached view of a Level, or undefined when it is not cached. */
  level(level: number): LevelView | undefined;
}

/**
 * Returns the route of a requested model, a refusal (`path_not_allowed`, and those of `candidateFor`), or the Level
 * whose view is needed first.
 */
export function route(input: RouteInput): Route | NoRoute | NeedsLevel {
  const { accountContext } = input;
  const { profile } = accountContext.account;
  const { config } = accountContext.config;
  const steps: RoutingStep[] = [];

  const closed = pathClosed(accountContext, input.path);
  if (closed !== null) return { ok: false, refusal: closed, model: input.model, steps };
  const model = mapped(accountContext, input.model, steps);
  const candidate = candidateFor(input, model, steps);
  if ("ok" in candidate) return candidate;
  return {
    ok: true,
    ...candidate,
    priceVersion: config.version,
    multipliers: {
      rates: Math.max(...chainOf(accountContext).map((one) => one.rates)),
      factor: profile.factor,
    },
    steps,
  };
}

/** Returns the profiles of the account and its ancestors below Root, nearest first. */
export const chainOf = (accountContext: AccountContext): readonly Profile[] => [
  accountContext.account.profile,
  ...accountContext.ancestors.map((copy) => copy.profile),
];

/** Returns the first profile whose AllowLevels excludes the Level, or undefined when all allow it. */
export const barredFrom = (chain: readonly Profile[], level: number): Profile | undefined =>
  chain.find((one) => one.allowLevels.length > 0 && !one.allowLevels.includes(level));

/**
 * Returns where a model that is already mapped is served for this account, and adds its steps to the trace.
 * Refuses with `model_not_allowed`, `model_not_found`, `level_not_allowed` or `model_not_priced`.
 */
export function candidateFor(
  input: RouteInput,
  model: string,
  steps: RoutingStep[],
): RouteCandidate | NoRoute | NeedsLevel {
  const { accountContext } = input;
  const { profile } = accountContext.account;
  const { config, prices } = accountContext.config;
  const chain = chainOf(accountContext);
  const refuse = (code: ErrorCode, message: string): NoRoute => {
    return { ok: false, refusal: { code, message }, model, steps };
  };

  const denied = chain.find((one) => !allows(one.allowModels, model));
  steps.push({
    step: "allow_models",
    in: model,
    out: denied ? "refused" : "allowed",
    ...by(denied, profile),
  });
  if (denied !== undefined) {
    return refuse("model_not_allowed", `The model ${model} is not among the models allowed to this account.`);
  }

  const found = levelOf(input, profile, model, steps);
  if ("ok" in found) return found.ok === "no_key" ? refuse("model_not_found", unserved(model, found)) : found;

  const barred = barredFrom(chain, found.level);
  steps.push({
    step: "allow_levels",
    in: String(found.level),
    out: barred ? "refused" : "allowed",
    ...by(barred, profile),
  });
  if (barred !== undefined) {
    return refuse(
      "level_not_allowed",
      `Level ${found.level}, which serves ${model}, is not allowed to this account.`,
    );
  }

  const { groups, groupsForTokens } = input.meter;
  const priced = prices.find(model, groups);
  steps.push({ step: "price", in: model, out: priced === null ? "none" : `${priced.group}/${priced.name}` });
  if (priced === null) return refuse("model_not_priced", unpriced(model, input.meter));
  const byTokens = groupsForTokens === undefined ? priced : prices.find(model, groupsForTokens);
  const pricedByTokens = byTokens === priced ? null : byTokens;

  const modelLimits = limitsFor(model, accountContext.maps.modelLimits, config.modelLimits);
  if (modelLimits !== null) steps.push({ step: "limits", in: model, out: JSON.stringify(modelLimits) });
  return { model, level: found.level, view: found.view, priced, pricedByTokens, modelLimits, prices };
}

/**
 * Returns why the path is closed to the account, or null when it is open. The lists of its Owner, the account
 * and all its ancestors must each allow it.
 */
export function pathClosed(accountContext: AccountContext, path: string): Refusal | null {
  const lists = [
    accountContext.config.config.resources,
    ...chainOf(accountContext).map((one) => one.resources),
  ];
  if (lists.every((list) => allows(list, path))) return null;
  const message = `The path ${path.slice(0, 256).toWellFormed()} is not among the Resources allowed to this account.`;
  return { code: "path_not_allowed", message };
}

/**
 * Maps a requested model: first by the account's effective map, then by its Owner's own map. A hit from a
 * cascade is final, because the Owner or Root has named that model itself.
 */
function mapped({ maps, config }: AccountContext, requested: string, steps: RoutingStep[]): string {
  const hit = maps.modelMapper.find(requested);
  const model = hit?.value ?? requested;
  const by = hit === null || hit.from === "own" ? null : hit.from;
  steps.push({
    step: "user_mapper",
    in: requested,
    out: model,
    ...ruleOf(hit),
    ...(by && { note: LAID_BY[by] }),
  });
  if (by !== null) {
    steps.push({
      step: "owner_mapper",
      in: model,
      out: model,
      note: "passed over: a cascade has named the model",
    });
    return model;
  }
  const owners = pick(config.config.modelMapper, model);
  const target = owners?.value ?? model;
  steps.push({ step: "owner_mapper", in: model, out: target, ...ruleOf(owners) });
  return target;
}

const LAID_BY = { owner: "laid by the Owner", root: "laid by Root" } as const;

const ruleOf = (hit: { readonly pattern: string; readonly value: string } | null): { rule?: string } =>
  hit === null ? {} : { rule: `${hit.pattern}=${hit.value}` };

/** The Level of a model has no provider key. `rule` is the row of a map that leads there; null for the account's own Level. */
interface NoKey {
  readonly ok: "no_key";
  readonly level: number;
  readonly rule: string | null;
}

const unserved = (model: string, { level, rule }: NoKey): string =>
  rule === null
    ? `No Level serves the model ${model}. Map it in LEVEL_MAPPER, or add a provider key to Level ${level}.`
    : `No Level serves the model ${model}: ${rule} leads it to Level ${level}, which has no provider key. Add one there, or map the model to another Level.`;

/** Returns the Level and its view, that no key is there, or which view is needed first. */
function levelOf(
  input: RouteInput,
  profile: Profile,
  model: string,
  steps: RoutingStep[],
): { level: number; view: LevelView } | NeedsLevel | NoKey {
  const { config } = input.accountContext.config;
  const hit = pick(profile.levelMapper, model) ?? pick(config.levelMapper, model);
  const level = hit?.value ?? profile.level;
  const view = input.level(level);
  if (view === undefined) return { ok: "needs_level", level };
  steps.push({
    step: "level",
    in: model,
    out: view.keys.length === 0 ? "none" : String(level),
    ...(hit === null ? { note: "the account's own Level" } : { rule: `${hit.pattern}=${hit.value}` }),
  });
  if (view.keys.length === 0) return { ok: "no_key", level, rule: hit && `${hit.pattern}=${hit.value}` };
  return { level, view };
}

type Limits = Partial<RateLimits>;

/**
 * Returns the limits of a model, each limit taken from the account's effective map, then the Owner's
 * MODEL_LIMITS, then the default of no limit. Returns null when neither map names the model.
 */
export function limitsFor(
  model: string,
  ofAccount: EffectiveMap<Limits>,
  ofOwner: Readonly<Record<string, Limits>>,
): RateLimits | null {
  const own = ofAccount.find(model)?.value;
  const owner = pick(ofOwner, model)?.value;
  if (own === undefined && owner === undefined) return null;
  return { ...NO_LIMITS, ...owner, ...own };
}

const by = (one: Profile | undefined, account: Profile): { note?: string } =>
  one === undefined
    ? {}
    : { note: one.id === account.id ? "by this account's list" : "by an ancestor's list" };

/** An example price of each group, for the error message. */
const EXAMPLES: Readonly<Record<Group, { readonly price: string; readonly unit: string }>> = {
  ChatPricing: { price: '{"InputText":0.5,"OutputText":1.5}', unit: "USD per million tokens" },
  FineTuningPricing: { price: '{"InputText":0.5,"OutputText":1.5}', unit: "USD per million tokens" },
  ImgPricing: { price: '{"Call":0.04}', unit: "USD per image" },
  AudioPricing: {
    price: '{"Input":15}',
    unit: "USD per million tokens or characters, or per thousand minutes",
  },
  RerankPricing: { price: '{"Call":0.002}', unit: "USD per search" },
  CallPricing: { price: '{"Call":0.01}', unit: "USD per call" },
};

function unpriced(model: string, { groups }: MeterKind): string {
  const [group = "ChatPricing"] = groups;
  const { price, unit } = EXAMPLES[group];
  return (
    `The model ${model} has no price. Its Owner can set one with PUT /x-config and ` +
    `{"PRICING":{"${group}":{${JSON.stringify(model)}:${price}}}} ` +
    `(${unit}; 0 is allowed), or price every other model at once under the name "*".`
  );
}
