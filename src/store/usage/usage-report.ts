// Assembles a `UsageReport` from the parts in which a store reads it, and defines its meaning in the simplest
// way (`usageReportOf`), which the SQL must reproduce. Accounts that nobody has read yet are kept as text, so
// that a report over a hundred thousand of them is a few megabytes. It stores nothing.

import type { AccountUsage, TotalsRow, UsageReport, UsageReportQuery } from "../store.ts";
import { StoredRowError } from "../stored-rows.ts";
import type { DocumentBody } from "../tables.ts";
import { type AccountSums, UsageAggregator } from "./usage-aggregator.ts";
import { type Cell, checkTotals, isAsked, sumsOf, totalsRow, type UsageRow } from "./usage-rows.ts";

/** Accounts per part, which are read and written in a millisecond or two. */
export const ACCOUNTS_IN_PART = 250;

/**
 * Some rows of a report. A row of `days` is a day, a model and the sums in the order of SUMS; `last` says that
 * no further days follow. All days come before the accounts.
 */
export type UsageReportPart =
  | { readonly of: "days"; readonly rows: readonly (readonly Cell[])[]; readonly last: boolean }
  /** The JSON of a list of accounts: id, cells, values of `accountFields`. */
  | { readonly of: "accounts"; readonly text: string };

/** The part of these accounts. `fieldsOf` returns the values of an account's `accountFields` as JSON. */
export function accountsPart(
  accounts: readonly AccountSums[],
  fieldsOf: (account: number) => string,
): UsageReportPart {
  const rows = accounts.map(
    ({ account, cells }) => `[${account},${JSON.stringify(cells)},${fieldsOf(account)}]`,
  );
  return { of: "accounts", text: `[${rows.join(",")}]` };
}

/**
 * Collects the parts of a report in their order. The report is there as soon as its days are; its accounts
 * follow while the store reads them.
 */
export class UsageReportBuilder {
  readonly #report = Promise.withResolvers<UsageReport>();
  readonly report: Promise<UsageReport> = this.#report.promise;
  readonly #days: TotalsRow[] = [];
  /** Parts that were not read yet: no more than the accounts of the report. */
  readonly #unread: string[] = [];
  #ended = false;
  #failure: { readonly error: unknown } | null = null;
  #changed = Promise.withResolvers<void>();

  /** Takes the next part. */
  add(part: UsageReportPart): void {
    if (part.of === "accounts") {
      this.#unread.push(part.text);
      this.#wake();
    } else {
      for (const row of part.rows) this.#days.push(totalsRow(["day", "model"], row));
      if (part.last) this.#report.resolve({ days: this.#days, accounts: this.#accounts() });
    }
  }

  /** Ends the report after its last part. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Ends the report with an error, which its reader gets after the parts that came before. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.#report.reject(error);
    this.#wake();
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  async *#accounts(): AsyncGenerator<readonly AccountUsage[]> {
    for (;;) {
      const text = this.#unread.shift();
      if (text !== undefined) yield accountsIn(text);
      else if (this.#failure !== null) throw this.#failure.error;
      else if (this.#ended) return;
      else await this.#changed.promise;
    }
  }
}

function accountsIn(text: string): readonly AccountUsage[] {
  const rows: unknown = JSON.parse(text);
  return Array.isArray(rows) ? rows.map(accountUsage) : unreadable();
}

/** Reads what `accountsPart` wrote: the leading models, then the sums in the order of SUMS. */
function accountUsage(row: unknown): AccountUsage {
  const [account, cells, fieldValues]: readonly unknown[] = Array.isArray(row) ? row : unreadable();
  if (typeof account !== "number" || !Array.isArray(cells) || !Array.isArray(fieldValues))
    return unreadable();
  const [topCost, topRequest] = cells;
  return {
    account,
    total: sumsOf(cells, 2),
    topCost: String(topCost),
    topRequest: String(topRequest),
    fieldValues,
  };
}

function unreadable(): never {
  throw new StoredRowError("a part of a usage report cannot be read");
}

/**
 * The report of these usage rows. `bodyOf` returns the document of an account, or undefined when there is
 * none. Throws when no store may run such a query.
 */
export function usageReportOf(
  query: UsageReportQuery,
  rows: Iterable<UsageRow>,
  bodyOf: (account: number) => DocumentBody | undefined,
): Promise<UsageReport> {
  checkTotals({ ...query, by: [] });
  const sums = new UsageAggregator();
  for (const row of rows) {
    if (isAsked(query, row)) sums.add(sums.group(row.day, row.model), row.account, row.sums, 0);
  }
  const builder = new UsageReportBuilder();
  builder.add({ of: "days", rows: sums.days(), last: true });
  for (const accounts of sums.accounts(ACCOUNTS_IN_PART)) {
    builder.add(accountsPart(accounts, (account) => fieldsText(query, bodyOf(account))));
  }
  builder.end();
  return builder.report;
}

/** The values of a query's `accountFields` in a document, as JSON. */
export const fieldsText = ({ accountFields }: UsageReportQuery, body: DocumentBody | undefined): string =>
  JSON.stringify(accountFields.map((field) => String(body?.[field] ?? "")));
