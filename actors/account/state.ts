// The state of an account: profile, credit, spending, windows, and unfinished work with other accounts.
// `volatile` (holds and memories of recent requests) is rebuilt from traffic; everything else is a fold of
// the ledger, which only `evolve` writes.

import { SmallMap } from "../../src/base/small-map.ts";
import type { NamedKeys } from "../api-key/named-keys.ts";
import { type Credit, noCredit } from "../credit.ts";
import type { AccountId, ApiKeyId } from "../ids.ts";
import { type Nano, ZERO } from "../money.ts";
import { emptyWindows, type RateWindows } from "../rate-window.ts";
import type { ChargeTotals } from "./charge-totals.ts";
import { compactList, NO_LIST } from "./compact-profile.ts";
import type { EndedRequests } from "./ended-requests.ts";
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

/** A volatile reservation of a running request: cost (nano-dollars), one request, and tokens. */
export interface Hold {
  readonly id: string;
  readonly model: string;
  /** The API key that asked; its caps count the hold too. */
  readonly apiKey: ApiKeyId;
  readonly idempotency: Idempotency | null;
  /**
   * Name of the node that runs the request, from its latest command; the hold ends when that node is dead.
   */
  holder: string;
  /** The ledger's windows already count the request: see `countedFlagFor`. */
  readonly counted?: true;
  cost: Nano;
  tokens: number;
  readonly admittedAt: number;
  /**
   * Wall-clock ms at which it was taken for `model`; later than `admittedAt` if another model was tried
   * before.
   */
  readonly takenAt: number;
  /** Wall-clock ms of its expiry; extended while the request runs. */
  expiresAt: number;
}

/** State of an account actor. */
export interface Account {
  readonly id: AccountId;
  /** Null until the account is created. */
  profile: Profile | null;
  /** The account can never be created; see creation.ts. */
  forgone: boolean;
  /** Grows with every change of the profile; a route computed from an older version is refused. */
  version: number;
  /**
   * Hash of the key before the last rotation, whose claim is to be released; null if it was never rotated.
   */
  formerKeyHash: string | null;
  /** The keys beside the main key; null until the first one is made. */
  apiKeys: NamedKeys | null;
  credit: Credit;
  creditUsed: Nano;
  chargeAmount: Nano;
  minted: Nano;
  children: number;
  /** Pending outgoing transfers, oldest first. */
  owing: readonly Transfer[];
  /** Ids of incoming transfers that were refused for a reason that may pass, oldest first. */
  declined: readonly string[];
  /** Null while the account is open. */
  closing: Closing | null;
  move: AccountMove | null;
  /** Pending notices to former parents. */
  leaving: readonly ChildRemoval[];
  quota: QuotaRequest;
  /** At most one alert of a month, oldest first; a sent one is kept until its document is written and a later one is there. */
  alerts: readonly SoftLimitAlert[];
  /** The newest month with charges, by model. */
  month: { key: string; cost: Nano; models: SmallMap<string, ChargeTotals> };
  day: { key: string; cost: Nano };
  windows: RateWindows;
  modelWindows: SmallMap<string, RateWindows>;
  /** Charges by day, then model; only days that are not yet materialized, and the newest day. */
  usage: SmallMap<string, SmallMap<string, ChargeTotals>>;
  volatile: Volatile;
}

/** The open holds of one named key: their number and cost, and what they count in its windows. */
export interface KeyHolds {
  count: number;
  cost: Nano;
  readonly windows: RateWindows;
}

/** What the open holds count in the windows of the account, and in those of each model. */
export interface HeldWindows {
  readonly account: RateWindows;
  readonly models: SmallMap<string, RateWindows>;
}

/** State that is lost with the activation. */
export interface Volatile {
  holds: SmallMap<string, Hold>;
  heldCost: Nano;
  /** The holds of named keys that have any; null until one has, and when no hold is open. */
  keyHolds: SmallMap<ApiKeyId, KeyHolds> | null;
  /** No hold expires before this time (wall-clock ms). */
  nextExpiry: number;
  /** Holds that expired since the activation was loaded; zero in normal operation. */
  holdsExpired: number;
  /** Null until a limit asks, and when no hold is open: see held-windows.ts. */
  heldWindows: HeldWindows | null;
  /** Requests that their client aborted before any content, to bound free aborts; null until there is one. */
  aborts: RateWindows | null;
  /** Null until a request has to be remembered: see `rememberEnded`. */
  ended: EndedRequests | null;
  /** Requests whose orphaned holds were released, oldest first; null until there is one: see orphaned-holds.ts. */
  abandoned: Set<string> | null;
  /** Recently charged requests by Idempotency-Key, oldest first; null while there are none: see `rememberCharged`. */
  charged: SmallMap<string, { readonly id: string; readonly body: string; readonly at: number }> | null;
  /** DNA of the days of `usage` that ended before a move and are not materialized yet; null until there is one. */
  formerDna: SmallMap<string, string> | null;
  /** What `materialize` must write next; also the two fields below. */
  profileDirty: boolean;
  /** Days of `usage`, each once. */
  daysDirty: readonly string[];
  /** Months of `alerts`, each once. */
  alertsDirty: readonly string[];
}

/** Returns the volatile state of an activation that has decided nothing. */
export const freshVolatile = (): Volatile => ({
  holds: new SmallMap(),
  heldCost: ZERO,
  keyHolds: null,
  nextExpiry: Number.POSITIVE_INFINITY,
  holdsExpired: 0,
  heldWindows: null,
  aborts: null,
  ended: null,
  abandoned: null,
  charged: null,
  formerDna: null,
  profileDirty: false,
  daysDirty: NO_LIST,
  alertsDirty: NO_LIST,
});

/** Returns the state of an account that does not exist yet. */
export const emptyAccount = (id: AccountId): Account => ({
  id,
  profile: null,
  forgone: false,
  version: 0,
  formerKeyHash: null,
  apiKeys: null,
  credit: noCredit(),
  creditUsed: ZERO,
  chargeAmount: ZERO,
  minted: ZERO,
  children: 0,
  owing: NO_LIST,
  declined: NO_LIST,
  closing: null,
  move: null,
  leaving: NO_LIST,
  quota: NO_QUOTA_REQUEST,
  alerts: NO_LIST,
  month: { key: "", cost: ZERO, models: new SmallMap() },
  day: { key: "", cost: ZERO },
  windows: emptyWindows(),
  modelWindows: new SmallMap(),
  usage: new SmallMap(),
  volatile: freshVolatile(),
});

/** Returns the list with `item`, which is added unless it is there. */
export const including = (list: readonly string[], item: string): readonly string[] =>
  list.includes(item) ? list : [...list, item];

/** Returns the list without the entry of this id. */
export const without = <T extends { readonly id: string }>(list: readonly T[], id: string): readonly T[] =>
  compactList(list.filter((one) => one.id !== id));

/** Returns the lifecycle stage of an account. */
export const stageOf = (state: Account): LifecycleStage => state.closing?.stage ?? "open";

/** Returns the profile of an open account, or null if it does not exist, is closing or is closed. */
export const openProfile = (state: Account): Profile | null =>
  state.closing === null ? state.profile : null;
