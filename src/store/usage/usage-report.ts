// Assembles a `UsageReport` from the parts in which a store reads it, and defines its meaning in the simplest
// way (`usedOf`), which the SQL must reproduce. It stores nothing.

import type { AccountUsage, TotalsRow, UsageReport, UsageReportQuery } from "../store.ts";
import type { DocumentBody } from "../tables.ts";
import { createUsageAggregator } from "./usage-aggregator.ts";
import { type Cell, checkTotals, isAsked, SUMS, totalsRow, type UsageRow } from "./usage-rows.ts";

/** Some rows of a report: of days, or of accounts. A row of an account ends with the values of `tell`. */
export interface UsedPart {
  readonly of: "days" | "accounts";
  readonly rows: readonly (readonly Cell[])[];
}

const FIRST_SUM = 3;

/** Collects parts in their order; `used` is complete after the last one. */
export function gathering() {
  const days: TotalsRow[] = [];
  const accounts: AccountUsage[] = [];
  const used: UsageReport = { days, accounts };
  return {
    used,
    take({ of, rows }: UsedPart): void {
      if (of === "days") for (const row of rows) days.push(totalsRow(["day", "model"], row));
      else for (const row of rows) accounts.push(usedByOf(row));
    },
  };
}

function usedByOf(row: readonly Cell[]): AccountUsage {
  const sums = row.slice(FIRST_SUM);
  const [account, topCost, topRequest] = row as [number, string, string];
  const told = sums.splice(SUMS.length) as string[];
  return { ...totalsRow([], sums), account, topCost, topRequest, told };
}

/**
 * The report of these usage rows. `bodyOf` returns the document of an account, or undefined when there is
 * none. Throws when no store may run such a query.
 */
export function usedOf(
  query: UsageReportQuery,
  rows: Iterable<UsageRow>,
  bodyOf: (account: number) => DocumentBody | undefined,
): UsageReport {
  checkTotals({ ...query, by: [] });
  const sums = createUsageAggregator();
  for (const row of rows) if (isAsked(query, row)) sums.of(row.day, row.model)(row.account, row.sums, 0);
  const gathered = gathering();
  gathered.take({ of: "days", rows: sums.days() });
  const told = (account: Cell) => query.tell.map((field) => String(bodyOf(account as number)?.[field] ?? ""));
  gathered.take({ of: "accounts", rows: sums.accounts().map((row) => [...row, ...told(row[0]!)]) });
  return gathered.used;
}
