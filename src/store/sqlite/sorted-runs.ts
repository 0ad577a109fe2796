// Rows that are sorted some at a time and read in the order of all of them, so that no step sorts more than it was given: to sort
// ten thousand at once would hold the commits up. It knows nothing of what the rows are.

/** Cells that are ordered by the first of them. */
type Cells = readonly [text: string, ...others: (string | number)[]];

/** See the header of this file. Rows with the same text come in the order in which they were added. */
export class SortedRuns<Row extends Cells> {
  readonly #runs: Row[][] = [];
  /** By run, how many of its rows are removed, and how many were when the last call of `next` ended. */
  #removed: number[] = [];
  #read: number[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds rows. The list becomes part of this object. */
  add(rows: Row[]): void {
    if (rows.length === 0) return;
    this.#runs.push(rows.sort(byText));
    this.#removed.push(0);
    this.#size += rows.length;
  }

  /** Returns the first rows, as many as there are up to `count`. */
  next(count: number): readonly Row[] {
    const read = [...this.#removed];
    const rows: Row[] = [];
    while (rows.length < count) {
      const run = this.#runWithFirst(read);
      if (run === null) break;
      rows.push(this.#runs[run]![read[run]!++]!);
    }
    this.#read = read;
    return rows;
  }

  /** Removes the rows that the last call of `next` returned. */
  remove(): void {
    for (const [run, read] of this.#read.entries()) this.#size -= read - this.#removed[run]!;
    this.#removed = this.#read;
    if (this.#size > 0) return;
    this.#runs.length = 0;
    this.#removed = [];
    this.#read = [];
  }

  /** The run whose next row is the first of all; null when every row was read. */
  #runWithFirst(read: readonly number[]): number | null {
    let first: number | null = null;
    let least = "";
    for (let run = 0; run < read.length; run++) {
      const text = this.#runs[run]![read[run]!]?.[0];
      if (text === undefined || (first !== null && text >= least)) continue;
      first = run;
      least = text;
    }
    return first;
  }
}

const byText = ([a]: Cells, [b]: Cells): number => (a < b ? -1 : a > b ? 1 : 0);
