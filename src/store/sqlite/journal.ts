// Reads of the ledger: an actor's commits by seq, by ledger line and by dedup id, and the list of actors. It
// never writes. Every call parses its results anew, so callers share nothing.

import type { Commit, Store } from "../store.ts";
import { CommitIndex, withLines } from "./commit-index.ts";
import type { SqliteConnection } from "./connection.ts";
import type { IndexEntry } from "./index-tail.ts";

/** Commits that are read in one turn of the event loop: two milliseconds, where each is in a row of its own. */
const STEP_COMMITS = 100;

type Journal = Pick<
  Store,
  "readCommits" | "hasDedupId" | "commitsByDedupId" | "readLines" | "lastCommit" | "listActors"
>;

/** The ledger's reads on a connection. */
export function sqliteJournal(
  connection: SqliteConnection,
  index: CommitIndex = new CommitIndex(connection),
): Journal {
  const read = (entries: readonly IndexEntry[]) => entries.map((entry) => index.commit(entry));

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
      const [probe] = index.after(actor, middle - 1, 1);
      if (probe === undefined || probe.linesTo >= line) high = middle;
      else below = probe.seq;
    }
    return high;
  }

  return {
    async readCommits(actor, after, limit) {
      const commits: Commit[] = [];
      for (;;) {
        await index.catchUp();
        const size = Math.min(STEP_COMMITS, limit - commits.length);
        const some = read(index.after(actor, commits.at(-1)?.seq ?? after, size));
        commits.push(...some);
        if (some.length < size || commits.length === limit) return commits;
        await new Promise(setImmediate);
      }
    },
    async hasDedupId(actor, mark) {
      await index.catchUp();
      return index.hasMark(mark, actor);
    },
    async commitsByDedupId(mark, limit) {
      await index.catchUp();
      return read(index.newestOfMark(mark, limit));
    },
    async readLines(actor, from, to) {
      await index.catchUp();
      const end = index.newest(actor);
      if (end === null || to < from || end.linesTo < from) return [];
      const [first, final] = [seqOfLine(actor, from, end.seq), seqOfLine(actor, to, end.seq)];
      const entries = withLines(index.after(actor, first - 1, final - first + 1));
      return read(entries).filter(({ lines }) => lines > 0);
    },
    async lastCommit(actor) {
      await index.catchUp();
      const entry = index.newest(actor);
      return entry === null ? null : { seq: entry.seq, linesTo: entry.linesTo };
    },
    async listActors(prefix, after, limit) {
      await index.catchUp();
      // One index seek per actor; a DISTINCT would walk over every commit.
      const found: string[] = [];
      if (limit === 0) return found;
      for (const actor of index.actorsFrom(prefix, after)) {
        if (!actor.startsWith(prefix)) break;
        found.push(actor);
        if (found.length === limit) break;
      }
      return found;
    },
  };
}
