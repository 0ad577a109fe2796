// What an account sees of itself: who it is, its credit, limits and use. All of it is what the account itself states, up to
// the last finished request.

import type { Static } from "@sinclair/typebox";
import { type ChargeTotals, noChargeTotals } from "../../../actors/account/charge-totals.ts";
import type { AccountRecord } from "../../../actors/account/views.ts";
import { type Nano, plus, toUsd } from "../../../actors/money.ts";
import type { EffectiveMaps } from "../../gateway/account/effective-maps.ts";
import { type AccountStanding, accountStanding, type LiveLimit } from "../../gateway/dry-run/standing.ts";
import { manages } from "../accounts/permissions.ts";
import { publicKey } from "../api-keys/key-shape.ts";
import type { ManagementCaller } from "../management.ts";
import type { InfoSchema, LiveSchema, StatusSchema } from "./schemas.ts";

/**
 * Returns the status of the caller. `userApiBalance`: US dollars that the gateway asks for. `adminUrl`: where the
 * administration is served, where that is another address.
 */
export const statusShape = (
  { profile, key, balance, isOwner }: ManagementCaller,
  userApiBalance: number,
  adminUrl: string | null,
): Static<typeof StatusSchema> => ({
  object: "user_status",
  id: profile.id,
  dna: profile.dna,
  name: profile.name,
  email: profile.email,
  alias: profile.alias,
  public_key: publicKey(profile.keyHash),
  balance: toUsd(balance),
  user_api_balance: userApiBalance,
  manage: manages(profile) && key.scopes.includes("manage"),
  admin: isOwner && key.scopes.includes("admin"),
  scopes: key.scopes,
  ...(adminUrl === null ? {} : { admin_url: adminUrl }),
});

/** Returns the short form of the status. */
export const shortStatusShape = ({ profile, balance }: ManagementCaller) => ({
  id: profile.id,
  name: profile.name,
  email: profile.email,
  balance: toUsd(balance),
  dna: profile.dna,
});

/**
 * Returns the information on an account, what it used today and this month (UTC) by model, and how it stands now: its
 * limits, and what would refuse any request with the key `keyHash`.
 */
export async function liveOf(
  parts: Parameters<typeof accountStanding>[0],
  of: AccountRecord,
  keyHash: string,
): Promise<Static<typeof LiveSchema>> {
  const standing = await accountStanding(parts, { account: of.profile.id, keyHash });
  return {
    ...infoShape(of, await parts.configs.maps(of.profile)),
    daily_usage: periodShape(of.today),
    monthly_usage: periodShape(of.month),
    // The balance is no window: it stands above.
    windows: standing.limits.filter(({ name }) => name !== "balance").map(windowShape),
    blocked: blockedShape(standing),
  };
}

function windowShape({ scope, name, model, limit, used, resetsAt, unit }: LiveLimit) {
  const shown = (figure: number) => (unit === "nano" ? toUsd(figure as Nano) : figure);
  // What is wholly free would be so from this very moment on, which moves.
  const isFree = unit === "count" && used === 0;
  return {
    scope,
    name,
    ...(model === null ? {} : { model }),
    limit: shown(limit),
    used: shown(used),
    resets_at: isFree || resetsAt === null ? null : timestamp(resetsAt),
  };
}

function blockedShape({ at, refusal, limits }: AccountStanding) {
  if (refusal === null) return null;
  const { code, message, retryAfterS } = refusal;
  const reached = limits.find(({ scope, name }) => scope === "account" && `${name}_reached` === code);
  const until = retryAfterS === undefined ? (reached?.resetsAt ?? null) : at + retryAfterS * 1_000;
  // Waits are rounded up to seconds, and windows end with a second: rounded down it is the same at each poll.
  return { code, message, until: until === null ? null : timestamp(Math.floor(until / 1_000) * 1_000) };
}

/** Returns the information on an account. */
export function infoShape(caller: AccountRecord, maps: EffectiveMaps): Static<typeof InfoSchema> {
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
      total: toUsd(caller.balance),
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

/** Sums the figures that are shown. */
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
