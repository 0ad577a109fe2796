// The answer of `used`, from the parts in which it comes, and what it means: the plainest way to it, which SQL must
// reproduce. Stores nothing.

import type { AccountUsage, TotalsRow, UsageReport, UsageReportQuery } from "../store.ts";
import type { DocumentBody } from "../tables.ts";
import { createUsageAggregator } from "./usage-aggregator.ts";
import { type Cell, checkTotals, isAsked, SUMS, totalsRow, type UsageRow } from "./usage-rows.ts";

/** Rows of days, or of accounts with what is told of each behind its sums. */
export interface UsedPart {
  readonly of: "days" | "accounts";
  readonly rows: readonly (readonly Cell[])[];
}

const FIRST_SUM = 3;

/** Takes parts in their order; `used` is whole after the last. */
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

/** What these rows amount to; `bodyOf` answers an account's document. */
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
