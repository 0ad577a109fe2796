// The SQL of a usage report: every row of the days is read once, and added up outside of SQL, which would
// sort them all. It reads in one transaction, so that days and accounts are as of one moment. A large tree
// takes a second, so the server runs this on a thread of its own (usage-worker-pool.ts).

import type { UsageReportQuery } from "../store.ts";
import { StoredRow, StoredRowError } from "../stored-rows.ts";
import { UsageAggregator } from "../usage/usage-aggregator.ts";
import { UsageGroups } from "../usage/usage-groups.ts";
import {
  ACCOUNTS_IN_PART,
  accountsPart,
  addToGroups,
  checkReport,
  groupParts,
  hoursOf,
  type UsageReportPart,
} from "../usage/usage-report.ts";
import { SUMS } from "../usage/usage-rows.ts";
import type { SqliteConnection } from "./connection.ts";
import type { Query } from "./query-builder.ts";
import { UsagePartsReader } from "./usage-parts-reader.ts";
import { branchCondition, branchRows, manyRows, OF_IDS } from "./usage-totals.ts";

/** Days per part, which the receiver processes in a millisecond or two. */
const PART_DAYS = 500;
/** Accounts whose documents one statement reads. */
const DOCUMENTS = 500;
/** Accounts per statement, because all rows of one statement are held in memory at once. */
const IDS = 50;

/** What a row takes while it is processed: sums as they are read, a document's fields, an account as text. */
const SUMS_ROW_BYTES = 130;
const FIELDS_ROW_BYTES = 400;
const ACCOUNT_BYTES = 1_000;

const CELLS = SUMS.join(", ");

/** Returns a function that yields the parts of a usage report. It throws when no store may run the query. */
export function sqliteUsageReport(
  connection: SqliteConnection,
): (query: UsageReportQuery) => Iterable<UsageReportPart> {
  const { db } = connection;
  const addRows = usageReader(connection);
  const parts = new UsagePartsReader(connection);

  function* report(query: UsageReportQuery): Generator<UsageReportPart> {
    const { grouping, hours } = query;
    const sums = new UsageAggregator();
    const garbage = new RowGarbage(sums);
    const groups = grouping === undefined ? null : new UsageGroups(grouping, hours ? hoursOf(hours) : null);
    db.run("BEGIN");
    try {
      if (hours !== undefined && groups !== null) parts.addHours(query, sums, groups);
      else addRows(query, sums, garbage);
      if (hours === undefined && groups !== null && grouping !== undefined) {
        addToGroups(groups, grouping, sums);
        parts.addDays(query, groups);
      }
    } finally {
      db.run("COMMIT");
    }
    if (groups !== null) yield* groupParts(groups);
    const days = sums.days();
    let from = 0;
    do {
      const rows = days.slice(from, from + PART_DAYS);
      from += PART_DAYS;
      yield { of: "days", rows, last: from >= days.length };
    } while (from < days.length);
    const fieldsOf = accountFieldValues(connection, query.accountFields, sums.accountIds(), garbage);
    for (const some of sums.accounts(ACCOUNTS_IN_PART)) {
      yield accountsPart(some, fieldsOf);
      garbage.add(some.length, ACCOUNT_BYTES);
    }
  }

  return (query) => {
    checkReport(query);
    return report(query);
  };
}

/** Returns a function that adds the rows of a query to an aggregator. */
function usageReader(
  connection: SqliteConnection,
): (query: UsageReportQuery, sums: UsageAggregator, garbage: RowGarbage) => void {
  const { recent } = connection;
  const { days, modelsOf } = usageIndex(connection);

  function addAll({ sql, params }: Query, sums: UsageAggregator): void {
    const rows: unknown[][] = recent(`SELECT day, model, account, ${CELLS} FROM (${sql})`).values(...params);
    for (const row of rows) {
      const [day, model, account] = row;
      sums.add(sums.group(textOf(day), textOf(model)), accountOf(account), row, 3);
    }
  }

  return (query, sums, garbage) => {
    const { accounts, from, to } = query;
    if ("ids" in accounts) {
      for (let i = 0; i < accounts.ids.length; i += IDS) {
        const params = [JSON.stringify(accounts.ids.slice(i, i + IDS)), from, to];
        addAll({ sql: OF_IDS, params }, sums);
      }
      return;
    }
    const branch = branchCondition(accounts.dna);
    const all = branchRows(branch, from, to);
    if (!manyRows(connection, all)) return addAll(all, sums);
    const some = recent(
      `SELECT account, ${CELLS} FROM usageSums INDEXED BY usageSums_day_model
       WHERE day = ? AND model = ? AND ${branch.sql}`,
    );
    for (const day of days(from, to)) {
      for (const model of modelsOf(day)) {
        const group = sums.group(day, model);
        const rows: unknown[][] = some.values(day, model, ...branch.params);
        for (const row of rows) sums.add(group, accountOf(row[0]), row, 1);
        garbage.add(rows.length, SUMS_ROW_BYTES);
      }
    }
  };
}

/** Walks the days that have usage, and the models of a day, by one index seek each. */
function usageIndex({ prepare }: SqliteConnection) {
  const firstDay = prepare<[string]>("SELECT min(day) AS first FROM usageSums WHERE day >= ?");
  const nextDay = prepare<[string]>("SELECT min(day) AS first FROM usageSums WHERE day > ?");
  const firstModel = prepare<[string]>(
    "SELECT min(model) AS first FROM usageSums INDEXED BY usageSums_day_model WHERE day = ?",
  );
  const nextModel = prepare<[string, string]>(
    "SELECT min(model) AS first FROM usageSums INDEXED BY usageSums_day_model WHERE day = ? AND model > ?",
  );
  const firstOf = (row: unknown): string | null => new StoredRow("usageSums", row).textOrNull("first");

  return {
    *days(from: string, to: string): Generator<string> {
      for (
        let day = firstOf(firstDay.get(from));
        day !== null && day <= to;
        day = firstOf(nextDay.get(day))
      ) {
        yield day;
      }
    },
    *modelsOf(day: string): Generator<string> {
      for (
        let model = firstOf(firstModel.get(day));
        model !== null;
        model = firstOf(nextModel.get(day, model))
      ) {
        yield model;
      }
    },
  };
}

/**
 * Reads these fields of the documents of these accounts in the order of ids, in which most documents lie
 * together. Returns a function that looks an account's values up, as JSON; a field without a value is "".
 */
function accountFieldValues(
  { recent }: SqliteConnection,
  fields: readonly string[],
  accounts: readonly number[],
  garbage: RowGarbage,
): (account: number) => string {
  const none = JSON.stringify(fields.map(() => ""));
  if (fields.length === 0) return () => none;
  const read = recent(
    `SELECT id, json_array(${fields.map(() => "CAST(ifnull(body->>?, '') AS TEXT)").join(", ")})
     FROM accounts WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id`,
  );
  const ids = Float64Array.from(accounts).sort();
  const texts = Array<string>(ids.length).fill(none);
  for (let from = 0; from < ids.length; from += DOCUMENTS) {
    const some = JSON.stringify([...ids.subarray(from, from + DOCUMENTS)]);
    const rows: unknown[][] = read.values(...fields, some);
    for (const [id, found] of rows) texts[placeIn(ids, accountOf(id))] = String(found);
    garbage.add(rows.length, FIELDS_ROW_BYTES);
  }
  return (account) => texts[placeIn(ids, account)]!;
}

/** Where a number is in an ascending list that has it. */
function placeIn(ascending: Float64Array, value: number): number {
  let [low, high] = [0, ascending.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  throw new StoredRowError("a row of usageSums cannot be read: its day or model is not a text");
}

function accountOf(value: unknown): number {
  if (typeof value === "number") return value;
  throw new StoredRowError("a row of usageSums cannot be read: its account is not a number");
}

/** Bytes between two collections, each of which takes the reading thread some milliseconds. */
const GARBAGE_BYTES_MIN = 8_000_000;
/** More where more is kept: a collection walks all of it. */
const GARBAGE_BYTES_PER_ACCOUNT = 80;

/**
 * Collects what reading many rows leaves behind. Alone, the collector lets it grow to the size of what is
 * kept, and a report keeps much.
 */
class RowGarbage {
  #bytes = 0;

  constructor(private readonly sums: UsageAggregator) {}

  /** Counts rows that are no longer used, of about so many bytes each. */
  add(rows: number, rowBytes: number): void {
    this.#bytes += rows * rowBytes;
    const kept = this.sums.accountIds().length;
    if (this.#bytes < Math.max(GARBAGE_BYTES_MIN, kept * GARBAGE_BYTES_PER_ACCOUNT)) return;
    this.#bytes = 0;
    Bun.gc(true);
  }
}
