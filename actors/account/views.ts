// Views of an account: its record, its publications, the documents that lists and bills read, and its
// snapshot form. Everything is derived from the state; durable state must not change here, except that
// materialized days and sent mails are dropped.

import { SmallMap } from "../../src/base/small-map.ts";
import type { Document, Publication } from "../../src/runtime/actor.ts";
import { type FrozenNamedKeys, NamedKeys } from "../api-key/named-keys.ts";
import { balanceAt, bookBalance, nextExpiry } from "../credit.ts";
import type { AccountId } from "../ids.ts";
import type { Nano } from "../money.ts";
import { type FrozenWindows, freezeWindows, thawWindows } from "../rate-window.ts";
import { dayOf, monthOf } from "../time.ts";
import type { ChargeTotals } from "./charge-totals.ts";
import { compactList, compactProfile, NO_LIST } from "./compact-profile.ts";
import { spentInMonth, spentOnDay } from "./evolve.ts";
import type {
  AccountMove,
  ChildRemoval,
  Closing,
  LifecycleStage,
  QuotaRequest,
  SoftLimitAlert,
} from "./lifecycle.ts";
import { alertDocuments } from "./soft-limit-alert.ts";
import { type Account, emptyAccount, isOwner, type Profile, stageOf, type Transfer } from "./state.ts";

/** An account as management endpoints see it, without rate windows. Amounts are nano-dollars. */
export interface AccountRecord {
  readonly profile: Profile;
  readonly version: number;
  readonly isOwner: boolean;
  readonly balance: Nano;
  readonly held: Nano;
  readonly creditUsed: Nano;
  readonly chargeAmount: Nano;
  readonly credits: readonly { readonly amount: Nano; readonly expiresAt: number }[];
  readonly children: number;
  readonly today: Readonly<Record<string, ChargeTotals>>;
  readonly month: Readonly<Record<string, ChargeTotals>>;
  readonly spentToday: Nano;
  readonly spentThisMonth: Nano;
}

/** Returns the record of an account at `now` (wall-clock ms), or null if it does not exist. */
export function record(state: Account, now: number): AccountRecord | null {
  if (state.profile === null) return null;
  const today = state.usage.get(dayOf(now));
  return {
    profile: state.profile,
    version: state.version,
    isOwner: isOwner(state.profile),
    balance: balanceAt(state.credit, state.volatile, now),
    held: state.volatile.heldCost,
    creditUsed: state.creditUsed,
    chargeAmount: state.chargeAmount,
    credits: state.credit.entries.filter((entry) => entry.expiresAt > now),
    children: state.children,
    today: today === undefined ? {} : copied(today),
    month: state.month.key === monthOf(now) ? copied(state.month.models) : {},
    spentToday: spentOnDay(state, now),
    spentThisMonth: spentInMonth(state, now),
  };
}

/**
 * Publication body by which nodes route. `closing` means that keys of the account and all below it are
 * invalid.
 */
export interface AccountChanged {
  readonly profile: Profile;
  readonly version: number;
  readonly closing: boolean;
}

/** Bus topic of `AccountChanged`; `>` subscribes to all accounts. */
export const accountTopic = (id: AccountId | ">"): string => `account.${id}`;

/**
 * Returns the publication of a changed profile, after which nodes recompute the routes of the account and all
 * below.
 */
export const accountChanged = (
  state: Account,
  profile: Profile,
  closing = state.closing !== null,
): Publication<AccountChanged> => ({
  topic: accountTopic(state.id),
  body: { profile, version: state.version + 1, closing },
});

/**
 * Returns the documents that changed since the last call: days of usage, alerts, and the account. Drops all
 * days but the newest and what `alertDocuments` drops from the state, and clears the lists of changes.
 */
export function materialize(state: Account): Document[] {
  const { profile, volatile } = state;
  if (profile === null) return [];
  const documents: Document[] = [];
  for (const day of volatile.daysDirty) {
    const models = state.usage.get(day);
    if (models === undefined) continue;
    documents.push({
      table: "usage",
      id: `${state.id}/${day}`,
      body: {
        account: state.id,
        dna: volatile.formerDna?.get(day) ?? profile.dna,
        day,
        models: copied(models),
      },
    });
  }
  const newest = [...state.usage.keys()].sort().at(-1);
  for (const day of state.usage.keys()) if (day !== newest) state.usage.delete(day);
  volatile.daysDirty = NO_LIST;
  volatile.formerDna = null;
  documents.push(...alertDocuments(state, profile));
  // The account's document is written last, so that everything it sums up is already there.
  if (volatile.profileDirty) documents.push(accountDocument(state, profile));
  volatile.profileDirty = false;
  return documents;
}

/**
 * Returns whether lists and bills alone show what changed. An alert is sent by who finds its document, and so is not to wait for
 * somebody who reads a list.
 */
export const mayTrail = ({ volatile }: Account): boolean => volatile.alertsDirty.length === 0;

const copied = (models: SmallMap<string, ChargeTotals>): Record<string, ChargeTotals> =>
  Object.fromEntries(copiedRows(models));

/** The field `closed` by which lists filter: 0 is open, 1 closing, 2 closed. */
const CLOSED = { open: 0, closing: 1, emptied: 1, closed: 2 } as const satisfies Record<
  LifecycleStage,
  number
>;

function accountDocument(state: Account, profile: Profile): Document {
  const { keyHash: _, ...shown } = profile;
  return {
    table: "accounts",
    id: String(state.id),
    body: {
      ...shown,
      nameLower: profile.name.toLowerCase(),
      closed: CLOSED[stageOf(state)],
      dueAt: dueAt(state),
      creditExpiresAt: nextExpiry(state.credit),
      activeDay: state.day.key || dayOf(profile.createdAt),
      ...nearLimits(state, profile),
      balance: bookBalance(state.credit),
      entries: [...state.credit.entries],
      creditUsed: state.creditUsed,
      chargeAmount: state.chargeAmount,
      children: state.children,
      month: state.month.key,
      monthCost: state.month.cost,
    },
  };
}

/**
 * Returns when the sweep has to look at the account: the expiry of credit, or the end of a secret. The claims of an emptied
 * account's secrets are released by its deletion, and it has nothing left that could expire.
 */
function dueAt(state: Account): number | null {
  const expiry = nextExpiry(state.credit);
  const isEmptied = stageOf(state) === "emptied" || stageOf(state) === "closed";
  const death = isEmptied ? null : (state.apiKeys?.nextDeathAt ?? null);
  return expiry === null || death === null ? (expiry ?? death) : Math.min(expiry, death);
}

/** A limit is near from 90 % of it on (contract section 8, `/x-attention`). */
const isNear = (cost: Nano, limit: Nano): boolean => limit > 0 && cost >= limit - Math.floor(limit / 10);

/** The month and the day whose cost is near its limit, with that cost; absent where it is not. */
function nearLimits({ month, day }: Account, { hardLimit, dailyLimit }: Profile) {
  return {
    ...(isNear(month.cost, hardLimit) && { nearMonth: month.key, monthCost: month.cost }),
    ...(isNear(day.cost, dailyLimit) && { nearDay: day.key, dayCost: day.cost }),
  };
}

interface Frozen {
  readonly profile: Profile | null;
  readonly forgone?: true;
  readonly version: number;
  readonly formerKeyHash: string | null;
  readonly apiKeys?: FrozenNamedKeys;
  readonly credit: Account["credit"];
  readonly creditUsed: Nano;
  readonly chargeAmount: Nano;
  readonly minted: Nano;
  readonly children: number;
  readonly owing: readonly Transfer[];
  readonly declined?: readonly string[];
  readonly closing: Closing | null;
  readonly move: AccountMove | null;
  readonly leaving: readonly ChildRemoval[];
  readonly quota: QuotaRequest;
  readonly alerts: readonly SoftLimitAlert[];
  readonly month: { key: string; cost: Nano; models: [string, ChargeTotals][] };
  readonly day: Account["day"];
  readonly windows: FrozenWindows;
  readonly modelWindows: readonly [string, FrozenWindows][];
  readonly usage: readonly [string, [string, ChargeTotals][]][];
}

/**
 * Returns the durable state as plain data that later changes of `state` do not touch. It copies what is changed in
 * place, and shares what is only ever replaced, such as the profile: a clone of everything takes fifty times as long.
 */
export function freeze(state: Account): Frozen {
  return {
    profile: state.profile,
    ...(state.forgone && { forgone: true as const }),
    version: state.version,
    formerKeyHash: state.formerKeyHash,
    ...(state.apiKeys !== null && { apiKeys: state.apiKeys.freeze() }),
    credit: copiedCredit(state.credit),
    creditUsed: state.creditUsed,
    chargeAmount: state.chargeAmount,
    minted: state.minted,
    children: state.children,
    owing: state.owing,
    ...(state.declined.length > 0 && { declined: state.declined }),
    closing: state.closing,
    move: state.move,
    leaving: state.leaving,
    quota: state.quota,
    alerts: state.alerts,
    month: { ...state.month, models: copiedRows(state.month.models) },
    day: state.day,
    windows: freezeWindows(state.windows),
    modelWindows: [...state.modelWindows].map(([model, windows]): [string, FrozenWindows] => [
      model,
      freezeWindows(windows),
    ]),
    usage: [...state.usage].map(([day, models]): [string, [string, ChargeTotals][]] => [
      day,
      copiedRows(models),
    ]),
  };
}

/**
 * Restores an account from what `freeze` returned, also in an older form; the volatile state is empty. What was
 * frozen stays as it is.
 */
export function thaw(id: string, frozen: unknown): Account {
  const from = frozen as Frozen;
  return {
    ...emptyAccount(Number(id) as AccountId),
    profile: from.profile === null ? null : compactProfile(from.profile),
    forgone: from.forgone ?? false,
    version: from.version,
    formerKeyHash: from.formerKeyHash ?? null,
    apiKeys: from.apiKeys === undefined ? null : NamedKeys.thaw(from.apiKeys),
    credit: copiedCredit(from.credit),
    creditUsed: from.creditUsed,
    chargeAmount: from.chargeAmount,
    minted: from.minted,
    children: from.children,
    owing: compactList(from.owing),
    declined: from.declined ?? NO_LIST,
    closing: from.closing,
    move: from.move,
    leaving: compactList(from.leaving),
    quota: from.quota,
    alerts: compactList(from.alerts),
    month: { ...from.month, models: SmallMap.of(copiedRows(from.month.models)) },
    day: from.day,
    windows: thawWindows(from.windows),
    modelWindows: SmallMap.of(from.modelWindows.map(([model, windows]) => [model, thawWindows(windows)])),
    usage: SmallMap.of(from.usage.map(([day, models]) => [day, SmallMap.of(copiedRows(models))])),
  };
}

const copiedCredit = ({ entries, owed }: Account["credit"]): Account["credit"] => ({
  entries: [...entries],
  owed,
});

const copiedRows = (models: Iterable<readonly [string, ChargeTotals]>): [string, ChargeTotals][] => {
  const rows: [string, ChargeTotals][] = [];
  for (const [model, totals] of models) rows.push([model, { ...totals }]);
  return rows;
};
