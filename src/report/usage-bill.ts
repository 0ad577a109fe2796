// What accounts used between two days, as a bill adds it up: by day, by model, by account. Folds of usage documents and
// of nothing else, money in whole nano-dollars; it knows no shape of an answer. Days, models and accounts without
// requests are not there.

import type { AccountUsage, Store, TotalsField, TotalsQuery, TotalsRow } from "../store/store.ts";

/** Sums of charges. `cost`: nano-dollars. */
export type UsageFigures = Omit<TotalsRow, TotalsField>;

/** Whose usage: groups of accounts that share none. */
export type Whose = readonly TotalsQuery["accounts"][];

/** Days, both included, `YYYY-MM-DD`. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

/** What one account used, and its models that cost and that were asked most; of equal ones the first by name. */
export interface AccountBill {
  readonly id: number;
  /** Deleted ones too; "" for what is not known. */
  readonly who: Who;
  readonly total: UsageFigures;
  readonly topCost: string;
  readonly topRequest: string;
}

/** Who an account of a bill is. */
export interface Who {
  readonly name: string;
  readonly alias: string;
  readonly email: string;
}

export interface Bill {
  /** In order of time; models by name. */
  readonly days: ReadonlyMap<string, ReadonlyMap<string, UsageFigures>>;
  /** By name. */
  readonly models: ReadonlyMap<string, UsageFigures>;
  /** The dearest first, then by id. Empty unless asked for. */
  readonly accounts: readonly AccountBill[];
  readonly total: UsageFigures;
}

export interface BillQuery extends Days {
  readonly whose: Whose;
  /** Tell the accounts apart. */
  readonly perAccount: boolean;
}

const NOTHING: UsageFigures = {
  requests: 0,
  prompt: 0,
  completion: 0,
  cached: 0,
  cacheWrite: 0,
  reasoning: 0,
  cost: 0n,
};

/** The sum of all. */
export const sumOf = (all: Iterable<UsageFigures>): UsageFigures => {
  let sum = NOTHING;
  for (const one of all) sum = added(sum, one);
  return sum;
};

const added = (a: UsageFigures, b: UsageFigures): UsageFigures => ({
  requests: a.requests + b.requests,
  prompt: a.prompt + b.prompt,
  completion: a.completion + b.completion,
  cached: a.cached + b.cached,
  cacheWrite: a.cacheWrite + b.cacheWrite,
  reasoning: a.reasoning + b.reasoning,
  cost: a.cost + b.cost,
});

/** Reads and adds up. Rejects with `StoreBusy` when the store has too much to add up already. */
export async function billOf(store: Store, query: BillQuery, signal?: AbortSignal): Promise<Bill> {
  const { whose, from, to, perAccount } = query;
  if (!perAccount) return fold(await totalsOf(store, whose, { from, to, by: ["day", "model"] }, signal), []);
  const days: (readonly TotalsRow[])[] = [];
  const accounts: (readonly AccountUsage[])[] = [];
  // One after another: of many bills at once each waits in one place only.
  for (const group of whose) {
    const used = await store.usageReport({ accounts: group, from, to, tell: TOLD }, signal);
    days.push(used.days);
    accounts.push(used.accounts);
  }
  return fold(days.flat(), await accountBills(accounts));
}

/** Made in a millisecond or two. */
const PART = 1_000;

/** The loop turns between a few of them. */
async function accountBills(groups: readonly (readonly AccountUsage[])[]): Promise<AccountBill[]> {
  const bills: AccountBill[] = [];
  for (const group of groups) {
    for (let given = 0; given < group.length; given += PART) {
      for (const used of group.slice(given, given + PART)) bills.push(accountBill(used));
      await new Promise(setImmediate);
    }
  }
  // One group is in order already.
  return groups.length === 1 ? bills : bills.sort(byCost);
}

/** Of an account's document, in the order of `whoOf`. */
const TOLD = ["name", "alias", "email"] as const satisfies readonly (keyof Who)[];
const whoOf = ([name = "", alias = "", email = ""]: readonly string[]): Who => ({ name, alias, email });

/** One day's rows, each of one account and model: by account, then model. */
export async function rowsOfDay(
  store: Store,
  whose: Whose,
  day: string,
  signal?: AbortSignal,
): Promise<readonly TotalsRow[]> {
  const rows = await totalsOf(store, whose, { from: day, to: day, by: ["account", "model"] }, signal);
  // Several groups come one after another; in each its models are in order already.
  return rows.sort((a, b) => a.account! - b.account!);
}

/** The days of a span on which anything was used, in order. */
export async function usedDays(
  store: Store,
  whose: Whose,
  { from, to }: Days,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const rows = await totalsOf(store, whose, { from, to, by: ["day"] }, signal);
  return [...new Set(rows.map((row) => row.day!))].sort();
}

async function totalsOf(
  store: Store,
  whose: Whose,
  query: Omit<TotalsQuery, "accounts">,
  signal?: AbortSignal,
): Promise<TotalsRow[]> {
  // No day lies between them: one end of a span is on the other side of yesterday.
  if (query.from > query.to) return [];
  const groups: (readonly TotalsRow[])[] = [];
  for (const accounts of whose) groups.push(await store.usageTotals({ ...query, accounts }, signal));
  return groups.flat();
}

function fold(byDay: readonly TotalsRow[], accounts: readonly AccountBill[]): Bill {
  const days = new Map<string, Map<string, UsageFigures>>();
  const models = new Map<string, UsageFigures>();
  for (const row of byDay) {
    addTo(within(days, row.day!), row.model!, row);
    addTo(models, row.model!, row);
  }
  return {
    days: ordered([...days].map(([day, used]): [string, Map<string, UsageFigures>] => [day, ordered(used)])),
    models: ordered(models),
    accounts,
    total: sumOf(models.values()),
  };
}

const accountBill = ({ account, topCost, topRequest, told, ...total }: AccountUsage): AccountBill => ({
  id: account,
  who: whoOf(told),
  ...{ total, topCost, topRequest },
});

function byCost(a: AccountBill, b: AccountBill): number {
  if (a.total.cost !== b.total.cost) return a.total.cost < b.total.cost ? 1 : -1;
  return a.id - b.id;
}

function within<K>(groups: Map<K, Map<string, UsageFigures>>, key: K): Map<string, UsageFigures> {
  const known = groups.get(key);
  if (known !== undefined) return known;
  const made = new Map<string, UsageFigures>();
  groups.set(key, made);
  return made;
}

function addTo(sums: Map<string, UsageFigures>, key: string, figures: UsageFigures): void {
  sums.set(key, added(sums.get(key) ?? NOTHING, figures));
}

const ordered = <V>(entries: Iterable<readonly [string, V]>): Map<string, V> =>
  new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
