// The SQL of lists of accounts in the order of a name or a figure. It reads every account that meets the conditions, so a long
// list is ordered on a thread of its own (usage-worker-pool.ts). It reads only.

import { type AccountRank, checkRanks, type RankOrder, type RankQuery } from "../account-ranks.ts";
import { StoredRow } from "../stored-rows.ts";
import type { SqliteConnection } from "./connection.ts";
import { type Query, rowsQuery } from "./query-builder.ts";

/** Returns the accounts of a list as rows of id and cost of the month. */
export type RanksReader = (query: RankQuery) => readonly (readonly unknown[])[];

/** The lists on a connection. The reader throws when no store may run the query. */
export function sqliteRanks({ recent }: SqliteConnection): RanksReader {
  return (query) => {
    checkRanks(query);
    const { sql, params } = ranksQuery(query);
    return recent(sql).values(...params);
  };
}

/** The columns of each order; the id breaks ties. */
const COLUMNS: Readonly<Record<RankOrder, readonly string[]>> = {
  id: ["id"],
  name: ["nameLower", "id"],
  balance: ["balance", "id"],
  month_cost: ["cost", "id"],
};

function ranksQuery({ by, descending, month, offset, limit, ...conditions }: RankQuery): Query {
  // The conditions are met from an index of `accounts` that contains all filtered fields; no body is read.
  const rows = rowsQuery(
    conditions,
    ({ sql }) =>
      `SELECT id, nameLower, figures.balance AS balance, figures.month AS month, figures.monthCost AS monthCost
         FROM accounts LEFT JOIN accountFigures AS figures ON figures.account = accounts.id${sql}`,
  );
  const order = COLUMNS[by].map((column) => `${column} ${descending ? "DESC" : "ASC"}`);
  return {
    sql: `SELECT id, CASE month WHEN ? THEN monthCost ELSE 0 END AS cost FROM (${rows.sql})
      ORDER BY ${order.join(", ")} LIMIT ? OFFSET ?`,
    params: [month, ...rows.params, limit ?? -1, offset ?? 0],
  };
}

/** Parses a row of a reader. */
export function parseRank([id, monthCost]: readonly unknown[]): AccountRank {
  const row = new StoredRow("accountFigures", { id, monthCost });
  return { id: row.integer("id"), monthCost: row.integer("monthCost") };
}
