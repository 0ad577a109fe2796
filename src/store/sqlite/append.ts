// The ledger's side of a write: commits as rows, and a transaction that stores them.
//
// 1. `rowOf` turns a commit into a row at once: what the caller changes later, and a body that is not plain data, concern
//    nobody else.
// 2. A row that stands with the same nonce is our own earlier attempt: committed. With another: lost.
// 3. The fate of one commit is not its neighbours'. An error undoes the whole transaction, and is thrown.

import assert from "node:assert/strict";
import type { Commit } from "../store.ts";
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

/** Stores rows that stand one behind the other; answers a letter for each. */
export function appending(connection: SqliteConnection): (cells: Cells) => string {
  const insert = connection.prepare(
    `INSERT INTO commits (${COLUMNS.join(", ")})
     VALUES (${COLUMNS.map(() => "?").join(", ")}) ON CONFLICT (actor, seq) DO NOTHING`,
  );
  // One statement for all of a transaction: crossing into SQLite for each mark costs more than reading the rows again.
  const mark = connection.prepare(
    `INSERT INTO marks (mark, actor, seq) SELECT m.value, c.actor, c.seq FROM commits c, json_each(c.marks) m
     WHERE c.row >= ? ON CONFLICT DO NOTHING`,
  );
  const writer = connection.prepare<{ by: string }, [string, number]>(
    `SELECT "by" FROM commits WHERE actor = ? AND seq = ?`,
  );

  function store(cells: Cells): string {
    let outcomes = "";
    let first: number | bigint | null = null;
    for (let i = 0; i < cells.length; i += COLUMNS.length) {
      const row = cells.slice(i, i + COLUMNS.length);
      const { changes, lastInsertRowid } = insert.run(...row);
      if (changes > 0) first ??= lastInsertRowid;
      const isOurs = changes > 0 || writer.get(row[ACTOR] as string, row[SEQ] as number)?.by === row[BY];
      outcomes += (isOurs ? "c" : "l") satisfies CommitOutcome;
    }
    if (first !== null) mark.run(first);
    return outcomes;
  }

  return (cells) => connection.transaction(() => store(cells));
}

/** A commit as its row. Throws for what no column takes. */
export function commitRow(c: Commit): Cells {
  const { actor, seq, by } = c;
  const [done, marks, events] = [JSON.stringify(c.done), JSON.stringify(c.marks), JSON.stringify(c.events)];
  const row = [actor, seq, c.shard, c.epoch, c.at, c.linesTo, c.lines, c.v, by, done, marks, events];
  // Refused here, it is this caller's error; refused by SQLite, it would undo its neighbours too.
  assert(row.every(fits), `commit ${actor}/${seq} holds what no column takes`);
  return row;
}

const fits = (value: unknown) => typeof value === "string" || Number.isSafeInteger(value);
