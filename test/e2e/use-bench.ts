// Set-up of a test file that needs a bench: started before its tests, closed after them. Asserts nothing itself, but for
// `expectError`, which says in one line what most refusals of the service have to look like.

import { afterAll, beforeAll, expect } from "bun:test";
import { type Provider, startProvider } from "../provider/provider.ts";
import { type Answer, type Bench, type BenchOptions, startBench } from "./harness.ts";
import { type ProcessBench, processBench } from "./process.ts";
import { HeldTime } from "./timers.ts";

/** A bound of waiting: a busy machine takes its time to start a process. */
const START_MS = 90_000;

/**
 * A value that is built before the tests of the file or group that asks for it. Values are built in the order in which they
 * are asked for, so one may need another. Their fields can be read inside of tests, not while tests are declared.
 */
export function prepared<T extends object>(build: () => T | Promise<T>): T {
  const value = {} as T;
  beforeAll(async () => {
    Object.assign(value, await build());
  });
  return value;
}

/** The bench of a test file. Options that are only known before the tests, such as an address, come from a function. */
export function useBench(options: BenchOptions | (() => BenchOptions) = {}): Bench {
  const bench = prepared(() => startBench(typeof options === "function" ? options() : options));
  afterAll(() => bench.close());
  return bench;
}

/** The same with the service as a process of its own, which a test may end and start again. */
export function useProcessBench(): { readonly bench: ProcessBench; readonly provider: Provider } {
  const provider = startProvider();
  const bench = processBench();
  beforeAll(() => bench.start(), START_MS);
  afterAll(async () => {
    await bench.close();
    provider.close();
  });
  return { bench, provider };
}

/** Time in the hands of the tests of a file, from before its bench is started until before that is closed. */
export function useHeldTime(): HeldTime {
  const time = new HeldTime();
  afterAll(() => time.release());
  return time;
}

/** Asserts that an answer is an error of this status and code. */
export function expectError(answer: Pick<Answer, "status" | "body">, status: number, code: string): void {
  expect([answer.status, answer.body?.error?.code]).toEqual([status, code]);
}
