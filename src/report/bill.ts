// What accounts used between two days, as a bill adds it up: by day, by model, by account. Folds of usage documents and
// of nothing else, money in whole nano-dollars; it knows no shape of an answer. Days, models and accounts without
// requests are not there.

import { DAY_MS, dayOf } from "../../actors/time.ts";
import type { Store, TotalsField, TotalsQuery, TotalsRow } from "../store/store.ts";

/** Sums of charges. `cost`: nano-dollars. */
export type Figures = Omit<TotalsRow, TotalsField>;

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
  readonly total: Figures;
  readonly topCost: string;
  readonly topRequest: string;
}

export interface Bill {
  /** In order of time; models by name. */
  readonly days: ReadonlyMap<string, ReadonlyMap<string, Figures>>;
  /** By name. */
  readonly models: ReadonlyMap<string, Figures>;
  /** The dearest first, then by id. Empty unless asked for. */
  readonly accounts: readonly AccountBill[];
  readonly total: Figures;
}

export interface BillQuery extends Days {
  readonly whose: Whose;
  /** Tell the accounts apart. */
  readonly perAccount: boolean;
  /** Wall ms. */
  readonly now: number;
}

const NOTHING: Figures = {
  requests: 0,
  prompt: 0,
  completion: 0,
  cached: 0,
  cacheWrite: 0,
  reasoning: 0,
  cost: 0n,
};

/** The sum of all. */
export const sumOf = (all: Iterable<Figures>): Figures => {
  let sum = NOTHING;
  for (const one of all) sum = added(sum, one);
  return sum;
};

const added = (a: Figures, b: Figures): Figures => ({
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
  const { whose, from, to, perAccount, now } = query;
  const ask = (days: Days, by: readonly TotalsField[]) => totalsOf(store, whose, { ...days, by }, signal);
  if (!perAccount) return fold(await ask({ from, to }, ["day", "model"]), []);
  // What still changes is read once, so that days and accounts are of one moment. Days before yesterday are over: no
  // document of theirs is written any more, and they are summed in the store.
  const yesterday = dayOf(now - DAY_MS);
  const older = { from, to: earlier(to, dayOf(now - 2 * DAY_MS)) };
  const newer = { from: later(from, yesterday), to };
  // One after another: of many bills at once each waits in one place only.
  const byDay = await ask(older, ["day", "model"]);
  const byAccount = await ask(older, ["account", "model"]);
  const all = await ask(newer, ["day", "account", "model"]);
  return fold(byDay.concat(all), byAccount.concat(all));
}

const earlier = (a: string, b: string): string => (b < a ? b : a);
const later = (a: string, b: string): string => (b > a ? b : a);

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
  for (const accounts of whose) groups.push(await store.totals({ ...query, accounts }, signal));
  return groups.flat();
}

function fold(byDay: readonly TotalsRow[], byAccount: readonly TotalsRow[]): Bill {
  const days = new Map<string, Map<string, Figures>>();
  const models = new Map<string, Figures>();
  for (const row of byDay) {
    addTo(within(days, row.day!), row.model!, row);
    addTo(models, row.model!, row);
  }
  const accounts = new Map<number, Map<string, Figures>>();
  for (const row of byAccount) addTo(within(accounts, row.account!), row.model!, row);
  return {
    days: ordered([...days].map(([day, used]): [string, Map<string, Figures>] => [day, ordered(used)])),
    models: ordered(models),
    accounts: [...accounts].map(([id, used]) => accountBill(id, ordered(used))).sort(byCost),
    total: sumOf(models.values()),
  };
}

function accountBill(id: number, models: ReadonlyMap<string, Figures>): AccountBill {
  return {
    id,
    total: sumOf(models.values()),
    topCost: top(models, (figures) => figures.cost),
    topRequest: top(models, (figures) => figures.requests),
  };
}

function top(models: ReadonlyMap<string, Figures>, of: (figures: Figures) => bigint | number): string {
  let best: readonly [string, Figures] | null = null;
  for (const one of models) if (best === null || of(one[1]) > of(best[1])) best = one;
  return best?.[0] ?? "";
}

function byCost(a: AccountBill, b: AccountBill): number {
  if (a.total.cost !== b.total.cost) return a.total.cost < b.total.cost ? 1 : -1;
  return a.id - b.id;
}

function within<K>(groups: Map<K, Map<string, Figures>>, key: K): Map<string, Figures> {
  const known = groups.get(key);
  if (known !== undefined) return known;
  const made = new Map<string, Figures>();
  groups.set(key, made);
  return made;
}

function addTo(sums: Map<string, Figures>, key: string, figures: Figures): void {
  sums.set(key, added(sums.get(key) ?? NOTHING, figures));
}

const ordered = <V>(entries: Iterable<readonly [string, V]>): Map<string, V> =>
  new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
