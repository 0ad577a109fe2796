// Sums the usage of accounts between two days for a bill: by day, by model, by account. It reads usage
// documents only, sums money in whole nano-dollars, and knows nothing of response formats. Days, models and
// accounts without requests are absent.

import type {
  AccountUsage,
  Store,
  TotalsQuery,
  TotalsRow,
  UsageGrouping,
  UsageSums,
} from "../store/store.ts";
import { hourPeriod } from "../store/usage/charge-rows.ts";
import { JoinedGroups, type ReportGroups } from "../store/usage/usage-groups.ts";
import { hoursOf } from "../store/usage/usage-report.ts";

/** Sums of charges; `cost` is in nano-dollars. */
export type UsageFigures = UsageSums;

/** The accounts of a bill, as groups without common members. */
export type Whose = readonly TotalsQuery["accounts"][];

/** A span of days, both ends included, as `YYYY-MM-DD` (UTC). */
export interface Days {
  readonly from: string;
  readonly to: string;
}

/**
 * The usage of one account, and its models with the highest cost and the most requests; ties go to the first
 * by name.
 */
export interface AccountBill {
  readonly id: number;
  /** Also known for deleted accounts; unknown fields are "". */
  readonly who: Who;
  readonly total: UsageFigures;
  readonly topCost: string;
  readonly topRequest: string;
}

/** Name and contact of an account of a bill. */
export interface Who {
  readonly name: string;
  readonly alias: string;
  readonly email: string;
}

/** The sums of a bill. */
export interface Bill {
  /** By day in order of time; models by name. */
  readonly days: ReadonlyMap<string, ReadonlyMap<string, UsageFigures>>;
  /** By name. */
  readonly models: ReadonlyMap<string, UsageFigures>;
  readonly total: UsageFigures;
}

/** A bill with what each of its accounts used. */
export interface AccountsBill extends Bill {
  /** Some at a time, ordered by cost, highest first, then by id. They can be read once; reading may reject. */
  readonly accounts: AsyncIterable<readonly AccountBill[]>;
}

/** A bill by groups, all figures of which are as of the same commit of each account. */
export interface GroupedBill extends AccountsBill, ReportGroups {}

/** What a bill covers. */
export interface BillQuery extends Days {
  readonly whose: Whose;
}

/** Hours of a bill, by a moment in the first and one in the last of them, wall-clock milliseconds. */
export interface HourRange {
  readonly first: number;
  readonly last: number;
}

/** What a bill by groups covers; of a bill by hours, those hours alone. */
export interface GroupedBillQuery extends BillQuery {
  readonly grouping: UsageGrouping;
  readonly hours: HourRange | null;
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

/** Adds up figures. */
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

/** Computes a bill. Rejects with `StoreBusyError` when the store has too many sums to compute already. */
export async function billOf(store: Store, query: BillQuery, signal?: AbortSignal): Promise<Bill> {
  const { whose, from, to } = query;
  return fold(await totalsOf(store, whose, { from, to, by: ["day", "model"] }, signal));
}

/**
 * Computes a bill with its accounts. It resolves when the sums are known; the accounts of a tree are read
 * meanwhile. Rejects as `billOf` does.
 */
export async function accountsBillOf(
  store: Store,
  { whose, from, to }: BillQuery,
  signal?: AbortSignal,
): Promise<AccountsBill> {
  const reportOf = (accounts: TotalsQuery["accounts"]) =>
    store.usageReport({ accounts, from, to, accountFields: ACCOUNT_FIELDS }, signal);
  if (whose.length === 1) {
    const { days, accounts } = await reportOf(whose[0]!);
    return { ...fold(days), accounts: accountBills(accounts) };
  }
  const days: TotalsRow[] = [];
  const bills: AccountBill[] = [];
  // Sequential, so that each of many concurrent bills waits for one query only.
  for (const group of whose) {
    const used = await reportOf(group);
    days.push(...used.days);
    for await (const some of accountBills(used.accounts)) bills.push(...some);
  }
  return { ...fold(days), accounts: inParts(bills.sort(byCost)) };
}

/** Computes a bill by groups. It resolves and rejects as `accountsBillOf` does. */
export async function groupedBillOf(
  store: Store,
  { whose, from, to, grouping, hours: range }: GroupedBillQuery,
  signal?: AbortSignal,
): Promise<GroupedBill> {
  const hours = range === null ? null : { from: hourPeriod(range.first), to: hourPeriod(range.last) };
  const days: TotalsRow[] = [];
  const bills: AccountBill[] = [];
  const groups = new JoinedGroups(hours === null ? [] : hoursOf(hours));
  for (const accounts of whose) {
    const asked = { accounts, from, to, accountFields: ACCOUNT_FIELDS, grouping };
    const used = await store.usageReport(hours === null ? asked : { ...asked, hours }, signal);
    if (whose.length === 1) {
      const { days: byDay, accounts: all, ...rest } = used;
      return { ...fold(byDay), ...rest, accounts: accountBills(all) };
    }
    days.push(...used.days);
    groups.add(used);
    for await (const some of accountBills(used.accounts)) bills.push(...some);
  }
  return { ...fold(days), ...groups.groups(), accounts: inParts(bills.sort(byCost)) };
}

/** Accounts per part, which take a millisecond or two. */
const PART = 250;

async function* inParts(bills: readonly AccountBill[]): AsyncGenerator<readonly AccountBill[]> {
  for (let from = 0; from < bills.length; from += PART) yield bills.slice(from, from + PART);
}

async function* accountBills(
  accounts: AsyncIterable<readonly AccountUsage[]>,
): AsyncGenerator<readonly AccountBill[]> {
  for await (const some of accounts) yield some.map(accountBill);
}

/** Fields of an account's document, in the order that `whoOf` expects. */
const ACCOUNT_FIELDS = ["name", "alias", "email"] as const satisfies readonly (keyof Who)[];
const whoOf = ([name = "", alias = "", email = ""]: readonly string[]): Who => ({ name, alias, email });

/** Returns the sums of one day by account and model, ordered by account id, then model. */
export async function rowsOfDay(
  store: Store,
  whose: Whose,
  day: string,
  signal?: AbortSignal,
): Promise<readonly TotalsRow[]> {
  const rows = await totalsOf(store, whose, { from: day, to: day, by: ["account", "model"] }, signal);
  // The groups are concatenated; within an account the models are already ordered.
  return rows.sort((a, b) => a.account! - b.account!);
}

/** Returns the days of a span with any usage, in order. */
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
  // A span whose ends a caller has bounded may contain no day.
  if (query.from > query.to) return [];
  const groups: (readonly TotalsRow[])[] = [];
  for (const accounts of whose) groups.push(await store.usageTotals({ ...query, accounts }, signal));
  return groups.flat();
}

function fold(byDay: readonly TotalsRow[]): Bill {
  const days = new Map<string, Map<string, UsageFigures>>();
  const models = new Map<string, UsageFigures>();
  for (const row of byDay) {
    addTo(within(days, row.day!), row.model!, row);
    addTo(models, row.model!, row);
  }
  return {
    days: ordered([...days].map(([day, used]): [string, Map<string, UsageFigures>] => [day, ordered(used)])),
    models: ordered(models),
    total: sumOf(models.values()),
  };
}

const accountBill = ({ account, total, topCost, topRequest, fieldValues }: AccountUsage): AccountBill => ({
  id: account,
  who: whoOf(fieldValues),
  total,
  topCost,
  topRequest,
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
