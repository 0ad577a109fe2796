// Assembles a `UsageReport` from the parts in which a store reads it, and defines its meaning in the simplest
// way (`usageReportOf`), which the SQL must reproduce. Accounts that nobody has read yet are kept as text, so
// that a report over a hundred thousand of them is a few megabytes. It stores nothing.

import assert from "node:assert/strict";
import type {
  AccountUsage,
  TotalsRow,
  UsageGroup,
  UsageGrouping,
  UsageReport,
  UsageReportQuery,
} from "../store.ts";
import { StoredRowError } from "../stored-rows.ts";
import type { DocumentBody } from "../tables.ts";
import { dayOfPeriod, hourPeriod, type Period } from "./charge-rows.ts";
import { type AccountSums, UsageAggregator } from "./usage-aggregator.ts";
import { type GroupRows, UsageGroups, usageGroup } from "./usage-groups.ts";
import { PART_KINDS, type PartKind, type PeriodPart } from "./usage-parts.ts";
import { type Cell, checkTotals, isAsked, sumsOf, totalsRow, type UsageRow } from "./usage-rows.ts";

/** Accounts per part, which are read and written in a millisecond or two. */
export const ACCOUNTS_IN_PART = 250;

/**
 * Some rows of a report. A row of `days` is a day, a model and the sums in the order of SUMS; `last` says that
 * no further days follow. Groups come before the days, and all days before the accounts.
 */
export type UsageReportPart =
  | ({ readonly of: "groups" } & GroupRows)
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
  readonly #groups: UsageGroup[] = [];
  readonly #hourly: { readonly hour: string; readonly groups: UsageGroup[] }[] = [];
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
    } else if (part.of === "groups") {
      this.#groupsOf(part.hour).push(...part.rows.map(usageGroup));
    } else {
      for (const row of part.rows) this.#days.push(totalsRow(["day", "model"], row));
      if (part.last) this.#resolve();
    }
  }

  #resolve(): void {
    const [days, groups, hourly] = [this.#days, this.#groups, this.#hourly];
    this.#report.resolve({ days, groups, hourly, accounts: this.#accounts() });
  }

  /** The groups of an hour, whose parts come one after another, or (null) those of the whole. */
  #groupsOf(hour: string | null): UsageGroup[] {
    if (hour === null) return this.#groups;
    const last = this.#hourly.at(-1);
    if (last?.hour === hour) return last.groups;
    const groups: UsageGroup[] = [];
    this.#hourly.push({ hour, groups });
    return groups;
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

/** Rows of groups per part, which are read and written in a millisecond or two. */
const GROUPS_IN_PART = 500;

/** The parts of the groups of a report; an hour without usage has one, too. */
export function* groupParts(groups: UsageGroups): Generator<UsageReportPart> {
  for (const { hour, rows } of groups.rows()) {
    let from = 0;
    do {
      yield { of: "groups", hour, rows: rows.slice(from, from + GROUPS_IN_PART) };
      from += GROUPS_IN_PART;
    } while (from < rows.length);
  }
}

/** Adds the usage of an aggregator to groups, for a report by days. */
export function addToGroups(groups: UsageGroups, grouping: UsageGrouping, sums: UsageAggregator): void {
  if (grouping.by === "account" || grouping.by === "api_key") {
    for (const accounts of sums.accounts(ACCOUNTS_IN_PART)) {
      for (const { account, cells } of accounts)
        groups.addUsage({ hour: null, account, model: "" }, cells, 2);
    }
    return;
  }
  for (const cells of sums.days()) {
    groups.addUsage({ hour: null, account: 0, model: String(cells[1]) }, cells, 2);
  }
}

/**
 * Throws when no store may run the query.
 */
export function checkReport({ grouping, hours, ...query }: UsageReportQuery): void {
  checkTotals({ ...query, by: [] });
  assert(grouping?.by !== "tag" || typeof grouping.name === "string", "a tag has a name");
  assert(hours === undefined || grouping !== undefined, "hours are of groups");
  assert(
    [hours?.from, hours?.to].every((hour) => hour === undefined || HOUR.test(hour)),
    "hours are HYYYY-MM-DDTHH",
  );
}

const HOUR = /^H\d{4}-\d\d-\d\dT\d\d$/;

const HOUR_MS = 3_600_000;

/** The hours of a query in their order. */
export function hoursOf({ from, to }: NonNullable<UsageReportQuery["hours"]>): readonly Period[] {
  const hours: Period[] = [];
  for (let at = Date.parse(`${from.slice(1)}:00:00Z`); hourPeriod(at) <= to; at += HOUR_MS)
    hours.push(hourPeriod(at));
  return hours;
}

/**
 * The report of these usage rows. `bodyOf` returns the document of an account, or undefined when there is
 * none; `partsOf` returns the parts of an account on the day of a row (or in an hour) as of this row, in the meaning of
 * usage-parts.ts. Throws when no store may run such a query.
 */
export function usageReportOf(
  query: UsageReportQuery,
  rows: readonly UsageRow[],
  bodyOf: (account: number) => DocumentBody | undefined,
  partsOf: (account: number, period: Period) => readonly PeriodPart[],
): Promise<UsageReport> {
  checkReport(query);
  const { grouping, hours } = query;
  const sums = new UsageAggregator();
  const builder = new UsageReportBuilder();
  const asked = rows.filter((row) => isAsked(query, row));
  const accountDays = new Map(asked.map(({ account, day }) => [`${account}/${day}`, { account, day }]));
  const periods = hours === undefined ? null : hoursOf(hours);
  const groups = grouping === undefined ? null : new UsageGroups(grouping, periods);
  if (periods === null) {
    for (const row of asked) sums.add(sums.group(row.day, row.model), row.account, row.sums, 0);
    if (groups !== null && grouping !== undefined) {
      addToGroups(groups, grouping, sums);
      for (const { account, day } of accountDays.values())
        groups.addParts(null, account, partsOf(account, `D${day}`));
    }
  } else {
    for (const { account, day } of accountDays.values()) {
      for (const hour of periods.filter((period) => dayOfPeriod(period) === day)) {
        const parts = partsOf(account, hour);
        addHour(sums, groups!, { account, hour }, parts);
      }
    }
  }
  for (const part of groups === null ? [] : groupParts(groups)) builder.add(part);
  builder.add({ of: "days", rows: sums.days(), last: true });
  for (const accounts of sums.accounts(ACCOUNTS_IN_PART)) {
    builder.add(accountsPart(accounts, (account) => fieldsText(query, bodyOf(account))));
  }
  builder.end();
  return builder.report;
}

/** The kind of parts that a query's grouping needs; null when it needs none. */
export function partKindOf({ grouping }: UsageReportQuery): PartKind | null {
  if (grouping?.by === "api_key") return PART_KINDS.apiKey;
  return grouping?.by === "tag" ? PART_KINDS.tag : null;
}

/** Adds all parts of an account in one hour to the sums and groups of a report by hours. */
export function addHour(
  sums: UsageAggregator,
  groups: UsageGroups,
  { account, hour }: { readonly account: number; readonly hour: Period },
  parts: readonly PeriodPart[],
): void {
  for (const { kind, value, sums: figures } of parts) {
    if (kind !== PART_KINDS.model) continue;
    sums.add(sums.group(dayOfPeriod(hour), value), account, figures, 0);
    groups.addUsage({ hour, account, model: value }, figures, 0);
  }
  groups.addParts(hour, account, parts);
}

/** The values of a query's `accountFields` in a document, as JSON. */
export const fieldsText = ({ accountFields }: UsageReportQuery, body: DocumentBody | undefined): string =>
  JSON.stringify(accountFields.map((field) => String(body?.[field] ?? "")));
