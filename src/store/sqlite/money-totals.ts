// Adds up the sums of credit of all accounts. It reads in one transaction, which is a consistent cut: the rows
// of the projection, and the commits behind its place, which are added to the rows of their accounts. Whether
// a pending transfer was received is in the table of dedup ids of the same moment. It reads for a fraction of
// a second at 100,000 accounts, so the server runs it on a thread of its own (usage-worker-pool.ts).

import {
  type MoneyChanges,
  MoneyFold,
  MoneySums,
  type MoneyTotals,
  moneyChanges,
  type PendingMoney,
} from "../money-fold.ts";
import { StoreBusyError } from "../store.ts";
import { parseLinesOfCommit, parseMoneyFold, StoredRow } from "../stored-rows.ts";
import type { SqliteConnection } from "./connection.ts";

/** Commits behind the projection that one reading adds. More wait only while an older database is prepared. */
const BEHIND_MAX = 200_000;
/** Rows per statement, because all rows of one statement are held in memory at once. */
const ROWS = 1_000;

/** Returns a function that adds up all accounts. It throws `StoreBusyError` while too many commits wait. */
export function sqliteMoney(connection: SqliteConnection): () => MoneyTotals {
  const { db, prepare } = connection;
  const place = prepare(
    `SELECT key, value, (SELECT ifnull(max(row), 0) FROM commits) AS last FROM meta WHERE key = 'lines'`,
  );
  const behind = prepare<[number, number]>(
    `SELECT row, actor, seq, linesTo, lines, events FROM commits
     WHERE row > ? AND actor BETWEEN 'account/' AND 'account0' ORDER BY row LIMIT ?`,
  );
  const rows = prepare<[string, number]>(
    "SELECT actor, seq, sums FROM money WHERE actor > ? ORDER BY actor LIMIT ?",
  );
  const mark = prepare<[string, string]>("SELECT mark FROM marks WHERE mark = ? AND actor = ?");

  /** The changes of the commits behind the projection, by account. */
  function latest(): Map<string, MoneyChanges[]> {
    const row = new StoredRow("meta", place.get());
    const changes = new Map<string, MoneyChanges[]>();
    let after = row.integer("value");
    if (row.integer("last") - after > BEHIND_MAX) {
      throw new StoreBusyError("the sums of an older store are still being prepared: ask again in a minute");
    }
    for (;;) {
      const page = behind.all(after, ROWS);
      for (const stored of page) {
        const commit = parseLinesOfCommit(stored);
        const known = changes.get(commit.actor);
        if (known === undefined) changes.set(commit.actor, [moneyChanges(commit)]);
        else known.push(moneyChanges(commit));
      }
      if (page.length < ROWS) return changes;
      after = new StoredRow("commits", page.at(-1)).integer("row");
    }
  }

  function added(): MoneyTotals {
    const changes = latest();
    const sums = new MoneySums();
    const finish = (fold: MoneyFold) => {
      for (const one of changes.get(fold.actor) ?? []) fold.add(one);
      changes.delete(fold.actor);
      fold.addTo(sums);
    };
    for (let after = ""; ; ) {
      const page = rows.all(after, ROWS).map(parseMoneyFold);
      for (const fold of page) finish(fold);
      if (page.length < ROWS) break;
      after = page.at(-1)!.actor;
    }
    for (const actor of changes.keys()) finish(new MoneyFold(actor));
    return sums.totals(({ id, to }: PendingMoney) => mark.get(id, `account/${to}`) !== null);
  }

  return () => {
    db.run("BEGIN");
    try {
      return added();
    } finally {
      db.run("COMMIT");
    }
  };
}
