// Finds the actors that an owner of shards must load: those with commits that no snapshot covers, and those with pending
// effects. After a crash under load there is up to a minute of commits to look at, 400,000 of them, so it looks at some in each
// turn of the event loop. It never writes.

import { compareText } from "../indexed-fields.ts";
import type { Store } from "../store.ts";
import { StoredRow } from "../stored-rows.ts";
import type { SqliteConnection } from "./connection.ts";
import { parseHeads } from "./ledger-rows.ts";

/** Commits that are looked at in one turn of the event loop: a millisecond at most, since a request takes several turns. */
const STEP_COMMITS = 400;
/** Reading a row counts as this many commits. */
const ROW_COMMITS = 3;

/** Returns the method of the store on a connection. */
export function sqliteRecovery({ prepare }: SqliteConnection): Pick<Store, "actorsToRecover"> {
  const pending = prepare<[string]>(
    "SELECT actor FROM snapshots WHERE pending = 1 AND shard IN (SELECT value FROM json_each(?))",
  );
  const newest = prepare("SELECT max(at) AS at FROM ledger");
  // It reads the commits of all shards, because one server owns all shards of a SQLite database. A row is as new as the
  // newest of its commits.
  const next = prepare<[number, number, number]>(
    `SELECT at, row, heads FROM ledger INDEXED BY ledgerAt WHERE (at, row) > (?, ?) AND at <= ?
     ORDER BY at, row LIMIT 1`,
  );
  const snapshotOf = prepare<[string]>("SELECT seq FROM snapshots WHERE actor = ?");

  const savedSeq = (actor: string): number => {
    const found = snapshotOf.get(actor);
    return found === null ? 0 : new StoredRow("snapshots", found).integer("seq");
  };

  return {
    async actorsToRecover(shards, since) {
      const own = new Set(shards);
      const actors = new Set(pending.all(JSON.stringify(shards)).map(actorIn));
      // What is committed meanwhile is the caller's own.
      const newestAt = new StoredRow("ledger", newest.get()).integerOrNull("at") ?? since;
      // A snapshot never becomes older, so what one covered stays covered.
      const saved = new Map<string, number>();
      const isCovered = (actor: string, seq: number): boolean => {
        if (seq <= (saved.get(actor) ?? 0)) return true;
        const newest = savedSeq(actor);
        saved.set(actor, newest);
        return seq <= newest;
      };
      let from = { at: since - 1, row: Number.MAX_SAFE_INTEGER };
      for (let looked = 0; ; ) {
        const stored = next.get(from.at, from.row, newestAt);
        if (stored === null) return [...actors].sort(compareText);
        const { row, heads } = parseHeads(stored);
        from = { at: new StoredRow("ledger", stored).integer("at"), row };
        for (const { actor, seq, shard, at } of heads) {
          if (at < since || !own.has(shard) || actors.has(actor)) continue;
          if (!isCovered(actor, seq)) actors.add(actor);
        }
        looked += ROW_COMMITS + heads.length;
        if (looked < STEP_COMMITS) continue;
        looked = 0;
        await new Promise(setImmediate);
      }
    },
  };
}

const actorIn = (row: unknown): string => new StoredRow("snapshots", row).text("actor");
