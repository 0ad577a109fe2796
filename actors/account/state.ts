// What an account is: its profile, its credit, what it spent, its windows, its open transfers; and the events that
// change them. The volatile half (holds) is rebuilt from traffic; everything else is a fold of the ledger.

import { type Credit, noCredit } from "../credit.ts";
import type { AccountId, KeyId } from "../ids.ts";
import { type Nano, ZERO } from "../money.ts";
import type { Basis, Usage } from "../usage.ts";
import { emptyWindows, type Windows } from "../window.ts";
import type { Totals } from "./totals.ts";

/** Requests and tokens per minute, hour, day; 0 = no limit. */
export interface RateLimits {
  readonly rpm: number;
  readonly rph: number;
  readonly rpd: number;
  readonly tpm: number;
  readonly tph: number;
  readonly tpd: number;
}

export const NO_LIMITS: RateLimits = { rpm: 0, rph: 0, rpd: 0, tpm: 0, tph: 0, tpd: 0 };

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
  readonly levelMapper: Readonly<Record<string, number>>;
  readonly qrCode: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const isRoot = (profile: Profile): boolean => profile.parent === null;

/** Created by Root: the top of a tree, or Root itself, who may do whatever an Owner may. */
export const isOwner = (profile: Profile): boolean => profile.parent === null || profile.parent === 1;

/** An attempt of a request, for explaining it later. */
export interface AttemptRow {
  readonly key: KeyId;
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
  readonly priceVersion: number;
  readonly admittedAt: number;
  readonly stream: boolean;
  readonly attempts: readonly AttemptRow[];
  /** Present where the client gave a key. */
  readonly idempotency?: Idempotency;
}

/** A ledger line: `amount` signed from this account's side, `balanceAfter` the book balance after it. */
export interface Line {
  readonly id: string;
  readonly amount: Nano;
  readonly balanceAfter: Nano;
}

export type AccountEvent =
  | { readonly type: "created"; readonly profile: Profile }
  /** Another API key; the one before is dead from here on. */
  | { readonly type: "rotated"; readonly keyHash: string }
  /** Root only: credit comes into being. Not a line: Root's balance is 0 by definition. */
  | { readonly type: "minted"; readonly id: string; readonly amount: Nano }
  | ({
      readonly type: "transfer_out";
      readonly to: AccountId;
    } & Line)
  /** A debt to another account's actor; ends with `settled` or `returned`. */
  | { readonly type: "owing"; readonly transfer: Transfer }
  | { readonly type: "settled"; readonly id: string }
  | ({ readonly type: "returned"; readonly why: string } & Line)
  | ({
      readonly type: "grant" | "transfer_in" | "refund";
      readonly from: AccountId;
      readonly expiresAt: number;
    } & Line)
  | ({
      readonly type: "charge";
      /** Wall ms at which its hold was taken for this model; absent: when it was admitted. */
      readonly takenAt?: number;
      /** Present beside `idempotency`: marks are read from the event alone, and that one is the account's own. */
      readonly account?: AccountId;
    } & ChargeFacts &
      Line)
  /** A request that ended without a charge: counts in the windows, gates nothing. `takenAt`: as in a charge. */
  | {
      readonly type: "released";
      readonly id: string;
      readonly model: string;
      readonly admittedAt: number;
      readonly takenAt?: number;
    }
  | Expire;

export type Expire = { readonly type: "expire" } & Line;

/** Credit under way to another account, with the newborn's profile when it founds one. */
export interface Transfer {
  readonly id: string;
  readonly to: AccountId;
  readonly amount: Nano;
  readonly expiresAt: number;
  readonly kind: "grant" | "transfer_in" | "refund";
  readonly taken: readonly { readonly amount: Nano; readonly expiresAt: number }[];
  readonly child: Profile | null;
  readonly bornAt: number;
}

/** A reservation before the call: cost against balance and limits, requests and tokens in the windows. */
export interface Hold {
  readonly id: string;
  readonly model: string;
  readonly idempotency: Idempotency | null;
  cost: Nano;
  tokens: number;
  readonly admittedAt: number;
  /** Wall ms at which it was taken for `model`: `admittedAt`, or later when another model went before. */
  readonly takenAt: number;
  /** Wall ms; renewed while the request lives. */
  expiresAt: number;
}

export interface Account {
  readonly id: AccountId;
  /** null: nobody was created here. */
  profile: Profile | null;
  /** Grows with every change of the profile; routing made with an older one is refused. */
  version: number;
  /** The key before the last rotation, whose claim is to be released; null: never rotated. */
  formerKeyHash: string | null;
  credit: Credit;
  creditUsed: Nano;
  chargeAmount: Nano;
  minted: Nano;
  children: number;
  owing: Map<string, Transfer>;
  /** The newest month with charges, by model. */
  month: { key: string; cost: Nano; models: Map<string, Totals> };
  day: { key: string; cost: Nano };
  windows: Windows;
  modelWindows: Map<string, Windows>;
  /** By day, then model; only the days not yet materialised, and the newest. */
  usage: Map<string, Map<string, Totals>>;
  volatile: Volatile;
}

export interface Volatile {
  holds: Map<string, Hold>;
  heldCost: Nano;
  /** No hold expires before this wall ms. */
  nextExpiry: number;
  /** Holds that ended by expiry since the load: zero in health. */
  holdsExpired: number;
  windows: Windows;
  modelWindows: Map<string, Windows>;
  /** Requests given up by their client before any content, by minute and second: a bound on free aborts. */
  aborts: Windows;
  /** Keys of requests charged lately, with their body, the oldest first: see repeats.ts. */
  charged: Map<string, { readonly body: string; readonly at: number }>;
  /** What `materialise` has to write. */
  profileDirty: boolean;
  daysDirty: Set<string>;
}

const freshVolatile = (): Volatile => ({
  holds: new Map(),
  heldCost: ZERO,
  nextExpiry: Number.POSITIVE_INFINITY,
  holdsExpired: 0,
  windows: emptyWindows(),
  modelWindows: new Map(),
  aborts: emptyWindows(),
  charged: new Map(),
  profileDirty: false,
  daysDirty: new Set(),
});

export const emptyAccount = (id: AccountId): Account => ({
  id,
  profile: null,
  version: 0,
  formerKeyHash: null,
  credit: noCredit(),
  creditUsed: ZERO,
  chargeAmount: ZERO,
  minted: ZERO,
  children: 0,
  owing: new Map(),
  month: { key: "", cost: ZERO, models: new Map() },
  day: { key: "", cost: ZERO },
  windows: emptyWindows(),
  modelWindows: new Map(),
  usage: new Map(),
  volatile: freshVolatile(),
});
