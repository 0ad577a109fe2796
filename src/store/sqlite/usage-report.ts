// The SQL of a usage report: every row of the days is read once, and added up outside of SQL, which would
// sort them all. It reads in one transaction, so that days and accounts are as of one moment. A large tree
// takes a second, so the server runs this on a thread of its own (usage-worker-pool.ts).

import type { UsageReportQuery } from "../store.ts";
import { createUsageAggregator, type UsageAggregator } from "../usage/usage-aggregator.ts";
import type { UsedPart } from "../usage/usage-report.ts";
import { type Cell, checkTotals, SUMS } from "../usage/usage-rows.ts";
import type { SqliteConnection } from "./connection.ts";
import type { Query } from "./query-builder.ts";
import { branchCondition, branchRows, manyRows } from "./usage-totals.ts";

/** Rows per part, which the receiver processes in a millisecond or two. */
const PART_ROWS = 500;
/** Accounts per statement, because all rows of one statement are held in memory at once. */
const IDS = 50;

const CELLS = SUMS.join(", ");

/** Returns a function that yields the parts of a usage report. It throws when no store may run the query. */
export function sqliteUsed(connection: SqliteConnection): (query: UsageReportQuery) => Iterable<UsedPart> {
  const { db, prepare, recent } = connection;
  const firstDay = prepare<{ day: string | null }, [string]>(
    "SELECT min(day) AS day FROM usageSums WHERE day >= ?",
  );
  const nextDay = prepare<{ day: string | null }, [string]>(
    "SELECT min(day) AS day FROM usageSums WHERE day > ?",
  );
  const firstModel = prepare<{ model: string | null }, [string]>(
    "SELECT min(model) AS model FROM usageSums INDEXED BY usageSums_day_model WHERE day = ?",
  );
  const laterModel = prepare<{ model: string | null }, [string, string]>(
    "SELECT min(model) AS model FROM usageSums INDEXED BY usageSums_day_model WHERE day = ? AND model > ?",
  );

  function* daysOf({ from, to }: UsageReportQuery): Generator<string> {
    for (let day = firstDay.get(from)?.day; day && day <= to; day = nextDay.get(day)?.day) yield day;
  }

  function* modelsOf(day: string): Generator<string> {
    let model = firstModel.get(day)?.model;
    while (typeof model === "string") {
      yield model;
      model = laterModel.get(day, model)?.model;
    }
  }

  function addRows({ sql, params }: Query, sums: UsageAggregator): void {
    const rows = recent(`SELECT day, model, account, ${CELLS} FROM (${sql})`).values(...params) as Cell[][];
    for (const row of rows) sums.of(row[0] as string, row[1] as string)(row[2] as number, row, 3);
  }

  function read(query: UsageReportQuery, sums: UsageAggregator): void {
    const { accounts, from, to } = query;
    if ("ids" in accounts) {
      for (let i = 0; i < accounts.ids.length; i += IDS) {
        const params = [JSON.stringify(accounts.ids.slice(i, i + IDS)), from, to];
        addRows({ sql: OF_IDS, params }, sums);
      }
      return;
    }
    const branch = branchCondition(accounts.dna);
    const rows = branchRows(branch, from, to);
    if (!manyRows(connection, rows)) {
      addRows(rows, sums);
      return;
    }
    const some = recent(
      `SELECT account, ${CELLS} FROM usageSums INDEXED BY usageSums_day_model
       WHERE day = ? AND model = ? AND ${branch.sql}`,
    );
    for (const day of daysOf(query)) {
      for (const model of modelsOf(day)) {
        const add = sums.of(day, model);
        for (const row of some.values(day, model, ...branch.params) as Cell[][])
          add(row[0] as number, row, 1);
      }
    }
  }

  function* parts(query: UsageReportQuery): Generator<UsedPart> {
    const sums = createUsageAggregator();
    db.run("BEGIN");
    try {
      read(query, sums);
    } finally {
      db.run("COMMIT");
    }
    for (const rows of sliced(sums.days())) yield { of: "days", rows };
    const rows = sums.accounts();
    const told = toldOf(query.tell, rows);
    for (const some of sliced(rows)) {
      yield { of: "accounts", rows: some.map((row) => row.concat(told(row[0] as number))) };
    }
  }

  /** Reads the `tell` fields of these accounts in the order of ids, in which most documents lie together. */
  function toldOf(
    tell: readonly string[],
    rows: readonly (readonly Cell[])[],
  ): (account: number) => string[] {
    const told = new Map<number, string[]>();
    const nothing = tell.map(() => "");
    if (tell.length === 0) return () => nothing;
    const read = recent(
      `SELECT id, ${tell.map(() => "body->>?").join(", ")} FROM accounts
       WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id`,
    );
    const ids = Float64Array.from(rows, ([account]) => account as number).sort();
    for (let i = 0; i < ids.length; i += PART_ROWS) {
      const some = JSON.stringify([...ids.subarray(i, i + PART_ROWS)]);
      for (const [id, ...texts] of read.values(...tell, some) as Cell[][]) {
        told.set(
          id as number,
          texts.map((text) => String(text ?? "")),
        );
      }
    }
    return (account) => told.get(account) ?? nothing;
  }

  return (query) => {
    checkTotals({ ...query, by: [] });
    return parts(query);
  };
}

const OF_IDS = `SELECT * FROM usageSums INDEXED BY usageSums_account_day
  WHERE account IN (SELECT value FROM json_each(?)) AND day BETWEEN ? AND ?`;

function* sliced(rows: Cell[][]): Generator<Cell[][]> {
  for (let i = 0; i < rows.length; i += PART_ROWS) yield rows.slice(i, i + PART_ROWS);
}
