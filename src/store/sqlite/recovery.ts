// Finds the actors that an owner of shards must load: those with commits that no snapshot covers, and those with pending
// effects. After 30 seconds of load there are some 100,000 commits to look at, so it looks at some of them in each turn of
// the event loop. It never writes.

import { compareText } from "../indexed-fields.ts";
import type { Store } from "../store.ts";
import { StoredRow } from "../stored-rows.ts";
import type { SqliteConnection } from "./connection.ts";
import { actorIn } from "./journal.ts";

/** Commits that are looked at in one turn of the event loop: a millisecond at most, since a request takes several turns. */
const STEP_COMMITS = 400;

/** The place of a commit in the order of their times. */
interface Place {
  readonly at: number;
  readonly row: number;
}

/** Returns the method of the store on a connection. */
export function sqliteRecovery({ prepare }: SqliteConnection): Pick<Store, "actorsToRecover"> {
  const pending = prepare<[string]>(
    "SELECT actor FROM snapshots WHERE pending = 1 AND shard IN (SELECT value FROM json_each(?))",
  );
  const newest = prepare("SELECT max(at) AS at FROM commits");
  const endOfStep = prepare<[number, number, number]>(
    `SELECT at, row FROM commits INDEXED BY commitsAt WHERE (at, row) > (?, ?) AND at <= ?
     ORDER BY at, row LIMIT 1 OFFSET ${STEP_COMMITS - 1}`,
  );
  // It walks the commits of all shards, because one server owns all shards of a SQLite database. INDEXED BY, because the
  // planner would otherwise walk the whole ledger to get the order of actors.
  const uncovered = prepare<[string, number, number, number, number]>(
    `SELECT DISTINCT c.actor FROM commits c INDEXED BY commitsAt LEFT JOIN snapshots s ON s.actor = c.actor
     WHERE (c.at, c.row) > (?2, ?3) AND (c.at, c.row) <= (?4, ?5)
       AND c.shard IN (SELECT value FROM json_each(?1)) AND c.seq > ifnull(s.seq, 0)`,
  );

  /** The place up to which the next step looks, not beyond `last`. */
  function stepEnd(from: Place, last: Place): Place {
    const found = endOfStep.get(from.at, from.row, last.at);
    if (found === null) return last;
    const row = new StoredRow("commits", found);
    return { at: row.integer("at"), row: row.integer("row") };
  }

  return {
    async actorsToRecover(shards, since) {
      const of = JSON.stringify(shards);
      const actors = new Set(pending.all(of).map(actorIn));
      // What is committed meanwhile is the caller's own, or its second look finds it (recovery-scan.ts).
      const newestAt = new StoredRow("commits", newest.get()).integerOrNull("at");
      const last = { at: newestAt ?? since, row: Number.MAX_SAFE_INTEGER };
      for (let from: Place = { at: since - 1, row: last.row }; ; ) {
        const end = stepEnd(from, last);
        for (const row of uncovered.all(of, from.at, from.row, end.at, end.row)) actors.add(actorIn(row));
        if (end === last) return [...actors].sort(compareText);
        from = end;
        await new Promise(setImmediate);
      }
    },
  };
}
