// Reads of the ledger: an actor's commits by seq, by ledger line and by dedup id, and the list of actors. It
// never writes. Every call parses its results anew, so callers share nothing.

import type { Store } from "../store.ts";
import { parseCommit, parseLines, StoredRow } from "../stored-rows.ts";
import type { SqliteConnection } from "./connection.ts";

type Journal = Pick<
  Store,
  "readCommits" | "hasDedupId" | "commitsByDedupId" | "readLines" | "lastCommit" | "listActors"
>;

const COLUMNS = [
  "actor",
  "seq",
  "shard",
  "epoch",
  "by",
  "at",
  "v",
  "done",
  "marks",
  "linesTo",
  "lines",
  "events",
]
  .map((name) => `c."${name}"`)
  .join(", ");

/** The ledger's reads on a connection. */
export function sqliteJournal({ prepare }: SqliteConnection): Journal {
  const tail = prepare<[string, number, number]>(
    `SELECT ${COLUMNS} FROM commits c WHERE actor = ? AND seq > ? ORDER BY seq LIMIT ?`,
  );
  const marked = prepare<[string, string]>(
    "SELECT 1 AS found FROM marks WHERE mark = ? AND actor = ? LIMIT 1",
  );
  const byMark = prepare<[string, number]>(
    `SELECT ${COLUMNS} FROM marks m JOIN commits c ON c.actor = m.actor AND c.seq = m.seq
     WHERE m.mark = ? ORDER BY c.at DESC, c.actor, c.seq DESC LIMIT ?`,
  );
  const between = prepare<[string, number, number]>(
    `SELECT ${COLUMNS} FROM commits c WHERE actor = ? AND seq BETWEEN ? AND ? AND lines > 0 ORDER BY seq`,
  );
  const linesAt = prepare<[string, number]>(
    "SELECT seq, linesTo FROM commits WHERE actor = ? AND seq >= ? ORDER BY seq LIMIT 1",
  );
  const last = prepare<[string]>(
    "SELECT seq, linesTo FROM commits WHERE actor = ? ORDER BY seq DESC LIMIT 1",
  );
  const nextActor = prepare<[string]>("SELECT actor FROM commits WHERE actor > ? ORDER BY actor LIMIT 1");
  const firstActor = prepare<[string]>("SELECT actor FROM commits WHERE actor >= ? ORDER BY actor LIMIT 1");

  const lastLines = (actor: string) => {
    const found = last.get(actor);
    return found === null ? null : parseLines(found);
  };

  /**
   * Returns the seq of the first commit up to which the actor has `line` lines; its last seq when it has
   * fewer. It bisects, because `linesTo` never decreases with seq; an index on it would cost every append and
   * serve few reads.
   */
  function seqOfLine(actor: string, line: number, lastSeq: number): number {
    let below = 0;
    let high = lastSeq;
    while (high - below > 1) {
      const middle = Math.floor((below + high) / 2);
      const found = linesAt.get(actor, middle);
      const probe = found === null ? null : parseLines(found);
      if (probe === null || probe.linesTo >= line) high = middle;
      else below = probe.seq;
    }
    return high;
  }

  return {
    readCommits: async (actor, after, limit) => tail.all(actor, after, limit).map(parseCommit),
    hasDedupId: async (actor, mark) => marked.get(mark, actor) !== null,
    commitsByDedupId: async (mark, limit) => byMark.all(mark, limit).map(parseCommit),
    async readLines(actor, from, to) {
      const end = lastLines(actor);
      if (end === null || to < from || end.linesTo < from) return [];
      const [first, final] = [seqOfLine(actor, from, end.seq), seqOfLine(actor, to, end.seq)];
      return between.all(actor, first, final).map(parseCommit);
    },
    lastCommit: async (actor) => lastLines(actor),
    async listActors(prefix, after, limit) {
      // One index seek per actor; a DISTINCT would walk over every commit.
      const found: string[] = [];
      let row = after >= prefix ? nextActor.get(after) : firstActor.get(prefix);
      while (row !== null && found.length < limit) {
        const actor = actorIn(row);
        if (!actor.startsWith(prefix)) break;
        found.push(actor);
        row = nextActor.get(actor);
      }
      return found;
    },
  };
}

/** The actor of a row that has one. */
export const actorIn = (row: unknown): string => new StoredRow("commits", row).text("actor");
