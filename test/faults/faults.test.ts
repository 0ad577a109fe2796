// The bench as tests: all cases run side by side once, then each is a test of its own.

import { beforeAll, expect, test } from "bun:test";
import { type Outcome, runBench } from "./bench.ts";
import { casesOf, titleOf } from "./rows.ts";
import { ROWS } from "./table.ts";

const CASES = casesOf(ROWS);
const BENCH_MOST_MS = 900_000;

let outcome: Outcome;
beforeAll(async () => {
  outcome = await runBench(CASES);
}, BENCH_MOST_MS);

test.each(CASES.map((one, nth) => [titleOf(one), nth] as const))("%s", (_title, nth) => {
  expect(outcome.results[nth]!.wrong).toEqual([]);
});

test("all of them together: the ledger adds up, nothing is under way, held or late", () => {
  expect(outcome.wrong).toEqual([]);
  expect(outcome.charged).toBeGreaterThan(0);
});
