// Data types of an account's profile, its changes, and the facts of a charge. Types only; no rule of money or
// lifecycle stands here.

import type { AccountId, ApiKeyId, ProviderKeyId } from "../ids.ts";
import type { Nano } from "../money.ts";
import type { Seen } from "../owner/cascade.ts";
import type { ChargePart } from "../pricing/cost-parts.ts";
import type { Basis, Usage } from "../pricing/usage.ts";
import type { RateLimits } from "../rate-window.ts";

/** For each pattern, the configuration versions that were known when the account's own entry was set. */
export interface MapStamps {
  readonly modelMapper: Readonly<Record<string, Seen>>;
  readonly modelLimits: Readonly<Record<string, Seen>>;
}

/** An account without its credit and usage. The spec defines the fields under "Resources: Account". */
export interface Profile {
  readonly id: AccountId;
  readonly name: string;
  readonly email: string;
  readonly alias: string;
  readonly billingEmail: string;
  readonly parent: AccountId | null;
  readonly dna: string;
  /** SHA-256 of the API key, hex. */
  readonly keyHash: string;
  readonly status: boolean;
  readonly suspended: boolean;
  readonly level: number;
  readonly role: number;
  readonly gear: number;
  readonly tier: number;
  readonly factor: number;
  readonly rates: number;
  readonly hardLimit: Nano;
  readonly softLimit: Nano;
  readonly dailyLimit: Nano;
  readonly autoQuota: Nano;
  readonly xCredit: Nano;
  /** Number of direct children allowed; null means unlimited, 0 none. */
  readonly userLimit: number | null;
  readonly limits: RateLimits;
  readonly allowIps: readonly string[];
  readonly allowModels: readonly string[];
  readonly allowLevels: readonly number[];
  readonly resources: readonly string[];
  readonly modelLimits: Readonly<Record<string, Partial<RateLimits>>>;
  readonly modelMapper: Readonly<Record<string, string>>;
  /** Stamps of the two maps above, see map-overrides.ts. If absent, every cascade is newer. */
  readonly stamps?: MapStamps;
  readonly levelMapper: Readonly<Record<string, number>>;
  readonly qrCode: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The fields that `update` may change (spec: PUT /x-users). Absent fields stay; only `limits` is merged. */
export type ProfileChange = Partial<
  Pick<
    Profile,
    | "status"
    | "suspended"
    | "rates"
    | "hardLimit"
    | "softLimit"
    | "dailyLimit"
    | "autoQuota"
    | "userLimit"
    | "allowIps"
    | "allowModels"
    | "allowLevels"
    | "resources"
    | "modelLimits"
    | "modelMapper"
    | "stamps"
    | "levelMapper"
    | "qrCode"
    | "alias"
    | "billingEmail"
    | "level"
    | "role"
    | "gear"
    | "tier"
    | "factor"
  >
> & { readonly limits?: Partial<RateLimits> };

/** Returns whether this is Root, the only account without parent. */
export const isRoot = (profile: Pick<Profile, "parent">): boolean => profile.parent === null;

/** Returns whether this is an Owner: a child of Root, or Root itself, which may do all that an Owner may. */
export const isOwner = (profile: Pick<Profile, "parent">): boolean =>
  profile.parent === null || profile.parent === 1;

/** One attempt of a request, recorded to explain it later. */
export interface AttemptRow {
  readonly key: ProviderKeyId;
  readonly level: number;
  readonly model: string;
  readonly status: number;
  readonly signal: string;
  readonly ms: number;
}

/** SHA-256, in hex, of a client's Idempotency-Key and of the path and body with which it was sent. */
export interface Idempotency {
  readonly key: string;
  readonly body: string;
}

/**
 * The API key that caused a ledger line. Both are absent for the main key, whose id is 0 and whose name is
 * `main`.
 */
export interface LineApiKey {
  readonly apiKey?: ApiKeyId;
  /** The name that the key had then. */
  readonly apiKeyName?: string;
}

/** Everything from which a charge was computed, so that it can be recomputed and explained at any time. */
export interface ChargeFacts extends LineApiKey {
  /** The service's id of the request, shared by hold, charge and ledger line. */
  readonly id: string;
  /** The response's x-request-id: the client's, or else `id`. */
  readonly request: string;
  readonly path: string;
  readonly asked: string;
  readonly model: string;
  readonly level: number;
  readonly usage: Usage;
  readonly prompt: number;
  readonly completion: number;
  readonly cost: Nano;
  readonly basis: Basis;
  /** The prices and multipliers that were used, see `PriceNumbers`. */
  readonly price: unknown;
  /** Parts of `usage` that have their own price; if absent, all usage is priced by `price`. */
  readonly parts?: readonly ChargePart[];
  /** The model that the provider named in its answer, if it differs from `model`. */
  readonly answeredModel?: string;
  readonly priceVersion: number;
  readonly admittedAt: number;
  readonly stream: boolean;
  readonly attempts: readonly AttemptRow[];
  /** Present if the client sent an Idempotency-Key. */
  readonly idempotency?: Idempotency;
  /** The tags of the request, by name; absent if it has none. */
  readonly tags?: Readonly<Record<string, string>>;
  /**
   * What the request cost at the provider key that answered, in nano-dollars; absent if unknown. It is shown
   * to nobody below the Owner.
   */
  readonly costIn?: Nano;
  /** The Owner's UserMinBalance, at or below which AutoQuota asks the parent. Not stored in the ledger. */
  readonly keep?: Nano;
  /** The client already has the whole answer, because the charge was delayed. Not stored in the ledger. */
  readonly delivered?: true;
  /**
   * No message that was sent so far can open the request's hold any more, so the account need not remember that the request
   * has ended: what re-asserts it later also reports its end. Not stored in the ledger.
   */
  readonly isLast?: true;
}
