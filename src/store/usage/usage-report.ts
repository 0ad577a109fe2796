// Assembles a `UsageReport` from the parts in which a store reads it, and defines its meaning in the simplest
// way (`usageReportOf`), which the SQL must reproduce. It stores nothing.

import type { AccountUsage, TotalsRow, UsageReport, UsageReportQuery } from "../store.ts";
import type { DocumentBody } from "../tables.ts";
import { UsageAggregator } from "./usage-aggregator.ts";
import { type Cell, checkTotals, isAsked, SUMS, totalsRow, type UsageRow } from "./usage-rows.ts";

/** The usage of one account: its leading models and sums as cells, and its values of `accountFields`. */
export interface AccountUsageRow {
  readonly account: number;
  /** The model of highest cost, the model of most requests, then the sums in the order of SUMS. */
  readonly cells: readonly Cell[];
  readonly fieldValues: readonly string[];
}

/** Some rows of a report. A row of `days` is a day, a model and the sums in the order of SUMS. */
export type UsageReportPart =
  | { readonly of: "days"; readonly rows: readonly (readonly Cell[])[] }
  | { readonly of: "accounts"; readonly rows: readonly AccountUsageRow[] };

/** Collects the parts of a report in their order; `report` is complete after the last one. */
export class UsageReportBuilder {
  readonly #days: TotalsRow[] = [];
  readonly #accounts: AccountUsage[] = [];
  readonly report: UsageReport = { days: this.#days, accounts: this.#accounts };

  add(part: UsageReportPart): void {
    if (part.of === "days") for (const row of part.rows) this.#days.push(totalsRow(["day", "model"], row));
    else for (const row of part.rows) this.#accounts.push(accountUsage(row));
  }
}

function accountUsage({ account, cells, fieldValues }: AccountUsageRow): AccountUsage {
  const [topCost, topRequest, ...sums] = cells;
  return {
    ...totalsRow([], sums.slice(0, SUMS.length)),
    account,
    topCost: String(topCost),
    topRequest: String(topRequest),
    fieldValues,
  };
}

/**
 * The report of these usage rows. `bodyOf` returns the document of an account, or undefined when there is
 * none. Throws when no store may run such a query.
 */
export function usageReportOf(
  query: UsageReportQuery,
  rows: Iterable<UsageRow>,
  bodyOf: (account: number) => DocumentBody | undefined,
): UsageReport {
  checkTotals({ ...query, by: [] });
  const sums = new UsageAggregator();
  for (const row of rows) {
    if (isAsked(query, row)) sums.add(sums.group(row.day, row.model), row.account, row.sums, 0);
  }
  const builder = new UsageReportBuilder();
  builder.add({ of: "days", rows: sums.days() });
  const accounts = sums.accounts().map(({ account, cells }) => {
    const body = bodyOf(account);
    return { account, cells, fieldValues: query.accountFields.map((field) => String(body?.[field] ?? "")) };
  });
  builder.add({ of: "accounts", rows: accounts });
  return builder.report;
}
