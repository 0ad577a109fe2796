// /dashboard/*: what any account may see of itself. Never depends on its balance or on gateway limits.
// All of it is what the account itself says: up to the last finished request.

import { type ChargeTotals, noChargeTotals } from "../../../actors/account/charge-totals.ts";
import { plus, toUsd } from "../../../actors/money.ts";
import type { ConfigCache } from "../../gateway/account/config-cache.ts";
import type { EffectiveMaps } from "../../gateway/account/effective-maps.ts";
import { manages } from "../accounts/permissions.ts";
import { answer, endpoint } from "../endpoint.ts";
import type { ManagementCaller, ManagementParts } from "../management.ts";
import { NoQuerySchema } from "../schemas.ts";

export interface DashboardParts extends ManagementParts {
  readonly replicas: ConfigCache;
}

/** spec: GET /dashboard/status. */
export const getStatus = (parts: DashboardParts) =>
  endpoint(parts, { who: "any", query: NoQuerySchema }, async ({ caller }) => {
    const { config } = await parts.replicas.lineage(caller.profile.id);
    return answer({
      object: "user_status",
      id: caller.profile.id,
      dna: caller.profile.dna,
      name: caller.profile.name,
      email: caller.profile.email,
      alias: caller.profile.alias,
      public_key: `pk-${caller.keyHash.slice(0, 16)}`,
      balance: balanceOf(caller),
      user_api_balance: toUsd(config.config.userApiBalance),
      manage: manages(caller.profile),
      admin: caller.isOwner,
    });
  });

/** spec: GET /dashboard/x-user-status: the short form. */
export const getShortStatus = (parts: ManagementParts) =>
  endpoint(parts, { who: "any", query: NoQuerySchema }, ({ caller }) =>
    answer({
      id: caller.profile.id,
      name: caller.profile.name,
      email: caller.profile.email,
      balance: balanceOf(caller),
      dna: caller.profile.dna,
    }),
  );

/** spec: GET /dashboard/info and /dashboard/x-user-info. */
export const getInfo = (parts: DashboardParts) =>
  endpoint(parts, { who: "any", query: NoQuerySchema }, async ({ caller }) =>
    answer(infoShape(caller, await parts.replicas.maps(caller.profile))),
  );

/** spec: GET /dashboard/live: everything of info, and what was used today and this month (UTC) by model. */
export const getLive = (parts: DashboardParts) =>
  endpoint(parts, { who: "any", query: NoQuerySchema }, async ({ caller }) =>
    answer({
      ...infoShape(caller, await parts.replicas.maps(caller.profile)),
      daily_usage: periodShape(caller.today),
      monthly_usage: periodShape(caller.month),
    }),
  );

function infoShape(caller: ManagementCaller, maps: EffectiveMaps) {
  const { profile } = caller;
  return {
    object: "user_info",
    user: {
      id: profile.id,
      name: profile.name,
      email: profile.email,
      alias: profile.alias,
      level: profile.level,
      gear: profile.gear,
      role: profile.role,
      tier: profile.tier,
      factor: profile.factor,
      rates: profile.rates,
      dna: profile.dna,
      created_at: timestamp(profile.createdAt),
      updated_at: timestamp(profile.updatedAt),
    },
    balance: {
      total: balanceOf(caller),
      held: toUsd(caller.held),
      credits: caller.credits.map(({ amount, expiresAt }) => ({
        amount: toUsd(amount),
        expires_at: timestamp(expiresAt),
      })),
    },
    limits: {
      hard_limit: toUsd(profile.hardLimit),
      soft_limit: toUsd(profile.softLimit),
      daily_limit: toUsd(profile.dailyLimit),
      auto_quota: toUsd(profile.autoQuota),
      ...profile.limits,
    },
    usage: { today: usageShape(caller.today), month: usageShape(caller.month) },
    restrictions: {
      allow_ips: profile.allowIps,
      allow_models: profile.allowModels,
      allow_levels: profile.allowLevels,
      resources: profile.resources,
    },
    model_limits: maps.modelLimits.all(),
  };
}

const balanceOf = (record: ManagementCaller): number => toUsd(record.balance);

const timestamp = (at: number): string => new Date(at).toISOString();

type Models = Readonly<Record<string, ChargeTotals>>;

function usageShape(models: Models) {
  const { requests, prompt, completion, cost } = addedUp(models);
  return { requests, tokens: prompt + completion, cost: toUsd(cost) };
}

function periodShape(models: Models) {
  const { requests, prompt, completion, reasoning, cost } = addedUp(models);
  return {
    Requests: requests,
    Prompt: prompt,
    Completion: completion,
    Reasoning: reasoning,
    CreditUsed: toUsd(cost),
    ModelUsage: Object.fromEntries(
      Object.entries(models).map(([model, used]) => [
        model,
        { Requests: used.requests, Tokens: used.prompt + used.completion, CreditUsed: toUsd(used.cost) },
      ]),
    ),
  };
}

/** What of their sums is shown. */
function addedUp(models: Models): ChargeTotals {
  const all = noChargeTotals();
  for (const used of Object.values(models)) {
    all.requests += used.requests;
    all.prompt += used.prompt;
    all.completion += used.completion;
    all.reasoning += used.reasoning;
    all.cost = plus(all.cost, used.cost);
  }
  return all;
}
