// Appends to the ledger: commits as rows, and the transaction that stores them.
//
// 1. `commitRow` turns a commit into a row at once, so that later changes by the caller have no effect, and a
//    body that is not plain data fails for its caller alone.
// 2. When a stored row has the same nonce, it is our own earlier attempt: committed. With another nonce:
//    lost.
// 3. The outcome of one commit does not depend on the others. An error undoes the whole transaction and is
//    thrown.

import assert from "node:assert/strict";
import type { Commit } from "../store.ts";
import { StoredRow } from "../stored-rows.ts";
import type { Cell } from "../usage/usage-rows.ts";
import type { SqliteConnection } from "./connection.ts";
import type { Cells, CommitOutcome } from "./write-messages.ts";

const COLUMNS = [
  "actor",
  "seq",
  "shard",
  "epoch",
  "at",
  "linesTo",
  "lines",
  "v",
  '"by"',
  "done",
  "marks",
  "events",
];
const [ACTOR, SEQ, BY] = [0, 1, 8];

/**
 * Returns a function that stores the rows of a flat list of cells in one transaction, and returns one letter
 * per row (see `OUTCOMES`). It throws when the transaction fails: after a lock (`isBusy`) nothing is stored,
 * after any other error the rows may be.
 */
export function appending(connection: SqliteConnection): (cells: Cells) => string {
  const insert = connection.prepare(
    `INSERT INTO commits (${COLUMNS.join(", ")})
     VALUES (${COLUMNS.map(() => "?").join(", ")}) ON CONFLICT (actor, seq) DO NOTHING`,
  );
  // One statement for all rows of a transaction, because crossing into SQLite for each dedup id costs more
  // than reading the rows again.
  const mark = connection.prepare(
    `INSERT INTO marks (mark, actor, seq) SELECT m.value, c.actor, c.seq FROM commits c, json_each(c.marks) m
     WHERE c.row >= ? ON CONFLICT DO NOTHING`,
  );
  const writer = connection.prepare(`SELECT "by" FROM commits WHERE actor = ? AND seq = ?`);

  const writerOf = (actor: Cell, seq: Cell): string =>
    new StoredRow("commits", writer.get(actor, seq)).text("by");

  function store(cells: Cells): string {
    let outcomes = "";
    let first: number | bigint | null = null;
    for (let i = 0; i < cells.length; i += COLUMNS.length) {
      const row = cells.slice(i, i + COLUMNS.length);
      const { changes, lastInsertRowid } = insert.run(...row);
      if (changes > 0) first ??= lastInsertRowid;
      const isOurs = changes > 0 || writerOf(row[ACTOR]!, row[SEQ]!) === row[BY];
      outcomes += (isOurs ? "c" : "l") satisfies CommitOutcome;
    }
    if (first !== null) mark.run(first);
    return outcomes;
  }

  return (cells) => connection.transaction(() => store(cells));
}

/** A commit as its row. Throws when a value fits no column. */
export function commitRow(c: Commit): Cells {
  const { actor, seq, by } = c;
  const row = [actor, seq, c.shard, c.epoch, c.at, c.linesTo, c.lines, c.v, by];
  row.push(listText(c.done), listText(c.marks), listText(c.events));
  // Refused here, the error concerns this caller only; refused by SQLite, it would undo the other commits
  // too.
  assert(row.every(fits), `commit ${actor}/${seq} holds what no column takes`);
  return row;
}

/** Commits of charges have no `done`, so its text is mostly the same. */
const listText = (list: readonly unknown[]): string => (list.length === 0 ? "[]" : JSON.stringify(list));

const fits = (value: unknown) => typeof value === "string" || Number.isSafeInteger(value);
