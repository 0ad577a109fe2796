// Kept answers: what a repeat of a request gets. They come and go, so they lie apart from the ledger, and nobody waits for
// the disk on their account: whoever keeps one can do without it.

import type { Connection } from "./sqlite-connection.ts";
import type { KeptAnswer, Store } from "./store.ts";

type Answers = Pick<Store, "keepAnswer" | "answer" | "dropAnswers">;

export function sqliteAnswers({ prepare, unsynced }: Connection): Answers {
  // A replaced row gets a new number, so that `row` is the order in which answers were kept.
  const put = prepare(
    "INSERT OR REPLACE INTO answers (id, account, kind, at, until, body) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const prune = prepare(
    `DELETE FROM answers WHERE row IN
       (SELECT row FROM answers WHERE account = ? AND kind = ? ORDER BY row DESC LIMIT -1 OFFSET ?)`,
  );
  const get = prepare<KeptAnswer, [string, number]>(
    "SELECT id, account, kind, at, until, body FROM answers WHERE id = ? AND until > ?",
  );
  const drop = prepare(
    "DELETE FROM answers WHERE row IN (SELECT row FROM answers WHERE until <= ? ORDER BY until, row LIMIT ?)",
  );

  return {
    async keepAnswer({ id, account, kind, at, until, body }, most) {
      unsynced(() => {
        put.run(id, account, kind, at, until, body);
        prune.run(account, kind, most);
      });
    },
    answer: async (id, now) => get.get(id, now),
    dropAnswers: async (until, limit) => unsynced(() => drop.run(until, limit).changes),
  };
}
