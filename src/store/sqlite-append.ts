// Group commit: what is handed over in one turn of the event loop becomes one transaction, one wait for the disk.
// The order of commits is kept; the fate of one is never another's, unless the disk refuses the whole transaction.
//
// 1. `append` turns its commits into rows at once: what the caller changes later, and a body that is not plain data,
//    concern nobody else.
// 2. setImmediate, not a microtask: each incoming message is a turn of its own, and with microtasks each would wait
//    for a sync of its own. Idle, it fires within the same iteration of the loop.
// 3. A transaction takes at most 256 commits, then the loop gets its turn: SQLite blocks this thread.
// 4. A row that stands with the same nonce is our own earlier attempt: committed. With another: lost.
// 5. An error undoes the transaction and answers unknown, not "failed": it may come from the sync of a stored one.

import assert from "node:assert/strict";
import type { Connection } from "./sqlite-connection.ts";
import type { Appended, Commit } from "./store.ts";

export const MOST_COMMITS = 256;

export interface Appender {
  append(commits: readonly Commit[]): Promise<readonly Appended[]>;
  /** Stores what waits, at once; nothing can be appended after it. */
  finish(): void;
}

/** The commits of one call, answered together; they are stored in their order, so are the answers. */
interface Batch {
  readonly size: number;
  readonly answers: Appended[];
  readonly resolve: (answers: readonly Appended[]) => void;
}

interface Row {
  readonly actor: string;
  readonly seq: number;
  readonly by: string;
  readonly marks: readonly string[];
  readonly columns: readonly (string | number)[];
  readonly batch: Batch;
}

/** `onError` hears why a transaction failed, since "unknown" cannot tell. */
export function groupCommit(connection: Connection, onError: (error: unknown) => void): Appender {
  const insert = connection.prepare(
    `INSERT INTO commits (actor, seq, shard, epoch, at, linesTo, lines, v, "by", done, marks, events)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (actor, seq) DO NOTHING`,
  );
  const mark = connection.prepare(
    "INSERT INTO marks (mark, actor, seq) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const writer = connection.prepare<{ by: string }, [string, number]>(
    `SELECT "by" FROM commits WHERE actor = ? AND seq = ?`,
  );
  /** Not empty: a flush is on its way. */
  let waiting: Row[] = [];
  let finished = false;

  function store(row: Row): Appended {
    if (insert.run(...row.columns).changes === 0) {
      return writer.get(row.actor, row.seq)?.by === row.by ? "committed" : "lost";
    }
    for (const id of row.marks) mark.run(id, row.actor, row.seq);
    return "committed";
  }

  function transaction(rows: readonly Row[]): readonly Appended[] {
    try {
      return connection.transaction(() => rows.map(store));
    } catch (error) {
      onError(error);
      return rows.map(() => "unknown");
    }
  }

  function flush(): void {
    if (waiting.length === 0) return;
    const rows = waiting.length <= MOST_COMMITS ? waiting : waiting.slice(0, MOST_COMMITS);
    waiting = waiting.slice(rows.length);
    if (waiting.length > 0) setImmediate(flush);
    const answers = transaction(rows);
    rows.forEach(({ batch }, i) => {
      batch.answers.push(answers[i]!);
      if (batch.answers.length === batch.size) batch.resolve(batch.answers);
    });
  }

  return {
    async append(commits) {
      assert(!finished, "the store is closed");
      if (commits.length === 0) return [];
      const { promise, resolve } = Promise.withResolvers<readonly Appended[]>();
      const batch = { size: commits.length, answers: [], resolve };
      const rows = commits.map((commit) => rowOf(commit, batch));
      if (waiting.length === 0) setImmediate(flush);
      waiting.push(...rows);
      return promise;
    },
    finish() {
      finished = true;
      while (waiting.length > 0) flush();
    },
  };
}

function rowOf(c: Commit, batch: Batch): Row {
  const { actor, seq, by } = c;
  const [done, marks, events] = [JSON.stringify(c.done), JSON.stringify(c.marks), JSON.stringify(c.events)];
  const columns = [actor, seq, c.shard, c.epoch, c.at, c.linesTo, c.lines, c.v, by, done, marks, events];
  // Refused here, it is this caller's error; refused by SQLite, it would undo its neighbours too.
  assert(columns.every(fits), `commit ${actor}/${seq} holds what no column takes`);
  return { actor, seq, by, marks: [...c.marks], columns, batch };
}

const fits = (value: unknown) => typeof value === "string" || Number.isSafeInteger(value);
