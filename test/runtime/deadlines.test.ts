// The shared tick of long waits: never early, at most two ticks late, and nothing left behind by what was cancelled.

import { expect, test } from "bun:test";
import { createDeadlines, TICK_MS } from "../../src/runtime/deadlines.ts";

const deadlines = createDeadlines(() => performance.now());
const elapsed = (ms: number) =>
  new Promise<number>((resolve) => {
    const since = performance.now();
    deadlines.after(ms, () => resolve(performance.now() - since));
  });

test("a deadline is never early, and at most two ticks late", async () => {
  const waits = [1, 49, 50, 51, 120, 199];
  const came = await Promise.all(waits.map(elapsed));
  for (const [i, ms] of waits.entries()) {
    expect(came[i]).toBeGreaterThanOrEqual(ms);
    // A tick of grace beyond the promise: the machine may be busy.
    expect(came[i]).toBeLessThan(ms + 3 * TICK_MS);
  }
});

test("a cancelled deadline never comes, also when it is cancelled by another of the same tick", async () => {
  const came: string[] = [];
  const cancels: (() => void)[] = [];
  deadlines.after(10, () => {
    came.push("first");
    for (const cancel of cancels) cancel();
  });
  cancels.push(deadlines.after(10, () => void came.push("second")));
  await elapsed(120);
  expect(came).toEqual(["first"]);
});

test("one function set twice comes twice", async () => {
  let times = 0;
  const count = () => void times++;
  deadlines.after(5, count);
  deadlines.after(5, count);
  await elapsed(120);
  expect(times).toBe(2);
});

test("deadlines set while nothing was waited for come too", async () => {
  await new Promise((resolve) => setTimeout(resolve, 3 * TICK_MS));
  const since = performance.now();
  await elapsed(20);
  expect(performance.now() - since).toBeLessThan(20 + 3 * TICK_MS);
});
