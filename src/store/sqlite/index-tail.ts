// The commits of the ledger that the table `commitIndex` does not have yet, in memory: those of the rows behind its place. Their
// heads are read when a commit is looked for, each row once. They are some 2,000 at most, since appends advance the index
// (projections.ts). It never writes.

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

const NONE: readonly TailEntry[] = [];

/** The tail as a connection sees it. Call `refresh` before each look-up. */
export class IndexTail {
  readonly #place;
  readonly #behind;
  /** The entries by row, in the order of the ledger. */
  readonly #rows = new Map<number, readonly TailEntry[]>();
  readonly #byActor = new Map<string, TailEntry[]>();
  readonly #byMark = new Map<string, TailEntry[]>();
  /** The last row that was read. */
  #last = 0;

  constructor(connection: SqliteConnection) {
    this.#place = projectedRow(connection, "commitIndex");
    this.#behind = connection.prepare<[number]>("SELECT row, heads FROM ledger WHERE row > ? ORDER BY row");
  }

  /** Drops what the index has meanwhile, and reads the rows that are new. */
  refresh(): void {
    // The place comes first: what is indexed in between is in both.
    const place = this.#place();
    this.#dropTo(place);
    for (const stored of this.#behind.all(Math.max(this.#last, place))) {
      const { row, heads } = parseHeads(stored);
      const entries = heads.map(({ actor, seq, linesTo, marks }, nth) => ({
        actor,
        seq,
        row,
        nth,
        linesTo,
        marks,
      }));
      for (const entry of entries) {
        listOf(this.#byActor, entry.actor).push(entry);
        for (const mark of entry.marks) listOf(this.#byMark, mark).push(entry);
      }
      this.#rows.set(row, entries);
      this.#last = row;
    }
  }

  /** Forgets everything, because a transaction that was read from has been undone. */
  clear(): void {
    for (const map of [this.#rows, this.#byActor, this.#byMark]) map.clear();
    this.#last = 0;
  }

  /** The commits of an actor, in the order in which they were stored. */
  ofActor(actor: string): readonly TailEntry[] {
    return this.#byActor.get(actor) ?? NONE;
  }

  /** The commits that carry a dedup id. */
  ofMark(mark: string): readonly TailEntry[] {
    return this.#byMark.get(mark) ?? NONE;
  }

  /** The actors that have commits here. */
  actors(): Iterable<string> {
    return this.#byActor.keys();
  }

  entries(): readonly TailEntry[] {
    return [...this.#rows.values()].flat();
  }

  /** Drops the rows up to one. Each list has its entries in the order of the rows. */
  #dropTo(place: number): void {
    const [actors, marks] = [new Set<string>(), new Set<string>()];
    for (const [row, entries] of this.#rows) {
      if (row > place) break;
      this.#rows.delete(row);
      for (const entry of entries) {
        actors.add(entry.actor);
        for (const mark of entry.marks) marks.add(mark);
      }
    }
    for (const actor of actors) dropList(this.#byActor, actor, place);
    for (const mark of marks) dropList(this.#byMark, mark, place);
  }
}

function listOf(lists: Map<string, TailEntry[]>, key: string): TailEntry[] {
  const known = lists.get(key);
  if (known !== undefined) return known;
  const list: TailEntry[] = [];
  lists.set(key, list);
  return list;
}

function dropList(lists: Map<string, TailEntry[]>, key: string, place: number): void {
  const list = lists.get(key) ?? [];
  const kept = list.findIndex(({ row }) => row > place);
  if (kept === -1) lists.delete(key);
  else list.splice(0, kept);
}
