// The ledger of a SQLite database with a row for each commit, as databases before schema version 14 have it: to make such a
// database, and to change single commits of a current one by hand.

import type { Database } from "bun:sqlite";
import { LedgerRow } from "../../src/store/sqlite/ledger-rows.ts";
import { MIGRATIONS } from "../../src/store/sqlite/migrations.ts";
import type { Commit } from "../../src/store/store.ts";

const CREATE_COMMITS = MIGRATIONS[0]![0]!;
const TO_LEDGER = MIGRATIONS[13]!;

/** Inserts a commit into the table `commits`. */
export function insertCommit(db: Database, c: Commit): void {
  const lists = [c.done, c.marks, c.events].map((list) => JSON.stringify(list));
  db.run(
    `INSERT INTO commits (actor, seq, shard, epoch, at, linesTo, lines, v, "by", done, marks, events)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [c.actor, c.seq, c.shard, c.epoch, c.at, c.linesTo, c.lines, c.v, c.by, ...lists],
  );
}

/** Makes the table `commits` of what the ledger has. All of its dedup ids are in `marks` from here on. */
export function unpackLedger(db: Database): void {
  db.run(CREATE_COMMITS);
  const projected = db.query<{ value: number }, []>("SELECT value FROM meta WHERE key = 'lines'").get()!;
  let place = 0;
  for (const stored of db.query("SELECT row, v, heads, bodies FROM ledger ORDER BY row").all()) {
    const ledgerRow = new LedgerRow(stored);
    for (let nth = 0; nth < ledgerRow.size; nth++) insertCommit(db, ledgerRow.commit(nth));
    if (ledgerRow.row <= projected.value) place += ledgerRow.size;
  }
  db.run("UPDATE meta SET value = ? WHERE key = 'lines'", [place]);
  db.run("INSERT OR IGNORE INTO marks SELECT value, actor, seq FROM commits, json_each(commits.marks)");
}

/** Makes the ledger and its index of the table `commits` again. */
export function packLedger(db: Database): void {
  db.run("DROP TABLE ledger");
  db.run("DROP TABLE commitIndex");
  db.run("DELETE FROM meta WHERE key = 'commitIndex'");
  for (const sql of TO_LEDGER) db.run(sql);
}
