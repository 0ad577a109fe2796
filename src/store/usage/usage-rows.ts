// The rows that sums of usage are made of: a usage document as one row per model, and the checked query that
// adds them up. `summed` defines the meaning of a query, which the SQL must reproduce. Nothing here is
// stored.

import assert from "node:assert/strict";
import { compareText } from "../indexed-fields.ts";
import type { StoredDocument, TotalsField, TotalsQuery, TotalsRow, UsageSums } from "../store.ts";
import { StoredRow, StoredRowError } from "../stored-rows.ts";

/** The figures of charges that bills sum, named as in usage documents. */
export const SUMS = [
  "requests",
  "prompt",
  "completion",
  "cached",
  "cacheWrite",
  "reasoning",
  "cost",
] as const;

/** The usage of one model by an account on one day. `sums` are in the order of SUMS. */
export interface UsageRow {
  readonly day: string;
  readonly dna: string;
  readonly account: number;
  readonly model: string;
  readonly sums: readonly number[];
}

/** The rows of a usage document; empty when it names no models. Throws when a sum is not a safe integer. */
export function usageRows({ body }: Pick<StoredDocument, "body">): UsageRow[] {
  const { account, dna, day, models } = body;
  if (typeof models !== "object" || models === null) return [];
  assert(
    typeof account === "number" && typeof dna === "string" && typeof day === "string",
    "a usage document names its account, DNA and day",
  );
  return Object.entries(models as Readonly<Record<string, Partial<Record<string, unknown>>>>).map(
    ([model, totals]) => ({
      day,
      dna,
      account,
      model: model.toWellFormed(),
      sums: SUMS.map((sum) => exact(totals[sum] ?? 0)),
    }),
  );
}

function exact(sum: unknown): number {
  assert(Number.isSafeInteger(sum), `usage sums are exact integers, not ${String(sum)}`);
  return sum as number;
}

const ACCOUNTS_MAX = 1_000;
const FIELDS: readonly TotalsField[] = ["day", "model", "account"];
const DAY = /^\d{4}-\d\d-\d\d$/;

/** Throws when the query is not one that a store may run. */
export function checkTotals({ accounts, from, to, by }: TotalsQuery): void {
  assert(DAY.test(from) && DAY.test(to), "days are YYYY-MM-DD");
  assert(
    by.every((field) => FIELDS.includes(field)),
    "totals are by day, model and account",
  );
  assert(new Set(by).size === by.length, "totals are by each field once");
  if ("dna" in accounts) {
    assert(typeof accounts.dna === "string", "a DNA is text");
    return;
  }
  assert(accounts.ids.length <= ACCOUNTS_MAX, `totals are of at most ${ACCOUNTS_MAX} accounts by id`);
  assert(accounts.ids.every(Number.isSafeInteger), "accounts are integers");
}

/** Whether this usage belongs to the accounts and days of the query. */
export const isAsked = (
  { accounts, from, to }: Pick<TotalsQuery, "accounts" | "from" | "to">,
  { account, dna, day }: UsageRow,
): boolean =>
  day >= from &&
  day <= to &&
  ("dna" in accounts ? dna.startsWith(accounts.dna) : accounts.ids.includes(account));

/** The sums of these rows, grouped and ordered as the query says. Throws as `checkTotals` does. */
export function summed(query: TotalsQuery, rows: Iterable<UsageRow>): TotalsRow[] {
  checkTotals(query);
  const { by } = query;
  const sums = new Map<string, { readonly row: UsageRow; readonly totals: bigint[] }>();
  for (const row of rows) {
    if (!isAsked(query, row)) continue;
    const key = JSON.stringify(by.map((field) => row[field]));
    const { totals } = sums.get(key) ?? { totals: SUMS.map(() => 0n) };
    sums.set(key, { row, totals: totals.map((sum, i) => sum + BigInt(row.sums[i]!)) });
  }
  return [...sums.values()]
    .sort((a, b) => by.reduce((sign, field) => sign || compareBy(field, a.row, b.row), 0))
    .map(({ row, totals }) => totalsRow(by, [...by.map((field) => row[field]), ...totals]));
}

/** A value of a row on its way from the store. A sum that may exceed the safe integers is passed as text. */
export type Cell = string | number;

/**
 * Makes a row from its values: those of `by`, then the sums in the order of SUMS. Throws `StoredRowError` for
 * a value of another type.
 */
export function totalsRow(by: readonly TotalsField[], values: readonly unknown[]): TotalsRow {
  const row = new StoredRow(
    "usage",
    Object.fromEntries([...by, ...SUMS].map((name, i) => [name, values[i]])),
  );
  return {
    ...(by.includes("day") ? { day: row.text("day") } : {}),
    ...(by.includes("model") ? { model: row.text("model") } : {}),
    ...(by.includes("account") ? { account: row.integer("account") } : {}),
    requests: row.sum("requests"),
    prompt: row.sum("prompt"),
    completion: row.sum("completion"),
    cached: row.sum("cached"),
    cacheWrite: row.sum("cacheWrite"),
    reasoning: row.sum("reasoning"),
    cost: row.exactSum("cost"),
  };
}

/** Makes sums from cells in the order of SUMS. Throws `StoredRowError` for a value of another type. */
export function sumsOf(cells: readonly unknown[], from: number): UsageSums {
  return {
    requests: figureOf(cells[from]),
    prompt: figureOf(cells[from + 1]),
    completion: figureOf(cells[from + 2]),
    cached: figureOf(cells[from + 3]),
    cacheWrite: figureOf(cells[from + 4]),
    reasoning: figureOf(cells[from + 5]),
    cost: BigInt(String(cells[from + 6])),
  };
}

/** A figure of a row; the sums of a usage row are numbers in every store. */
export function figureOf(value: unknown): number {
  if (typeof value === "number") return value;
  throw new StoredRowError("a row of usage cannot be read: one of its sums is not a number");
}

function compareBy(field: TotalsField, a: UsageRow, b: UsageRow): number {
  return field === "account" ? a.account - b.account : compareText(a[field], b[field]);
}
