// Routing: from the model a client asked for to the model and Level that serve it, as a pure function that returns its own
// trace: explaining a decision is reading it. What stands in for them is failover-candidates.ts.
//
// spec: Routing order for a gateway request, steps 1 to 4; contract section 4. Step 4 (limits) is only gathered
// here, the account decides it; step 5 (the key) is chosen by attempt/failover.ts from the Level's view.

import type { Profile } from "../../../actors/account/state.ts";
import type { LevelView } from "../../../actors/level/view.ts";
import { allows, pick } from "../../../actors/pattern.ts";
import type { Group, Priced } from "../../../actors/pricing/price.ts";
import type { PriceTable } from "../../../actors/pricing/price-table.ts";
import { NO_LIMITS, type RateLimits } from "../../../actors/rate-window.ts";
import type { Refusal } from "../../base/errors.ts";
import type { AccountContext } from "../account/config-cache.ts";
import type { EffectiveMap } from "../account/effective-maps.ts";
import type { MeterKind } from "../metering/meter-kinds.ts";

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

export interface Multipliers {
  /** The highest Rates of the account and its ancestors. */
  readonly rates: number;
  readonly factor: number;
}

/** A model at a Level: where an attempt can go. */
export interface RouteCandidate {
  readonly model: string;
  readonly level: number;
  readonly view: LevelView;
  readonly priced: Priced;
  /** The price where the provider reports tokens; null: the same. */
  readonly pricedByTokens: Priced | null;
  readonly modelLimits: RateLimits | null;
  /** All that the Owner's prices say, for what an answer brings beside the model. */
  readonly prices: PriceTable;
}

export interface Route extends RouteCandidate {
  readonly ok: true;
  readonly priceVersion: number;
  readonly multipliers: Multipliers;
  readonly steps: readonly RoutingStep[];
}

export interface NoRoute {
  readonly ok: false;
  readonly refusal: Refusal;
  /** The model as far as it was mapped. */
  readonly model: string;
  readonly steps: readonly RoutingStep[];
}

/** A Level's view is needed and not at hand: load it and route again. */
export interface NeedsLevel {
  readonly ok: "needs_level";
  readonly level: number;
}

export interface RouteInput {
  readonly path: string;
  /** How the path is metered: it says where prices are looked up. */
  readonly meter: MeterKind;
  readonly model: string;
  readonly lineage: AccountContext;
  level(level: number): LevelView | undefined;
}

export function route(input: RouteInput): Route | NoRoute | NeedsLevel {
  const { lineage } = input;
  const { profile } = lineage.account;
  const { config } = lineage.config;
  const steps: RoutingStep[] = [];

  const closed = pathClosed(lineage, input.path);
  if (closed !== null) return { ok: false, refusal: closed, model: input.model, steps };
  const model = mapped(lineage, input.model, steps);
  const leg = legFor(input, model, steps);
  if ("ok" in leg) return leg;
  return {
    ok: true,
    ...leg,
    priceVersion: config.version,
    multipliers: { rates: Math.max(...chainOf(lineage).map((one) => one.rates)), factor: profile.factor },
    steps,
  };
}

/** The account, then everybody above it below Root. */
export const chainOf = (lineage: AccountContext): readonly Profile[] => [
  lineage.account.profile,
  ...lineage.ancestors.map((copy) => copy.profile),
];

export const barredFrom = (chain: readonly Profile[], level: number): Profile | undefined =>
  chain.find((one) => one.allowLevels.length > 0 && !one.allowLevels.includes(level));

/** Where a model, mapped already, is served for this account. */
export function legFor(
  input: RouteInput,
  model: string,
  steps: RoutingStep[],
): RouteCandidate | NoRoute | NeedsLevel {
  const { lineage } = input;
  const { profile } = lineage.account;
  const { config, prices } = lineage.config;
  const chain = chainOf(lineage);
  const refuse = (code: string, message: string): NoRoute => {
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
  if (found === null) {
    return refuse(
      "model_not_found",
      `No Level serves the model ${model}. Map it in LEVEL_MAPPER, or add a provider key to Level ${profile.level}.`,
    );
  }
  if ("ok" in found) return found;

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
  const told = groupsForTokens === undefined ? priced : prices.find(model, groupsForTokens);
  const pricedByTokens = told === priced ? null : told;

  const modelLimits = limitsFor(model, lineage.maps.modelLimits, config.modelLimits);
  if (modelLimits !== null) steps.push({ step: "limits", in: model, out: JSON.stringify(modelLimits) });
  return { model, level: found.level, view: found.view, priced, pricedByTokens, modelLimits, prices };
}

/** Why the path is closed to the account or to somebody above it; null when it is open. Each list must allow it. */
export function pathClosed(lineage: AccountContext, path: string): Refusal | null {
  const lists = [lineage.config.config.resources, ...chainOf(lineage).map((one) => one.resources)];
  if (lists.every((list) => allows(list, path))) return null;
  const message = `The path ${path.slice(0, 256).toWellFormed()} is not among the Resources allowed to this account.`;
  return { code: "path_not_allowed", message };
}

/**
 * The account's map as it stands, then its Owner's own. What a cascade names is its last word: the Owner, or Root, has
 * named the model itself.
 */
function mapped({ maps, config }: AccountContext, asked: string, steps: RoutingStep[]): string {
  const hit = maps.modelMapper.find(asked);
  const model = hit?.value ?? asked;
  const by = hit === null || hit.from === "own" ? null : hit.from;
  steps.push({
    step: "user_mapper",
    in: asked,
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

/** The Level and its view; null: nobody serves the model; or which view is needed first. */
function levelOf(
  input: RouteInput,
  profile: Profile,
  model: string,
  steps: RoutingStep[],
): { level: number; view: LevelView } | NeedsLevel | null {
  const { config } = input.lineage.config;
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
  if (view.keys.length === 0) return null;
  return { level, view };
}

type Limits = Partial<RateLimits>;

/**
 * Precedence figure by figure: the account's limits as they stand, then the Owner's MODEL_LIMITS, then the system's
 * default, which is none; null: no limit at all.
 */
function limitsFor(
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

/** How a price looks in the group that fits a path best. */
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
