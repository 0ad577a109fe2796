// The SQL of sums of usage. It may take a second over a large tree, so the server runs it on a thread of its
// own (usage-worker-pool.ts). It reads only; every way to the rows gives the same sums.

import type { TotalsQuery } from "../store.ts";
import { StoredRow } from "../stored-rows.ts";
import { checkTotals, SUMS } from "../usage/usage-rows.ts";
import type { SqliteConnection } from "./connection.ts";
import { prefixEnd, type Query } from "./query-builder.ts";

/** Returns each row as its values: those of `by`, then the sums in the order of SUMS. */
export type TotalsReader = (query: TotalsQuery) => readonly (readonly unknown[])[];

/** Fewer rows of a branch are sorted faster than the days of all accounts are read. */
const MANY_ROWS = 50_000;

const ADDED = SUMS.map((sum) => `sum(${sum}) AS ${sum}`).join(", ");

/** The sums of usage on a connection. The reader throws when no store may run the query. */
export function sqliteTotals(connection: SqliteConnection): TotalsReader {
  return (query) => {
    checkTotals(query);
    const { sql, params } = grouped(query, sourceOf(query, connection));
    return connection.recent(sql).values(...params);
  };
}

/** Whether a query has so many rows that sorting them is slow; it stops counting at MANY_ROWS. */
export function manyRows({ recent }: SqliteConnection, { sql, params }: Query): boolean {
  const count = recent(`SELECT count(*) >= ${MANY_ROWS} AS many FROM (${sql} LIMIT ${MANY_ROWS})`);
  return new StoredRow("usageSums", count.get(...params)).flag("many");
}

/** A cost may exceed the safe integers, so it is passed as text. */
function grouped({ by }: TotalsQuery, rows: Query): Query {
  const fields = by.join(", ");
  const sums = SUMS.map((sum) => (sum === "cost" ? "CAST(sum(cost) AS TEXT)" : `sum(${sum})`));
  const group = by.length === 0 ? "HAVING count(*) > 0" : `GROUP BY ${fields} ORDER BY ${fields}`;
  return { sql: `SELECT ${[...by, ...sums].join(", ")} FROM (${rows.sql}) ${group}`, params: rows.params };
}

/** The rows of accounts that are named by id, over a range of days. */
export const OF_IDS = `SELECT * FROM usageSums INDEXED BY usageSums_account_day
  WHERE account IN (SELECT value FROM json_each(?)) AND day BETWEEN ? AND ?`;

function sourceOf(query: TotalsQuery, connection: SqliteConnection): Query {
  const { accounts, from, to, by } = query;
  if ("ids" in accounts) return { sql: OF_IDS, params: [JSON.stringify(accounts.ids), from, to] };
  const branch = branchCondition(accounts.dna);
  const rows = branchRows(branch, from, to);
  if (by.includes("account") || !manyRows(connection, rows)) return rows;
  // Read in the order of the index, rows are added up as they come, and only few are left to sort.
  return {
    sql: `SELECT day, model, ${ADDED} FROM usageSums INDEXED BY usageSums_day_model
      WHERE day BETWEEN ? AND ? AND ${branch.sql} GROUP BY day, model`,
    params: [from, to, ...branch.params],
  };
}

/** The condition of the rows below a position in the tree. */
export function branchCondition(dna: string): Query {
  const end = prefixEnd(dna);
  return {
    sql: end === null ? "dna >= ?" : "dna >= ? AND dna < ?",
    params: end === null ? [dna] : [dna, end],
  };
}

/**
 * The rows of a branch over a range of days: one index seek per day that has usage, then only rows of the
 * branch.
 */
export function branchRows(branch: Query, from: string, to: string): Query {
  return {
    sql: `SELECT rows.* FROM (
        WITH RECURSIVE days (day) AS (
          SELECT min(day) FROM usageSums WHERE day >= ?
          UNION ALL SELECT (SELECT min(next.day) FROM usageSums AS next WHERE next.day > days.day) FROM days
            WHERE days.day <= ?)
        SELECT day FROM days WHERE day <= ?
      ) AS seen CROSS JOIN usageSums AS rows ON rows.day = seen.day AND ${branch.sql}`,
    params: [from, to, to, ...branch.params],
  };
}
