// The shared tick of long waits: never early, at most two ticks late, and nothing left behind by what was cancelled. The tick
// and the clock are the test's.

import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { createDeadlines, TICK_MS } from "../../src/base/deadlines.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Deadlines on a clock that goes on by the millisecond, and the ticks with it. */
function rig(beginsMs = 1_003) {
  let nowMs = beginsMs;
  const deadlines = createDeadlines(() => nowMs);
  return {
    ...deadlines,
    now: () => nowMs - beginsMs,
    pass(ms: number) {
      for (let i = 0; i < ms; i++) {
        nowMs++;
        jest.advanceTimersByTime(1);
      }
    },
    /** A busy process: the time is over, and its timers have not run. */
    stall(ms: number) {
      nowMs += ms;
    },
  };
}

test.each(Array.from({ length: TICK_MS }, (_, phase) => 1_000 + phase))(
  "a deadline is never early, and at most two ticks late, whenever it is set: at %d",
  (beginsMs) => {
    const { after, pass, now } = rig(beginsMs);
    const waits = [1, 49, 50, 51, 120, 199];
    const came = new Map<number, number>();
    for (const ms of waits) after(ms, () => void came.set(ms, now()));
    pass(199 + 2 * TICK_MS);
    expect([...came.keys()].sort((a, b) => a - b)).toEqual(waits);
    for (const [ms, at] of came) expect(at).toBeWithin(ms, ms + 2 * TICK_MS);
  },
);

test("a process that was busy meanwhile takes all that has come due, in order", () => {
  const { after, pass, stall } = rig();
  const came: number[] = [];
  for (const ms of [120, 10, 1_000]) after(ms, () => void came.push(ms));
  stall(400);
  expect(came).toEqual([]);
  pass(TICK_MS);
  expect(came).toEqual([10, 120]);
});

test("a cancelled deadline never comes, also when it is cancelled by another of the same tick", () => {
  const { after, pass } = rig();
  const came: string[] = [];
  const cancels: (() => void)[] = [];
  after(10, () => {
    came.push("first");
    for (const cancel of cancels) cancel();
  });
  cancels.push(after(10, () => void came.push("second")));
  pass(120);
  expect(came).toEqual(["first"]);
});

test("one function set twice comes twice", () => {
  const { after, pass } = rig();
  let times = 0;
  const count = () => void times++;
  after(5, count);
  after(5, count);
  pass(120);
  expect(times).toBe(2);
});

test("deadlines set while nothing was waited for come too, and no tick is left behind", () => {
  const { after, pass, now } = rig();
  const before = jest.getTimerCount();
  pass(3 * TICK_MS);
  const since = now();
  let at = 0;
  after(20, () => {
    at = now() - since;
  });
  expect(jest.getTimerCount()).toBe(before + 1);
  pass(3 * TICK_MS);
  expect(at).toBeWithin(20, 20 + 2 * TICK_MS);
  expect(jest.getTimerCount()).toBe(before);
});
