// Finds commits in the ledger: by actor and seq, and by dedup id. What the tables `commitIndex` and `marks` have is joined
// with the tail that they do not have yet (index-tail.ts), so a commit is found from the moment at which it is stored. It
// never writes.

import { compareText } from "../indexed-fields.ts";
import type { LinesOfCommit } from "../line-rows.ts";
import type { Commit } from "../store.ts";
import { type CommitPlace, StoredRow } from "../stored-rows.ts";
import type { SqliteConnection } from "./connection.ts";
import { type IndexEntry, IndexTail } from "./index-tail.ts";
import { type CommitHead, LedgerRow } from "./ledger-rows.ts";

/** Commits that are read beyond those that are asked for, since a row of the ledger has only the newest time of its commits. */
const MORE_READ = 64;

/** The index as a connection sees it. */
export class CommitIndex {
  readonly #statements: ReturnType<typeof indexStatements>;
  readonly #tail: IndexTail;
  /** The row that was read last: the commits of an actor that is alone are side by side. */
  #lastRow: LedgerRow | null = null;

  constructor(connection: SqliteConnection) {
    this.#statements = indexStatements(connection);
    this.#tail = new IndexTail(connection);
  }

  /**
   * Reads what was appended since the last look-up, in steps. Await it before a look-up on the server's thread, which would read
   * thousands of commits at once.
   */
  catchUp(): Promise<void> {
    return this.#tail.catchUp();
  }

  /** The commit with this seq; null when there is none. */
  find(actor: string, seq: number): IndexEntry | null {
    const [found] = this.after(actor, seq - 1, 1);
    return found?.seq === seq ? found : null;
  }

  /** The commits of an actor with these seqs, as far as there are any. */
  findAll(actor: string, seqs: readonly number[]): ReadonlyMap<number, IndexEntry> {
    this.#tail.refresh();
    const wanted = new Set(seqs);
    const tail = this.#tail.ofActor(actor).filter(({ seq }) => wanted.has(seq));
    const indexed = this.#statements.withSeqs.all(actor, JSON.stringify(seqs));
    const entries = [...indexed.map((row) => indexRow(actor, row)), ...tail];
    return new Map(entries.map((entry) => [entry.seq, entry]));
  }

  /** The commits of an actor with seq > `after`, ascending. */
  after(actor: string, after: number, limit: number): readonly IndexEntry[] {
    this.#tail.refresh();
    const indexed = this.#statements.after.all(actor, after, limit).map((row) => indexRow(actor, row));
    const tail = this.#tail.ofActor(actor).filter(({ seq }) => seq > after);
    return tail.length === 0 ? indexed : joined(indexed, tail).slice(0, limit);
  }

  /** The commit of an actor with the highest seq, of those in rows up to one; null when it has none. */
  newest(actor: string, upToRow = Number.MAX_SAFE_INTEGER): IndexEntry | null {
    this.#tail.refresh();
    const found = this.#statements.newest.get(actor, upToRow);
    const tail = this.#tail.ofActor(actor).filter(({ row }) => row <= upToRow);
    return joined(found === null ? [] : [indexRow(actor, found)], tail).at(-1) ?? null;
  }

  /** The actors whose names are at or behind `from`, and behind `after`, in the order of their names. */
  *actorsFrom(from: string, after: string): Generator<string> {
    const { nextActor, firstActor } = this.#statements;
    this.#tail.refresh();
    const isBehind = (actor: string) => compareText(actor, after) > 0 && compareText(actor, from) >= 0;
    const waiting = [...this.#tail.actors()].filter(isBehind).sort(compareText);
    for (let row = after >= from ? nextActor.get(after) : firstActor.get(from); row !== null; ) {
      const actor = new StoredRow("commitIndex", row).text("actor");
      while (waiting.length > 0 && compareText(waiting[0]!, actor) < 0) yield waiting.shift()!;
      if (waiting[0] === actor) waiting.shift();
      yield actor;
      row = nextActor.get(actor);
    }
    yield* waiting;
  }

  /** Whether a commit of this actor carries this dedup id. */
  hasMark(mark: string, actor: string): boolean {
    this.#tail.refresh();
    return (
      this.#statements.isMarked.get(mark, actor) !== null ||
      this.#tail.ofMark(mark).some((one) => one.actor === actor)
    );
  }

  /** The commits that carry this dedup id, by actor and seq. */
  ofMark(mark: string, limit: number): readonly CommitPlace[] {
    this.#tail.refresh();
    const marked = this.#statements.ofMark.all(mark, limit).map(placeOf);
    const tail = this.#tail.ofMark(mark);
    if (tail.length === 0) return marked;
    const places = new Map([...marked, ...tail].map((one) => [`${one.actor}/${one.seq}`, one]));
    return [...places.values()]
      .sort((a, b) => compareText(a.actor, b.actor) || a.seq - b.seq)
      .slice(0, limit)
      .map(({ actor, seq }) => ({ actor, seq }));
  }

  /** Whether the commit of an actor with this seq carries this dedup id. */
  isMarked(mark: string, actor: string, seq: number): boolean {
    this.#tail.refresh();
    return (
      this.#statements.isMarkOf.get(mark, actor, seq) !== null ||
      this.#tail.ofMark(mark).some((one) => one.actor === actor && one.seq === seq)
    );
  }

  /** The seqs of an actor's commits that carry this dedup id, in no order. */
  seqsOfMark(mark: string, actor: string): readonly number[] {
    this.#tail.refresh();
    const marked = this.#statements.seqsOfMark.all(mark, actor).map((row) => placeOf(row).seq);
    const tail = this.#tail.ofMark(mark).filter((one) => one.actor === actor);
    return [...new Set([...marked, ...tail.map(({ seq }) => seq)])];
  }

  /** The newest commits that carry this dedup id: by time, then by actor, then the highest seq first. Clients may use an id often. */
  newestOfMark(mark: string, limit: number): readonly IndexEntry[] {
    for (let size = limit + MORE_READ; ; size *= 4) {
      this.#tail.refresh();
      const rows = this.#statements.newestOfMark.all(mark, size).map((row) => new StoredRow("ledger", row));
      const indexed = rows.map((row) => ({ ...entryOf(row.text("actor"), row), rowAt: row.integer("at") }));
      const entries = new Map<string, IndexEntry>();
      for (const one of [...indexed, ...this.#tail.ofMark(mark)]) entries.set(`${one.actor}/${one.seq}`, one);
      const kept = [...entries.values()]
        .map((entry) => ({ entry, ...this.head(entry) }))
        .sort((a, b) => b.at - a.at || compareText(a.actor, b.actor) || b.seq - a.seq)
        .slice(0, limit);
      const [lastRowAt, lastKept] = [indexed.at(-1)?.rowAt ?? 0, kept.at(-1)];
      const isComplete = rows.length < size || (kept.length === limit && lastRowAt < (lastKept?.at ?? 0));
      if (isComplete) return kept.map(({ entry }) => entry);
    }
  }

  /** The newest seq of each actor that has commits which the table may not have yet. */
  newestOfTail(): ReadonlyMap<string, number> {
    this.#tail.refresh();
    const newest = new Map<string, number>();
    for (const { actor, seq } of this.#tail.entries())
      newest.set(actor, Math.max(seq, newest.get(actor) ?? 0));
    return newest;
  }

  /** The highest seq of an actor in the table; 0 when it has none there. */
  newestIndexed(actor: string): number {
    const found = this.#statements.newest.get(actor, Number.MAX_SAFE_INTEGER);
    return found === null ? 0 : indexRow(actor, found).seq;
  }

  /** How many commits and how many of their dedup ids the tables do not have yet. */
  unindexed(): { readonly commits: number; readonly marks: number } {
    this.#tail.refresh();
    const entries = this.#tail.entries();
    const { isIndexed, isMarkOf } = this.#statements;
    const commits = entries.filter(({ actor, seq }) => isIndexed.get(actor, seq) === null);
    const marks = entries.flatMap(({ actor, seq, marks }) =>
      [...new Set(marks)].filter((mark) => isMarkOf.get(mark, actor, seq) === null),
    );
    return { commits: commits.length, marks: marks.length };
  }

  /** Reads the head of a commit, under the same rules as `commit`. */
  head(entry: IndexEntry): CommitHead {
    return this.#rowOf(entry).head(entry.nth);
  }

  /** Reads a commit. Throws `StoredRowError` when it is damaged, or another one is in its place. */
  commit(entry: IndexEntry): Commit {
    return this.#rowOf(entry).commit(entry.nth);
  }

  /** Reads the part of a commit that its lines are made of, under the same rules. */
  linesOfCommit(entry: IndexEntry): LinesOfCommit {
    return this.#rowOf(entry).linesOfCommit(entry.nth);
  }

  /** Forgets what it read, because a transaction that it read from has been undone. */
  clear(): void {
    this.#tail.clear();
    this.#lastRow = null;
  }

  #rowOf({ actor, seq, row, nth }: IndexEntry): LedgerRow {
    if (this.#lastRow?.row !== row) this.#lastRow = new LedgerRow(this.#statements.ledgerRow.get(row));
    const head = this.#lastRow.head(nth);
    if (head.actor !== actor || head.seq !== seq) {
      new StoredRow("commitIndex", { actor, seq }).fail("row", "a row of the ledger that has the commit");
    }
    return this.#lastRow;
  }
}

/** The entries of an actor in a row that may have lines: all but those with as many lines up to them as the one before. */
export const withLines = (entries: readonly IndexEntry[]): readonly IndexEntry[] =>
  entries.filter(({ linesTo }, i) => linesTo !== entries[i - 1]?.linesTo);

/** Entries of both lists by seq, each once. */
function joined(indexed: readonly IndexEntry[], tail: readonly IndexEntry[]): IndexEntry[] {
  const entries = new Map([...indexed, ...tail].map((entry) => [entry.seq, entry]));
  return [...entries.values()].sort((a, b) => a.seq - b.seq);
}

function entryOf(actor: string, row: StoredRow): IndexEntry {
  return {
    actor,
    seq: row.integer("seq"),
    row: row.integer("row"),
    nth: row.integer("nth"),
    linesTo: row.integer("linesTo"),
  };
}

const indexRow = (actor: string, stored: unknown): IndexEntry =>
  entryOf(actor, new StoredRow("commitIndex", stored));

function placeOf(stored: unknown): CommitPlace {
  const row = new StoredRow("marks", stored);
  return { actor: row.text("actor"), seq: row.integer("seq") };
}

function indexStatements({ prepare }: SqliteConnection) {
  return {
    after: prepare<[string, number, number]>(
      "SELECT seq, row, nth, linesTo FROM commitIndex WHERE actor = ? AND seq > ? ORDER BY seq LIMIT ?",
    ),
    withSeqs: prepare<[string, string]>(
      `SELECT seq, row, nth, linesTo FROM commitIndex
       WHERE actor = ? AND seq IN (SELECT value FROM json_each(?)) ORDER BY seq`,
    ),
    newest: prepare<[string, number]>(
      "SELECT seq, row, nth, linesTo FROM commitIndex WHERE actor = ? AND row <= ? ORDER BY seq DESC LIMIT 1",
    ),
    nextActor: prepare<[string]>("SELECT actor FROM commitIndex WHERE actor > ? ORDER BY actor LIMIT 1"),
    firstActor: prepare<[string]>("SELECT actor FROM commitIndex WHERE actor >= ? ORDER BY actor LIMIT 1"),
    isIndexed: prepare<[string, number]>("SELECT 1 AS found FROM commitIndex WHERE actor = ? AND seq = ?"),
    isMarked: prepare<[string, string]>("SELECT 1 AS found FROM marks WHERE mark = ? AND actor = ? LIMIT 1"),
    isMarkOf: prepare<[string, string, number]>(
      "SELECT 1 AS found FROM marks WHERE mark = ? AND actor = ? AND seq = ?",
    ),
    ofMark: prepare<[string, number]>(
      "SELECT actor, seq FROM marks WHERE mark = ? ORDER BY actor, seq LIMIT ?",
    ),
    seqsOfMark: prepare<[string, string]>("SELECT actor, seq FROM marks WHERE mark = ? AND actor = ?"),
    newestOfMark: prepare<[string, number]>(
      `SELECT i.actor, i.seq, i.row, i.nth, i.linesTo, l.at
       FROM marks m JOIN commitIndex i ON i.actor = m.actor AND i.seq = m.seq JOIN ledger l ON l.row = i.row
       WHERE m.mark = ? ORDER BY l.at DESC LIMIT ?`,
    ),
    ledgerRow: prepare<[number]>("SELECT row, v, heads, bodies FROM ledger WHERE row = ?"),
  };
}
