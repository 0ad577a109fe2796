// The list of an account's API keys, with what each has cost. Views only, derived from the state.

import type { Decision, Turn } from "../../src/runtime/actor.ts";
import type { ApiKey, Scope } from "../api-key/api-key.ts";
import type { NamedKey } from "../api-key/named-key.ts";
import { spentIn, spentOn } from "../api-key/period-sums.ts";
import { minus, most, type Nano, ZERO } from "../money.ts";
import { accountNotFound } from "./charge.ts";
import { spentInMonth, spentOnDay } from "./evolve.ts";
import { mainKeyScopes } from "./identify.ts";
import type { Account, AccountEvent } from "./state.ts";

/** What a key has cost: charges of its requests, in nano-dollars. */
export interface ApiKeyCosts {
  readonly costToday: Nano;
  readonly costMonth: Nano;
  readonly costTotal: Nano;
}

/** A named key as lists show it. Its hash is that of the newest secret. */
export interface ApiKeyRow extends Omit<ApiKey, "secrets" | "issuedBy">, ApiKeyCosts {
  readonly hash: string;
  /** Wall-clock ms until which the former secret is valid; null when there is none. */
  readonly overlapUntil: number | null;
  readonly lastUsedAt: number | null;
}

/** The keys of an account. The main key's costs are what the named keys have not spent. */
export interface ApiKeyList {
  readonly main: ApiKeyCosts & {
    readonly hash: string;
    readonly createdAt: number;
    readonly scopes: readonly Scope[];
  };
  /** Live keys, oldest first. */
  readonly keys: readonly ApiKeyRow[];
}

/** Returns the keys of the account. Refuses user_not_found. */
export function apiKeyList(state: Account, { now }: Turn): Decision<AccountEvent> {
  const { profile, apiKeys } = state;
  if (profile === null) return { refused: accountNotFound(state) };
  const reply: ApiKeyList = {
    main: {
      hash: profile.keyHash,
      createdAt: profile.createdAt,
      scopes: mainKeyScopes(profile),
      ...mainCosts(state, now),
    },
    keys: [...(apiKeys?.all() ?? [])].map((named) => apiKeyRow(named, now)),
  };
  return { reply };
}

/** Returns a key as lists show it. */
export function apiKeyRow(named: NamedKey, now: number): ApiKeyRow {
  const { secrets, issuedBy: _, ...key } = named.key;
  const { cost, lastUsedAt } = named;
  const [newest, former] = secrets;
  const until = former?.until ?? 0;
  return {
    ...key,
    hash: newest.hash,
    overlapUntil: until > now ? until : null,
    costToday: spentOn(cost, now),
    costMonth: spentIn(cost, now),
    costTotal: cost.total,
    lastUsedAt,
  };
}

/** What all charges of the account are more than those of its named keys. Root may have set CreditUsed by hand. */
function mainCosts(state: Account, now: number): ApiKeyCosts {
  const named = state.apiKeys?.cost;
  const { creditUsed } = state;
  if (named === undefined) {
    return {
      costToday: spentOnDay(state, now),
      costMonth: spentInMonth(state, now),
      costTotal: creditUsed,
    };
  }
  return {
    costToday: minus(spentOnDay(state, now), spentOn(named, now)),
    costMonth: minus(spentInMonth(state, now), spentIn(named, now)),
    costTotal: most(ZERO, (creditUsed - named.total) as Nano),
  };
}
