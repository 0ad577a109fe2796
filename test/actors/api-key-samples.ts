// Named keys of an account that is driven by hand: settings, callers, and the commands about keys in short.

import type { AddedApiKey, ChangeApiKey, RotateApiKey } from "../../actors/account/api-keys.ts";
import { callingKey } from "../../actors/account/identify.ts";
import type { AccountEvent } from "../../actors/account/state.ts";
import type { ApiKeyChange, ApiKeySettings, CallingKey, Scope } from "../../actors/api-key/api-key.ts";
import type { AccountId, ApiKeyId } from "../../actors/ids.ts";
import { MAIN_API_KEY, MAIN_API_KEY_NAME } from "../../actors/ids.ts";
import { ZERO } from "../../actors/money.ts";
import { NO_TAGS } from "../../actors/tags.ts";
import type { Decision } from "../../src/runtime/actor.ts";
import { KEY, type Living } from "./account-samples.ts";

/** What the main key of an account that is no Owner has. */
export const MAIN_SCOPES: readonly Scope[] = ["invoke", "read", "manage"];

export const settingsOf = (over: Partial<ApiKeySettings> = {}): ApiKeySettings => ({
  name: "robot",
  scopes: ["invoke"],
  allowModels: [],
  allowIps: [],
  resources: [],
  hardLimit: ZERO,
  dailyLimit: ZERO,
  rpm: 0,
  tpm: 0,
  tags: NO_TAGS,
  expiresAt: null,
  status: true,
  ...over,
});

export const callerOf = (over: Partial<CallingKey> = {}): CallingKey => ({
  account: 7 as AccountId,
  apiKey: MAIN_API_KEY,
  name: MAIN_API_KEY_NAME,
  scopes: MAIN_SCOPES,
  allowModels: [],
  resources: [],
  allowIps: [],
  expiresAt: null,
  ...over,
});

/** The main key of an account above 7. */
export const above = (account: number, scopes = MAIN_SCOPES): By => ({
  by: callerOf({ account: account as AccountId, scopes }),
  byHash: "f".repeat(64),
});

/** A hash that says of what. */
export const hashOf = (secret: string): string => secret.padEnd(64, ".");

interface By {
  readonly by: CallingKey;
  readonly byHash: string;
}

/** The main key of account 7. */
export const BY_MAIN: By = { by: callerOf(), byHash: KEY };

/** One of the account's own keys as it calls with its newest secret. */
export function ownKey(one: Living, id: ApiKeyId): By {
  const named = one.state.apiKeys!.get(id)!;
  return { by: callingKey(one.state.profile!, named), byHash: named.key.secrets[0].hash };
}

let commands = 0;

export const tryToAdd = (
  one: Living,
  over: Partial<ApiKeySettings> = {},
  by: By = BY_MAIN,
  id = `add-${++commands}`,
): Decision<AccountEvent> => {
  const settings = settingsOf(over);
  const hash = hashOf(`secret-of-${settings.name}`);
  return one.ask({ type: "addApiKey", id, settings, hash, ...by });
};

/** Adds a key whose secret is `hashOf("secret-of-NAME")`, and returns its id. */
export function added(one: Living, over: Partial<ApiKeySettings> = {}, by: By = BY_MAIN): ApiKeyId {
  const { reply, refused } = tryToAdd(one, over, by);
  if (refused !== undefined) throw new Error(`refused: ${refused.code}: ${refused.message}`);
  return (reply as AddedApiKey).row.id;
}

export const secretOf = (name = "robot"): string => hashOf(`secret-of-${name}`);

export const changed = (one: Living, apiKey: ApiKeyId, change: ApiKeyChange, by: By = BY_MAIN) => {
  const input: ChangeApiKey = { apiKey, change, editedFrom: null, ...by };
  return one.ask({ type: "changeApiKey", ...input });
};

export const rotated = (
  one: Living,
  apiKey: ApiKeyId,
  secret: string,
  over: Partial<Pick<RotateApiKey, "id" | "overlapMs" | "replacesOwnOnly">> = {},
  by: By = BY_MAIN,
) =>
  one.ask({
    ...{ type: "rotateApiKey", apiKey, hash: hashOf(secret), overlapMs: 0 },
    ...{ id: `rotate-${++commands}`, ...over, ...by },
  });

export const deleted = (one: Living, apiKey: ApiKeyId, by: By = BY_MAIN) =>
  one.ask({ type: "deleteApiKey", apiKey, ...by });
