// The commits of the ledger that the table `commitIndex` does not have yet, in memory: those of the rows behind its place. Their
// heads are read when a commit is looked for, each row once. There are those of a second and a little more, with
// their dedup ids some 50,000 at most (index-projection.ts). It never writes.

import type { SqliteConnection } from "./connection.ts";
import { type CommitHead, parseHeads } from "./ledger-rows.ts";
import { projectedRow } from "./ledger-walk.ts";

/** Where a commit is: the nth of a row of the ledger. */
export interface IndexEntry {
  readonly actor: string;
  readonly seq: number;
  readonly row: number;
  readonly nth: number;
  readonly linesTo: number;
}

/** A commit of the tail. */
export interface TailEntry extends IndexEntry, Pick<CommitHead, "marks"> {}

/** Rows that one step of `catchUp` reads, each with some twenty commits: a millisecond. */
const STEP_ROWS = 32;
/** Commits of a generation, about. */
const GENERATION_COMMITS = 2_048;
const NO_LIMIT = -1;

const NONE: readonly TailEntry[] = [];

/** Commits of adjacent rows, which leave the memory together once the index has all of them. */
class Generation {
  readonly entries: TailEntry[] = [];
  readonly byActor = new Map<string, TailEntry[]>();
  readonly byMark = new Map<string, TailEntry[]>();
  /** The last row that was added. */
  last = 0;

  add(row: number, heads: readonly CommitHead[]): void {
    heads.forEach(({ actor, seq, linesTo, marks }, nth) => {
      const entry = { actor, seq, row, nth, linesTo, marks };
      this.entries.push(entry);
      listOf(this.byActor, actor).push(entry);
      for (const mark of marks) listOf(this.byMark, mark).push(entry);
    });
    this.last = row;
  }
}

/** The tail as a connection sees it. Call `refresh` before each look-up. What the index has already may still be in it. */
export class IndexTail {
  readonly #place;
  readonly #behind;
  /** In the order of the ledger. */
  #generations: Generation[] = [];
  /** The last row that was read. */
  #last = 0;

  constructor(connection: SqliteConnection) {
    this.#place = projectedRow(connection, "commitIndex");
    this.#behind = connection.prepare<[number, number]>(
      "SELECT row, heads FROM ledger WHERE row > ? ORDER BY row LIMIT ?",
    );
  }

  /** Reads the rows that are new, however many they are. */
  refresh(): void {
    this.#read(NO_LIMIT);
  }

  /** Reads the rows that are new in steps, so that `refresh` finds few of them. */
  async catchUp(): Promise<void> {
    while (this.#read(STEP_ROWS) === STEP_ROWS) await new Promise(setImmediate);
  }

  /** Forgets everything, because a transaction that was read from has been undone. */
  clear(): void {
    this.#generations = [];
    this.#last = 0;
  }

  /** The commits of an actor, in the order in which they were stored. */
  ofActor(actor: string): readonly TailEntry[] {
    return this.#joined(({ byActor }) => byActor.get(actor));
  }

  /** The commits that carry a dedup id. */
  ofMark(mark: string): readonly TailEntry[] {
    return this.#joined(({ byMark }) => byMark.get(mark));
  }

  /** The actors that have commits here. */
  actors(): ReadonlySet<string> {
    return new Set(this.#generations.flatMap(({ byActor }) => [...byActor.keys()]));
  }

  entries(): readonly TailEntry[] {
    return this.#joined(({ entries }) => entries);
  }

  /** Drops what the index has meanwhile, and reads rows that are new. Returns how many it has read. */
  #read(limit: number): number {
    // The place comes first: what is indexed in between is in both.
    const place = this.#place();
    while ((this.#generations[0]?.last ?? Number.POSITIVE_INFINITY) <= place) this.#generations.shift();
    const rows = this.#behind.all(Math.max(this.#last, place), limit);
    for (const stored of rows) {
      const { row, heads } = parseHeads(stored);
      this.#newest().add(row, heads);
      this.#last = row;
    }
    return rows.length;
  }

  /** The generation that takes the next row. */
  #newest(): Generation {
    const newest = this.#generations.at(-1);
    if (newest !== undefined && newest.entries.length < GENERATION_COMMITS) return newest;
    const next = new Generation();
    this.#generations.push(next);
    return next;
  }

  #joined(listIn: (generation: Generation) => readonly TailEntry[] | undefined): readonly TailEntry[] {
    const lists = this.#generations.flatMap((generation) => {
      const list = listIn(generation);
      return list === undefined ? [] : [list];
    });
    return lists.length > 1 ? lists.flat() : (lists[0] ?? NONE);
  }
}

function listOf(lists: Map<string, TailEntry[]>, key: string): TailEntry[] {
  const known = lists.get(key);
  if (known !== undefined) return known;
  const list: TailEntry[] = [];
  lists.set(key, list);
  return list;
}
