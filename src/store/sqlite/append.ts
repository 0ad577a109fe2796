// Appends to the ledger: the transaction that stores commits.
//
// 1. `commitCells` turns the commits of a call into cells at once, so that later changes by the caller have no effect,
//    and a body that is not plain data fails for its caller alone.
// 2. When a stored commit has the same nonce, it is our own earlier attempt: committed. With another nonce:
//    lost.
// 3. The outcome of one commit does not depend on the others. An error undoes the whole transaction and is
//    thrown.
// 4. The index of commits is written behind them, so no key of a table refuses a second commit of a seq. It is refused
//    here, under the write lock of the transaction: the newest seqs of the actors that have committed lately are known, and
//    so those of all commits that are not indexed yet; a commit that is not newer is looked for. What is known is forgotten
//    when another connection has written: only one that ignores the lock of the database (`lockDatabase`) would append.

import { StoredRow } from "../stored-rows.ts";
import { CommitIndex } from "./commit-index.ts";
import type { SqliteConnection } from "./connection.ts";
import { actorOfCells, COMMIT_CELLS, headOfCells, LedgerRows, seqOfCells } from "./ledger-rows.ts";
import type { Cells, CommitOutcome } from "./write-messages.ts";

/** Actors whose newest seq is known. Of more, those that have not committed for the longest time are looked up. */
const NEWEST_MAX = 65_536;

/**
 * Returns a function that stores the commits of a flat list of cells in one transaction, and returns one letter
 * per commit (see `OUTCOMES`). It throws when the transaction fails: after a lock (`isBusy`) nothing is stored,
 * after any other error the commits may be.
 */
export function appending(connection: SqliteConnection): (cells: Cells) => string {
  const appender = new Appender(connection);
  return (cells) => appender.append(cells);
}

/** The appends of one connection. */
class Appender {
  readonly #connection: SqliteConnection;
  readonly #index: CommitIndex;
  readonly #insert;
  readonly #versionOf;
  /** Changes when another connection has written. */
  #version = 0;
  /** The newest seq by actor; the actor that has committed last is the last. */
  readonly #newest = new Map<string, number>();
  /** Whether it has the actors of all commits that are not indexed. */
  #hasTail = false;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#index = new CommitIndex(connection);
    this.#insert = connection.prepare("INSERT INTO ledger (at, v, heads, bodies) VALUES (?, ?, ?, ?)");
    this.#versionOf = connection.prepare("PRAGMA data_version");
  }

  append(cells: Cells): string {
    try {
      return this.#connection.transaction(() => this.#store(cells));
    } catch (error) {
      this.#forget();
      this.#index.clear();
      throw error;
    }
  }

  #store(cells: Cells): string {
    const version = new StoredRow("data_version", this.#versionOf.get()).integer("data_version");
    if (version !== this.#version) this.#forget();
    this.#version = version;
    let outcomes = "";
    let rows = new LedgerRows();
    for (let from = 0; from < cells.length; from += COMMIT_CELLS) {
      const [actor, seq] = [actorOfCells(cells, from), seqOfCells(cells, from)];
      if (seq <= this.#newestOf(actor)) {
        // What it is compared with may be in the rows of this transaction.
        this.#insertRows(rows);
        rows = new LedgerRows();
        const stored = this.#index.find(actor, seq);
        if (stored !== null) {
          const isOurs = this.#index.head(stored).by === headOfCells(cells, from).by;
          outcomes += (isOurs ? "c" : "l") satisfies CommitOutcome;
          continue;
        }
      } else this.#setNewest(actor, seq);
      rows.add(cells, from);
      outcomes += "c" satisfies CommitOutcome;
    }
    this.#insertRows(rows);
    return outcomes;
  }

  #insertRows(rows: LedgerRows): void {
    rows.end();
    for (const row of rows.complete) this.#insert.run(...row);
  }

  /** The highest seq that an actor has in the ledger, or in this transaction. */
  #newestOf(actor: string): number {
    this.#readTail();
    const known = this.#newest.get(actor);
    if (known !== undefined) return known;
    // As long as none was forgotten, an actor that is not known has no commits that the index lacks.
    const hasAll = this.#newest.size < NEWEST_MAX;
    const seq = hasAll ? this.#index.newestIndexed(actor) : (this.#index.newest(actor)?.seq ?? 0);
    this.#setNewest(actor, seq);
    return seq;
  }

  /** Reads the newest seqs of the commits that are not indexed, unless they are known. */
  #readTail(): void {
    if (this.#hasTail) return;
    for (const [actor, seq] of this.#index.newestOfTail()) {
      this.#setNewest(actor, Math.max(seq, this.#index.newestIndexed(actor)));
    }
    this.#index.clear();
    this.#hasTail = true;
  }

  #forget(): void {
    this.#newest.clear();
    this.#hasTail = false;
  }

  #setNewest(actor: string, seq: number): void {
    this.#newest.delete(actor);
    this.#newest.set(actor, seq);
    if (this.#newest.size <= NEWEST_MAX) return;
    const [oldest] = this.#newest.keys();
    this.#newest.delete(oldest!);
  }
}
