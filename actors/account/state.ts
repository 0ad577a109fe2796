// What an account is: its profile, its credit, what it spent, its windows, its unfinished affairs with other accounts.
// The volatile half (holds) is rebuilt from traffic; everything else is a fold of the ledger.

import { type Credit, noCredit } from "../credit.ts";
import type { AccountId } from "../ids.ts";
import { type Nano, ZERO } from "../money.ts";
import { emptyWindows, type RateWindows } from "../rate-window.ts";
import type { ChargeTotals } from "./charge-totals.ts";
import type { Transfer } from "./events.ts";
import {
  type AccountMove,
  type ChildRemoval,
  type Closing,
  type LifecycleStage,
  NO_QUOTA_REQUEST,
  type QuotaRequest,
  type SoftLimitAlert,
} from "./lifecycle.ts";
import type { Idempotency, Profile } from "./types.ts";

export type { AccountEvent, Expire, Transfer } from "./events.ts";
export type { AttemptRow, ChargeFacts, Idempotency, MapStamps, Profile, ProfileChange } from "./types.ts";
export { isOwner, isRoot } from "./types.ts";

/** A reservation before the call: cost against balance and limits, requests and tokens in the windows. */
export interface Hold {
  readonly id: string;
  readonly model: string;
  readonly idempotency: Idempotency | null;
  /** The front end that runs it, by its newest word: the hold ends with it. */
  holder: string;
  /** Its request stands in the ledger's windows already: see orphaned-holds.ts. */
  readonly counted?: true;
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
  /** Nobody is ever created here. */
  forgone: boolean;
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
  /** Transfers that were refused for what may be otherwise later, the oldest first. */
  declined: readonly string[];
  /** null: open. */
  closing: Closing | null;
  move: AccountMove | null;
  /** Former parents, by the id of the notice that each is owed. */
  leaving: Map<string, ChildRemoval>;
  quota: QuotaRequest;
  /** By month; those sent are kept while they are the newest. */
  alerts: Map<string, SoftLimitAlert>;
  /** The newest month with charges, by model. */
  month: { key: string; cost: Nano; models: Map<string, ChargeTotals> };
  day: { key: string; cost: Nano };
  windows: RateWindows;
  modelWindows: Map<string, RateWindows>;
  /** By day, then model; only the days not yet materialised, and the newest. */
  usage: Map<string, Map<string, ChargeTotals>>;
  volatile: Volatile;
}

export interface Volatile {
  holds: Map<string, Hold>;
  heldCost: Nano;
  /** No hold expires before this wall ms. */
  nextExpiry: number;
  /** Holds that ended by expiry since the load: zero in health. */
  holdsExpired: number;
  windows: RateWindows;
  modelWindows: Map<string, RateWindows>;
  /** Requests given up by their client before any content, by minute and second: a bound on free aborts. */
  aborts: RateWindows;
  /** Requests that ended here lately, the oldest first: see holds.ts. */
  ended: Map<string, number>;
  /** Requests whose front end is over, the oldest first: see orphaned-holds.ts. */
  abandoned: Set<string>;
  /** Keys of requests charged lately, with request and body, the oldest first: see idempotency.ts. */
  charged: Map<string, { readonly id: string; readonly body: string; readonly at: number }>;
  /** What `materialize` has to write. */
  profileDirty: boolean;
  daysDirty: Set<string>;
  alertsDirty: Set<string>;
}

const freshVolatile = (): Volatile => ({
  holds: new Map(),
  heldCost: ZERO,
  nextExpiry: Number.POSITIVE_INFINITY,
  holdsExpired: 0,
  windows: emptyWindows(),
  modelWindows: new Map(),
  aborts: emptyWindows(),
  ended: new Map(),
  abandoned: new Set(),
  charged: new Map(),
  profileDirty: false,
  daysDirty: new Set(),
  alertsDirty: new Set(),
});

export const emptyAccount = (id: AccountId): Account => ({
  id,
  profile: null,
  forgone: false,
  version: 0,
  formerKeyHash: null,
  credit: noCredit(),
  creditUsed: ZERO,
  chargeAmount: ZERO,
  minted: ZERO,
  children: 0,
  owing: new Map(),
  declined: [],
  closing: null,
  move: null,
  leaving: new Map(),
  quota: NO_QUOTA_REQUEST,
  alerts: new Map(),
  month: { key: "", cost: ZERO, models: new Map() },
  day: { key: "", cost: ZERO },
  windows: emptyWindows(),
  modelWindows: new Map(),
  usage: new Map(),
  volatile: freshVolatile(),
});

export const stageOf = (state: Account): LifecycleStage => state.closing?.stage ?? "open";

/** The profile of an account that is open; null for nobody's, and for one that is closing or gone. */
export const openProfile = (state: Account): Profile | null =>
  state.closing === null ? state.profile : null;
