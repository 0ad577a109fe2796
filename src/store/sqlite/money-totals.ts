// Adds up the sums of credit of all accounts. It reads in one transaction, which is a consistent cut: the rows
// of the projection, and the commits behind its place, which are added to the rows of their accounts. Whether
// a pending transfer was received is among the dedup ids of the same moment. It reads for a second or two
// at 100,000 accounts, so the server runs it on a thread of its own (usage-worker-pool.ts).

import {
  hasMoney,
  type MoneyChanges,
  MoneyFold,
  MoneySums,
  type MoneyTotals,
  moneyChanges,
  type PendingMoney,
} from "../money-fold.ts";
import { StoreBusyError } from "../store-errors.ts";
import { parseMoneyFold, StoredRow } from "../stored-rows.ts";
import { CommitIndex } from "./commit-index.ts";
import type { SqliteConnection } from "./connection.ts";
import { ledgerRowsAfter, projectedRow } from "./ledger-walk.ts";

/** Commits behind the projection that one reading adds. More wait only while an older database is prepared. */
const BEHIND_MAX = 200_000;
const BEING_PREPARED = "the sums of an older store are still being prepared: ask again in a minute";
/** Rows per statement, because all rows of one statement are held in memory at once. */
const ROWS = 1_000;

/** Returns a function that adds up all accounts. It throws `StoreBusyError` while too many commits wait. */
export function sqliteMoney(connection: SqliteConnection): () => MoneyTotals {
  const { db, prepare } = connection;
  const index = new CommitIndex(connection);
  const [place, rowsAfter] = [projectedRow(connection, "lines"), ledgerRowsAfter(connection)];
  const newest = prepare("SELECT ifnull(max(row), 0) AS row FROM ledger");
  const rows = prepare<[string, number]>(
    "SELECT actor, seq, sums FROM money WHERE actor > ? ORDER BY actor LIMIT ?",
  );

  /** The changes of the commits behind the projection, by account. */
  function latest(): Map<string, MoneyChanges[]> {
    const changes = new Map<string, MoneyChanges[]>();
    const after = place();
    const last = new StoredRow("ledger", newest.get()).integer("row");
    if (last - after > BEHIND_MAX) throw new StoreBusyError(BEING_PREPARED);
    let count = 0;
    for (const ledgerRow of rowsAfter(after)) {
      count += ledgerRow.size;
      if (count > BEHIND_MAX) throw new StoreBusyError(BEING_PREPARED);
      for (let nth = 0; nth < ledgerRow.size; nth++) {
        const { actor } = ledgerRow.head(nth);
        if (!hasMoney(actor)) continue;
        const own = moneyChanges(ledgerRow.linesOfCommit(nth));
        const known = changes.get(actor);
        if (known === undefined) changes.set(actor, [own]);
        else known.push(own);
      }
    }
    return changes;
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
    return sums.totals(({ id, to }: PendingMoney) => index.hasMark(id, `account/${to}`));
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
