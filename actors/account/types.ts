// What is known of an account and of a charge, as data: the profile and what may change of it, the facts of a request.
// Words only; no rule of money or life stands here.

import type { AccountId, ProviderKeyId } from "../ids.ts";
import type { Nano } from "../money.ts";
import type { Seen } from "../owner/cascade.ts";
import type { ChargePart } from "../pricing/cost-parts.ts";
import type { Basis, Usage } from "../pricing/usage.ts";
import type { RateLimits } from "../rate-window.ts";

/** By pattern, which configurations were known when the account's own word on it was said. */
export interface MapStamps {
  readonly modelMapper: Readonly<Record<string, Seen>>;
  readonly modelLimits: Readonly<Record<string, Seen>>;
}

/** What is known of an account besides its money. Field meanings: spec, Resources: Account. */
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
  /** null: any number of direct children; 0: none. */
  readonly userLimit: number | null;
  readonly limits: RateLimits;
  readonly allowIps: readonly string[];
  readonly allowModels: readonly string[];
  readonly allowLevels: readonly number[];
  readonly resources: readonly string[];
  readonly modelLimits: Readonly<Record<string, Partial<RateLimits>>>;
  readonly modelMapper: Readonly<Record<string, string>>;
  /** Of the two maps above, against the cascades: see map-overrides.ts. Absent: every cascade is newer. */
  readonly stamps?: MapStamps;
  readonly levelMapper: Readonly<Record<string, number>>;
  readonly qrCode: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What `update` may change of a profile (spec: PUT /x-users). Absent = as it is; `limits` alone is merged. */
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

export const isRoot = (profile: Pick<Profile, "parent">): boolean => profile.parent === null;

/** Created by Root: the top of a tree, or Root itself, who may do whatever an Owner may. */
export const isOwner = (profile: Pick<Profile, "parent">): boolean =>
  profile.parent === null || profile.parent === 1;

/** An attempt of a request, for explaining it later. */
export interface AttemptRow {
  readonly key: ProviderKeyId;
  readonly level: number;
  readonly model: string;
  readonly status: number;
  readonly signal: string;
  readonly ms: number;
}

/** A client's Idempotency-Key, and what it was sent with (path and body): SHA-256 of each, in hex. */
export interface Idempotency {
  readonly key: string;
  readonly body: string;
}

/** Everything a charge was computed from, so that it can be recomputed and explained for ever. */
export interface ChargeFacts {
  /** The service's own id of the request: hold, charge and ledger line carry it. */
  readonly id: string;
  /** The response's x-request-id: the client's, else the same as `id`. */
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
  /** The price numbers and multipliers that were multiplied. */
  readonly price: unknown;
  /** What of `usage` was priced otherwise than by `price`; left out: nothing. */
  readonly parts?: readonly ChargePart[];
  /** The model that the provider named in its answer, where that is another than `model`. */
  readonly answeredModel?: string;
  readonly priceVersion: number;
  readonly admittedAt: number;
  readonly stream: boolean;
  readonly attempts: readonly AttemptRow[];
  /** Present where the client gave a key. */
  readonly idempotency?: Idempotency;
  /** The Owner's UserMinBalance, at or below which AutoQuota asks the parent. Not kept in the ledger. */
  readonly keep?: Nano;
  /** Its client has the whole answer already, since its charge had to wait. Not kept in the ledger. */
  readonly delivered?: true;
}
