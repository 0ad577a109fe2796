// A histogram in plain numbers: how many values fell into each bucket, how many there were, and their sum. It knows no
// labels and no text format; the metrics do.

/** Counts values by size. */
export class Histogram {
  /** `buckets[i]` counts the values above bound `i - 1` and up to bound `i`. Values above the last bound are in none. */
  readonly buckets: number[];
  count = 0;
  sum = 0;

  /** `bounds`: upper bounds of the buckets, ascending. */
  constructor(readonly bounds: readonly number[]) {
    this.buckets = bounds.map(() => 0);
  }

  /** Counts a value. */
  observe(value: number): void {
    this.count++;
    this.sum += value;
    const { bounds } = this;
    for (let i = 0; i < bounds.length; i++) {
      if (value > bounds[i]!) continue;
      this.buckets[i]!++;
      return;
    }
  }
}
