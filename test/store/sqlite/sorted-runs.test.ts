// Rows that are sorted some at a time come in the order in which all of them together would, and each once it was removed only.

import { expect, test } from "bun:test";
import { SortedRuns } from "../../../src/store/sqlite/sorted-runs.ts";

type Row = [text: string, nth: number];

test.each(Array.from({ length: 40 }, (_, seed) => seed))("rows are as if sorted at once, seed %p", (seed) => {
  let state = seed + 1;
  const below = (bound: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % bound;
  };
  const runs = new SortedRuns<Row>();
  for (let round = 0; round < 3; round++) {
    const all: Row[] = [];
    for (let run = below(6); run >= 0; run--) {
      const rows = Array.from({ length: below(30) }, (_, i): Row => [`k${below(20)}`, all.length + i]);
      all.push(...rows);
      runs.add([...rows]);
    }
    const sorted = all.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    const taken: Row[] = [];
    while (runs.size > 0) {
      const count = 1 + below(12);
      const rows = runs.next(count);
      expect(runs.next(count)).toEqual([...rows]);
      expect(runs.size).toBe(all.length - taken.length);
      runs.remove();
      taken.push(...rows);
    }
    expect(taken).toEqual(sorted);
    expect(runs.next(5)).toEqual([]);
  }
});
