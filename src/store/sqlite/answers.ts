// Kept answers: what a retry of a request gets. They are temporary, so they lie apart from the ledger, and no
// write of them waits for the disk: losing one does no harm.

import type { Store } from "../store.ts";
import { parseKeptAnswer } from "../stored-rows.ts";
import type { SqliteConnection } from "./connection.ts";
import type { Writes } from "./write-messages.ts";

/** Reads of kept answers. */
export function sqliteAnswers({ prepare }: SqliteConnection): Pick<Store, "answer"> {
  const get = prepare<[string, number]>(
    "SELECT id, account, kind, at, until, body FROM answers WHERE id = ? AND until > ?",
  );
  return {
    async answer(id, now) {
      const row = get.get(id, now);
      return row === null ? null : parseKeptAnswer(row);
    },
  };
}

/** Writes of kept answers, which are not synced to disk. */
export function answerWrites({
  prepare,
  unsynced,
}: SqliteConnection): Pick<Writes, "keepAnswer" | "dropAnswers"> {
  // A replaced row gets a new number, so that `row` is the order in which answers were kept.
  const put = prepare(
    "INSERT OR REPLACE INTO answers (id, account, kind, at, until, body) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const prune = prepare(
    `DELETE FROM answers WHERE row IN
       (SELECT row FROM answers WHERE account = ? AND kind = ? ORDER BY row DESC LIMIT -1 OFFSET ?)`,
  );
  const drop = prepare(
    "DELETE FROM answers WHERE row IN (SELECT row FROM answers WHERE until <= ? ORDER BY until, row LIMIT ?)",
  );

  return {
    keepAnswer: ({ id, account, kind, at, until, body }, most) =>
      unsynced(() => {
        put.run(id, account, kind, at, until, body);
        prune.run(account, kind, most);
      }),
    dropAnswers: (until, limit) => unsynced(() => drop.run(until, limit).changes),
  };
}
