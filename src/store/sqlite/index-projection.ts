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
import { SortedRuns } from "./sorted-runs.ts";

/**
 * Commits and dedup ids of a batch, about: the more there are, the fewer pages are written for each, and the more heads a connection
 * has to read when it looks for a commit. A batch of fewer begins every BATCH_MS.
 */
const BATCH_MAX = 16_384;
/** Commits that wait for a batch at most, and as many dedup ids: more of either advance the index with each append. */
const WAITING_MAX = 8_192;
/** Entries and dedup ids that one step stores, or that it reads and sorts, about: in two milliseconds. */
const STEP_MAX = 512;
/** Rows that are read at once. */
const READ_ROWS = 8;
/** Milliseconds between two steps. */
const STEP_MS = 5;

type EntryCells = [actor: string, seq: number, row: number, nth: number, linesTo: number];
type MarkCells = [mark: string, actor: string, seq: number];

/** The batches of a database, step by step. */
export class IndexProjection implements Projection {
  readonly #connection: SqliteConnection;
  readonly #statements: ReturnType<typeof projectionStatements>;
  /** What the current batch has not stored yet. */
  readonly #entries = new SortedRuns<EntryCells>();
  readonly #marks = new SortedRuns<MarkCells>();
  /** Commits that were stored since the start and are in no batch yet, and their dedup ids. */
  #waitingCommits = 0;
  #waitingIds = 0;
  /** The last row of the current batch; null when it has none yet. */
  #last: number | null = null;
  #isRead = false;
  /** Whether the current batch has all rows that were stored when it was read. */
  #isEnd = false;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#statements = projectionStatements(connection);
  }

  /** Called with the number of commits that were stored, and of their dedup ids. Returns whether too many wait for a batch. */
  committed(commits: number, ids: number): boolean {
    this.#waitingCommits += commits;
    this.#waitingIds += ids;
    return Math.max(this.#waitingCommits, this.#waitingIds) >= WAITING_MAX;
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
    const entries: EntryCells[] = [];
    const marks: MarkCells[] = [];
    let last = this.#last ?? this.#statements.place();
    let isEnd = false;
    while (!isEnd && entries.length + marks.length < STEP_MAX) {
      const rows = this.#statements.next.all(last, READ_ROWS);
      for (const stored of rows) last = addEntries(stored, entries, marks);
      isEnd = rows.length < READ_ROWS;
    }
    // All of them could be read, so a step that is repeated leaves none out.
    this.#isEnd = isEnd;
    if (entries.length > 0) this.#last = last;
    this.#waitingCommits = this.#isEnd ? 0 : Math.max(0, this.#waitingCommits - entries.length);
    this.#waitingIds = this.#isEnd ? 0 : Math.max(0, this.#waitingIds - marks.length);
    this.#entries.add(entries);
    this.#marks.add(marks);
    const isEnough = this.#entries.size + this.#marks.size >= BATCH_MAX;
    this.#isRead = (this.#isEnd || isEnough) && this.#last !== null;
  }

  /** Stores the next entries of the batch, and with the last of them the place of its last row. */
  #store(last: number): void {
    const { entry, mark, move } = this.#statements;
    const entries = this.#entries.next(STEP_MAX);
    const marks = this.#marks.next(STEP_MAX);
    const isLast = entries.length === this.#entries.size && marks.length === this.#marks.size;
    this.#connection.unsynced(() => {
      for (const cells of entries) entry.run(...cells);
      for (const cells of marks) mark.run(...cells);
      if (isLast) move.run(last);
    });
    this.#entries.remove();
    this.#marks.remove();
    if (!isLast) return;
    this.#last = null;
    this.#isRead = false;
  }
}

/** Adds the entries and dedup ids of a row of the ledger, and returns its number. */
function addEntries(stored: unknown, entries: EntryCells[], marks: MarkCells[]): number {
  const { row, heads } = parseHeads(stored);
  heads.forEach(({ actor, seq, linesTo, marks: ids }, nth) => {
    entries.push([actor, seq, row, nth, linesTo]);
    for (const mark of ids) marks.push([mark, actor, seq]);
  });
  return row;
}

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
