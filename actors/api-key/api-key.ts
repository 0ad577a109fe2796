// The named API keys of an account: what a key is, what may be set on it, and the scopes of keys. Shapes and their smallest
// rules only; the keys of one account are folded by named-keys.ts, and decided on by actors/account/api-keys.ts.
// Source: contract section 8, "API keys of an account".

import type { AccountId, ApiKeyId } from "../ids.ts";
import type { Nano } from "../money.ts";
import type { Tags } from "../tags.ts";

/** What a key may do; no scope contains another. */
export const SCOPES = ["invoke", "read", "manage", "admin"] as const;

/** One of `SCOPES`. */
export type Scope = (typeof SCOPES)[number];

/** What an endpoint asks of a key: a scope, that it is the account's main key, or nothing beyond being valid. */
export type RequiredScope = Scope | "main_key" | "none";

/** What may be set on a key. Limits of 0 are none; empty lists allow everything. Amounts are nano-dollars. */
export interface ApiKeySettings {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly allowModels: readonly string[];
  readonly allowIps: readonly string[];
  readonly resources: readonly string[];
  readonly hardLimit: Nano;
  readonly dailyLimit: Nano;
  readonly rpm: number;
  readonly tpm: number;
  readonly tags: Tags;
  /** Wall-clock ms from which the key is invalid; null means never. */
  readonly expiresAt: number | null;
  /** A disabled key is invalid, and can be enabled again. */
  readonly status: boolean;
}

/** A change of a key; absent fields stay. */
export type ApiKeyChange = Partial<ApiKeySettings>;

/** A secret of a key, of which only the SHA-256 in hex is known. */
export interface ApiKeySecret {
  readonly hash: string;
  /** The account to which the secret was shown. */
  readonly by: AccountId;
  /** Wall-clock ms from which the secret is invalid, after a rotation; null for the newest one. */
  readonly until: number | null;
}

/** A named key. */
export interface ApiKey extends ApiKeySettings {
  readonly id: ApiKeyId;
  readonly createdAt: number;
  readonly createdBy: AccountId;
  /** The newest secret, and while it overlaps the one before. */
  readonly secrets: readonly [ApiKeySecret] | readonly [ApiKeySecret, ApiKeySecret];
  /** Id of the command that made the newest secret, by which a repeat of it is recognized. */
  readonly issuedBy: string;
}

/** A deleted key, remembered for `DELETED_KEY_MS` so that its refusal can say so. */
export interface DeletedApiKey {
  readonly id: ApiKeyId;
  readonly name: string;
  readonly hashes: readonly string[];
  /** Wall-clock ms of the deletion. */
  readonly at: number;
}

/** Milliseconds for which a deleted key is remembered. */
export const DELETED_KEY_MS = 30 * 86_400_000;
/** Deleted keys that are remembered, the newest ones. */
export const DELETED_KEYS_MAX = 200;
/** Named keys of one account. */
export const API_KEYS_MAX = 200;
/** Secrets that one account may make in a UTC day, by adding and rotating keys. */
export const API_KEYS_MADE_PER_DAY_MAX = 1_000;

/** The key that calls an endpoint, as its own account described it; the main key has no bounds. */
export interface CallingKey {
  readonly account: AccountId;
  readonly apiKey: ApiKeyId;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly allowModels: readonly string[];
  readonly resources: readonly string[];
  readonly allowIps: readonly string[];
  readonly expiresAt: number | null;
}

/** The settings that cap or narrow what a key may spend, which a key with `manage` cannot have. */
const CAPS = {
  hardLimit: "HardLimit",
  dailyLimit: "DailyLimit",
  rpm: "RPM",
  tpm: "TPM",
  allowModels: "AllowModels",
  resources: "Resources",
} as const satisfies Partial<Record<keyof ApiKeySettings, string>>;

/** Returns the names, as requests spell them, of the caps and lists that are set. */
export function capsOf(settings: ApiKeySettings): string[] {
  const fields = Object.keys(CAPS) as (keyof typeof CAPS)[];
  return fields.flatMap((field) => {
    const value = settings[field];
    const isSet = typeof value === "number" ? value !== 0 : value.length > 0;
    return isSet ? [CAPS[field]] : [];
  });
}
