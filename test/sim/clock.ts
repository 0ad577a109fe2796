// Virtual time: a heap of timers, and nothing else that passes. Between two timers every microtask has run.
//
// Nothing real may be awaited inside a simulation: promises then settle in one order only, and the same seed makes the
// same run. Each process (a node, the clients) has a clock of its own, which dies with it.

import { drainMicrotasks } from "bun:jsc";
import type { Clock } from "../../src/runtime/clock.ts";

/** 2026-03-30, shortly before a month ends: days and months change in many runs. */
const START = Date.UTC(2026, 2, 30, 23, 58, 0);

export interface ProcessClock extends Clock {
  /** None of its timers fires any more. */
  kill(): void;
}

export interface Timeline {
  /** Virtual ms since the start. */
  now(): number;
  /** Steps business time forward; timers do not notice. */
  step(ms: number): void;
  process(): ProcessClock;
  /** Fires timers in order until virtual time `until`, or until `done`. Synchronous. */
  run(until: number, done?: () => boolean): void;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  fn: (() => void) | null;
}

export function createTimeline(): Timeline {
  const heap: Timer[] = [];
  let now = 0;
  let stepped = 0;
  let order = 0;

  const before = (a: Timer, b: Timer) => a.at < b.at || (a.at === b.at && a.order < b.order);

  function push(timer: Timer): void {
    let i = heap.push(timer) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!before(timer, heap[parent]!)) break;
      heap[i] = heap[parent]!;
      i = parent;
    }
    heap[i] = timer;
  }

  function pop(): Timer {
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
      if (!before(heap[child]!, last)) break;
      heap[i] = heap[child]!;
      i = child;
    }
    heap[i] = last;
    return first;
  }

  return {
    now: () => now,
    step(ms) {
      stepped += ms;
    },
    process() {
      let dead = false;
      return {
        wall: () => START + Math.floor(now + stepped),
        mono: () => now,
        after(ms, fn) {
          const timer: Timer = { at: now + Math.max(0, ms), order: order++, fn: () => !dead && fn() };
          push(timer);
          return () => {
            timer.fn = null;
          };
        },
        kill() {
          dead = true;
        },
      };
    },
    run(until, done = () => false) {
      drainMicrotasks();
      while (heap.length > 0 && heap[0]!.at <= until && !done()) {
        const timer = pop();
        if (timer.fn === null) continue;
        now = timer.at;
        timer.fn();
        drainMicrotasks();
      }
      if (!done()) now = Math.max(now, until);
    },
  };
}
