// The sums of requests by day and provider key in SQLite. They are added to in the transaction that stores the
// lines, of lines that were not there, so that each line counts once, whatever crashes and is projected again. A day has few rows, so that
// reading them is a look-up.

import { dayBefore, type KeyCost } from "../key-costs.ts";
import type { Store } from "../store.ts";
import { StoredRow } from "../stored-rows.ts";
import type { SqliteConnection } from "./connection.ts";

/** Returns a function that adds sums. It must run inside the transaction that stores the lines. */
export function keyCostWriter({ prepare }: SqliteConnection): (sums: readonly KeyCost[]) => void {
  const add = prepare<[string, number, bigint]>(
    `INSERT INTO keyCosts (day, providerKey, cost) VALUES (?, ?, ?)
     ON CONFLICT (day, providerKey) DO UPDATE SET cost = cost + excluded.cost`,
  );
  const newest = prepare("SELECT ifnull(max(day), '') AS day FROM keyCosts");
  const drop = prepare<[string]>("DELETE FROM keyCosts WHERE day < ?");
  return (sums) => {
    if (sums.length === 0) return;
    for (const { day, key, cost } of sums) add.run(day, key, cost);
    drop.run(dayBefore(new StoredRow("keyCosts", newest.get()).text("day")));
  };
}

/** The sums of the store's contract, on a connection. */
export function sqliteKeyCosts({ prepare }: SqliteConnection): Pick<Store, "keyCosts"> {
  const found = prepare<[string, string]>(
    `SELECT day, providerKey, CAST(cost AS TEXT) AS cost FROM keyCosts
     WHERE day = ? AND providerKey IN (SELECT value FROM json_each(?))`,
  );
  return {
    async keyCosts(day, keys) {
      const sums = found.all(day, JSON.stringify(keys)).map(parseKeyCost);
      return new Map(sums.map(({ key, cost }) => [key, cost]));
    },
  };
}

/** A row of the table, whose cost is read as text. */
export function parseKeyCost(stored: unknown): KeyCost {
  const row = new StoredRow("keyCosts", stored);
  return { day: row.text("day"), key: row.integer("providerKey"), cost: row.exactSum("cost") };
}
