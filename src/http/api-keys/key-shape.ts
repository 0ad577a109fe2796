// The records of API keys, as lists and answers show them. Nothing is decided here.

import type { ApiKeyList, ApiKeyRow } from "../../../actors/account/api-key-list.ts";
import { MAIN_API_KEY, MAIN_API_KEY_NAME } from "../../../actors/ids.ts";
import { toUsd } from "../../../actors/money.ts";
import type { ApiKeyShape } from "./schemas.ts";

const timeOf = (at: number): string => new Date(at).toISOString();
const timeOrNull = (at: number | null): string | null => (at === null ? null : timeOf(at));

/** Returns the public part of a key, from the hash of its secret. */
export const publicKey = (hash: string): string => `pk-${hash.slice(0, 16)}`;

/** Returns the record of a named key. */
export const apiKeyShape = (row: ApiKeyRow): ApiKeyShape => ({
  id: row.id,
  name: row.name,
  public_key: publicKey(row.hash),
  scopes: row.scopes,
  allow_models: row.allowModels,
  allow_ips: row.allowIps,
  resources: row.resources,
  hard_limit: toUsd(row.hardLimit),
  daily_limit: toUsd(row.dailyLimit),
  rpm: row.rpm,
  tpm: row.tpm,
  tags: row.tags,
  expires_at: timeOrNull(row.expiresAt),
  status: row.status,
  created_at: timeOf(row.createdAt),
  created_by: row.createdBy,
  overlap_until: timeOrNull(row.overlapUntil),
  last_used_at: timeOrNull(row.lastUsedAt),
  cost_today: toUsd(row.costToday),
  cost_month: toUsd(row.costMonth),
  cost_total: toUsd(row.costTotal),
});

/** Returns the record of the main key, which has no settings of its own. `lastUsedAt`: wall-clock ms of its newest charge. */
export const mainKeyShape = ({ main }: ApiKeyList, lastUsedAt: number | null): ApiKeyShape => ({
  id: MAIN_API_KEY,
  name: MAIN_API_KEY_NAME,
  public_key: publicKey(main.hash),
  scopes: main.scopes,
  ...{ allow_models: [], allow_ips: [], resources: [] },
  ...{ hard_limit: 0, daily_limit: 0, rpm: 0, tpm: 0, tags: {} },
  ...{ expires_at: null, status: true },
  created_at: timeOf(main.createdAt),
  created_by: null,
  overlap_until: null,
  last_used_at: timeOrNull(lastUsedAt),
  cost_today: toUsd(main.costToday),
  cost_month: toUsd(main.costMonth),
  cost_total: toUsd(main.costTotal),
});
