// Rows that are sorted some at a time and read in the order of all of them, so that no step sorts more than it was given: to sort
// ten thousand at once would hold the commits up. It knows nothing of what the rows are.

/** Cells that are ordered by the first of them. */
type Cells = readonly [text: string, ...others: (string | number)[]];

/** What is left of a run: its rows from one of them on. */
interface RunTail<Row extends Cells> {
  readonly rows: readonly Row[];
  readonly from: number;
  /** The number of the run, in the order in which runs were added. Of equal texts that of the earlier run comes first. */
  readonly nth: number;
}

/** See the header of this file. Rows with the same text come in the order in which they were added. */
export class SortedRuns<Row extends Cells> {
  /** What is not removed, in the order of the next rows. */
  #tails: RunTail<Row>[] = [];
  /** The same behind the rows that the last call of `next` returned, and how many these were. */
  #tailsAfterNext: RunTail<Row>[] = [];
  #returned = 0;
  #size = 0;
  #added = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds rows. The list becomes part of this object. */
  add(rows: Row[]): void {
    if (rows.length === 0) return;
    insert(this.#tails, { rows: rows.sort(byText), from: 0, nth: this.#added++ });
    this.#size += rows.length;
  }

  /** Returns the first rows, as many as there are up to `count`. */
  next(count: number): readonly Row[] {
    const tails = [...this.#tails];
    const found: Row[] = [];
    while (found.length < count) {
      const first = tails.shift();
      if (first === undefined) break;
      const { rows, nth } = first;
      const last = Math.min(rows.length, first.from + count - found.length);
      let from = first.from;
      // Equal texts are often neighbors in a run, so the next row is mostly of the same run.
      do found.push(rows[from++]!);
      while (from < last && (tails.length === 0 || isBefore(rows[from]![0], nth, tails[0]!)));
      if (from < rows.length) insert(tails, { rows, from, nth });
    }
    this.#tailsAfterNext = tails;
    this.#returned = found.length;
    return found;
  }

  /** Removes the rows that the last call of `next` returned. */
  remove(): void {
    this.#tails = this.#tailsAfterNext;
    this.#size -= this.#returned;
    this.#returned = 0;
  }
}

/** Puts a tail in its place among others that are in order. */
function insert<Row extends Cells>(tails: RunTail<Row>[], tail: RunTail<Row>): void {
  const text = tail.rows[tail.from]![0];
  let [low, high] = [0, tails.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(text, tail.nth, tails[middle]!)) high = middle;
    else low = middle + 1;
  }
  tails.splice(low, 0, tail);
}

/** Whether a row with this text, of the run with this number, comes before the next row of `tail`. */
function isBefore<Row extends Cells>(text: string, nth: number, tail: RunTail<Row>): boolean {
  const next = tail.rows[tail.from]![0];
  return text < next || (text === next && nth < tail.nth);
}

const byText = ([a]: Cells, [b]: Cells): number => (a < b ? -1 : a > b ? 1 : 0);
