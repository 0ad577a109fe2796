// Writes the index of the commits and their dedup ids (`commitIndex` and `marks`) behind the commits: reads the heads of the
// rows of the ledger after the last one that is indexed, sorts them by actor and stores them in steps. Written with each
// commit, both would dirty a page for each actor of each transaction. It is not synced: the sync of a later commit covers it.
// What is not indexed yet is found all the same (commit-index.ts).
//
// crash                              state found                       recovery
// before a batch is stored           the place before it, and perhaps  it is indexed again from that place; an
//                                    some of its entries               entry that is there stays
// of the machine, before its sync    the same                          the same
// a step that fails                  the same                          tried again later, and reported

import type { SqliteConnection } from "./connection.ts";
import { parseHeads } from "./ledger-rows.ts";
import { projectedRow } from "./ledger-walk.ts";
import { BATCH_MS, type Projection } from "./projection-schedule.ts";

/**
 * Commits of a batch, about: the more there are, the fewer pages are written for each, and the more heads a connection has to
 * read when it looks for a commit.
 */
const BATCH_COMMITS = 1_024;
/** Entries and dedup ids that one step stores, in a millisecond. A step that reads takes as long. */
const STEP_ENTRIES = 512;
/** Rows of one step, and those that are read at once. */
const [STEP_ROWS, READ_ROWS] = [256, 32];
/** Milliseconds between two steps. */
const STEP_MS = 5;

type EntryCells = [actor: string, seq: number, row: number, nth: number, linesTo: number];
type MarkCells = [mark: string, actor: string, seq: number];

/** The batches of a database, step by step. */
export class IndexProjection implements Projection {
  readonly #connection: SqliteConnection;
  readonly #statements: ReturnType<typeof projectionStatements>;
  /** What the current batch has not stored yet. */
  #entries: EntryCells[] = [];
  #marks: MarkCells[] = [];
  /** Commits that were stored since the start and are in no batch yet. */
  #waiting = 0;
  /** The last row of the current batch; null when it has none yet. */
  #last: number | null = null;
  #isRead = false;
  /** Whether the current batch has all rows that were stored when it was read. */
  #isEnd = false;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#statements = projectionStatements(connection);
  }

  /** Called with the number of commits that were stored. Returns whether there are enough for a batch. */
  committed(commits: number): boolean {
    this.#waiting += commits;
    return this.#waiting >= BATCH_COMMITS;
  }

  step(): number | null {
    if (!this.#isRead) {
      this.#read();
      return this.#last === null ? null : STEP_MS;
    }
    this.#store(this.#last!);
    if (this.#isRead || !this.#isEnd) return STEP_MS;
    return this.#statements.next.get(this.#statements.place(), 1) === null ? null : BATCH_MS;
  }

  /** Reads the next rows. The batch is complete when there are no more, or enough. */
  #read(): void {
    this.#isEnd = false;
    for (let read = 0; read < STEP_ROWS && !this.#isEnoughOrEnd(); read += READ_ROWS) {
      const rows = this.#statements.next.all(this.#last ?? this.#statements.place(), READ_ROWS);
      for (const stored of rows) this.#add(stored);
      this.#isEnd = rows.length < READ_ROWS;
    }
    if (!this.#isEnoughOrEnd()) return;
    this.#waiting = this.#isEnd ? 0 : Math.max(0, this.#waiting - this.#entries.length);
    this.#entries.sort(byText);
    this.#marks.sort(byText);
    this.#isRead = this.#last !== null;
  }

  #isEnoughOrEnd(): boolean {
    return this.#isEnd || this.#entries.length >= BATCH_COMMITS;
  }

  #add(stored: unknown): void {
    const { row, heads } = parseHeads(stored);
    heads.forEach(({ actor, seq, linesTo, marks }, nth) => {
      this.#entries.push([actor, seq, row, nth, linesTo]);
      for (const mark of marks) this.#marks.push([mark, actor, seq]);
    });
    this.#last = row;
  }

  /** Stores the next entries of the batch, and with the last of them the place of its last row. */
  #store(last: number): void {
    const { entry, mark, move } = this.#statements;
    const entries = this.#entries.slice(0, STEP_ENTRIES);
    const marks = this.#marks.slice(0, STEP_ENTRIES);
    const isLast = entries.length === this.#entries.length && marks.length === this.#marks.length;
    this.#connection.unsynced(() => {
      for (const cells of entries) entry.run(...cells);
      for (const cells of marks) mark.run(...cells);
      if (isLast) move.run(last);
    });
    this.#entries = this.#entries.slice(entries.length);
    this.#marks = this.#marks.slice(marks.length);
    if (!isLast) return;
    this.#last = null;
    this.#isRead = false;
  }
}

/** The order of the tables; what has the same text stays in the order of the ledger. */
const byText = ([a]: EntryCells | MarkCells, [b]: EntryCells | MarkCells): number =>
  a < b ? -1 : a > b ? 1 : 0;

function projectionStatements(connection: SqliteConnection) {
  const { prepare } = connection;
  return {
    place: projectedRow(connection, "commitIndex"),
    next: prepare<[number, number]>("SELECT row, heads FROM ledger WHERE row > ? ORDER BY row LIMIT ?"),
    entry: prepare<EntryCells>(
      "INSERT OR IGNORE INTO commitIndex (actor, seq, row, nth, linesTo) VALUES (?, ?, ?, ?, ?)",
    ),
    mark: prepare<MarkCells>("INSERT OR IGNORE INTO marks (mark, actor, seq) VALUES (?, ?, ?)"),
    move: prepare<[number]>("UPDATE meta SET value = ? WHERE key = 'commitIndex'"),
  };
}
