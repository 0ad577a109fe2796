// Rows that are sorted some at a time and read in the order of all of them, so that no step sorts more than it was given: to sort
// ten thousand at once would hold the commits up. It knows nothing of what the rows are.

/** Cells that are ordered by the first of them. */
type Cells = readonly [text: string, ...others: (string | number)[]];

/** A run of sorted rows from one of them on. Of two that have the same next text, the older one comes first. */
interface Rest<Row extends Cells> {
  readonly rows: readonly Row[];
  readonly from: number;
  readonly age: number;
}

/** See the header of this file. Rows with the same text come in the order in which they were added. */
export class SortedRuns<Row extends Cells> {
  /** What is not removed yet, in the order of its next rows. */
  #rests: Rest<Row>[] = [];
  /** What is left behind the rows that the last call of `next` returned, and how many these were. */
  #left: Rest<Row>[] = [];
  #returned = 0;
  #size = 0;
  #added = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds rows. The list becomes part of this object. */
  add(rows: Row[]): void {
    if (rows.length === 0) return;
    insert(this.#rests, { rows: rows.sort(byText), from: 0, age: this.#added++ });
    this.#size += rows.length;
  }

  /** Returns the first rows, as many as there are up to `count`. */
  next(count: number): readonly Row[] {
    const left = [...this.#rests];
    const found: Row[] = [];
    while (found.length < count) {
      const first = left.shift();
      if (first === undefined) break;
      const { rows, age } = first;
      const last = Math.min(rows.length, first.from + count - found.length);
      let from = first.from;
      // Rows of an actor stand side by side, so most are behind one of the same run.
      do found.push(rows[from++]!);
      while (from < last && (left.length === 0 || isBefore(rows[from]![0], age, left[0]!)));
      if (from < rows.length) insert(left, { rows, from, age });
    }
    this.#left = left;
    this.#returned = found.length;
    return found;
  }

  /** Removes the rows that the last call of `next` returned. */
  remove(): void {
    this.#rests = this.#left;
    this.#size -= this.#returned;
    this.#returned = 0;
  }
}

/** Puts a rest in its place among others that are in order. */
function insert<Row extends Cells>(rests: Rest<Row>[], rest: Rest<Row>): void {
  const text = rest.rows[rest.from]![0];
  let [low, high] = [0, rests.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(text, rest.age, rests[middle]!)) high = middle;
    else low = middle + 1;
  }
  rests.splice(low, 0, rest);
}

/** Whether a row with this text, of a run of this age, comes before the next row of `rest`. */
function isBefore<Row extends Cells>(
  text: string,
  age: number,
  { rows, from, age: other }: Rest<Row>,
): boolean {
  const next = rows[from]![0];
  return text < next || (text === next && age < other);
}

const byText = ([a]: Cells, [b]: Cells): number => (a < b ? -1 : a > b ? 1 : 0);
