// Virtual time: a heap of timers, and nothing else that passes. Between two timers every microtask has run.
//
// Nothing real may be awaited inside a simulation: promises then settle in one order only, and the same seed makes the
// same run. Each process (a node, the clients) has a clock of its own, which dies with it.

import { drainMicrotasks } from "bun:jsc";
import type { Clock } from "../../src/base/clock.ts";

/** 2026-03-30, shortly before a month ends: days and months change in many runs. */
const START = Date.UTC(2026, 2, 30, 23, 58, 0);

/** A wait with less than this left is over, and each wait that is set takes at least this long: to add less to virtual time may not change it. */
const RESOLUTION_MS = 1e-6;

/** How a process's clock differs from the world's. */
export interface Drift {
  /** Monotonic ms per ms of the world. */
  readonly rate: number;
  /** ms: business time is off by this. */
  readonly skewMs: number;
}

export interface ProcessClock extends Clock {
  /** Nothing of it runs for so long. `asleep`: monotonic time stands still meanwhile, as in a machine that is suspended. */
  freeze(ms: number, asleep: boolean): void;
  frozen(): boolean;
  /** Sets its wall clock, off by so many ms. */
  skew(ms: number): void;
  /** None of its timers fires any more. */
  kill(): void;
}

export interface Timeline {
  /** Virtual ms since the start. */
  now(): number;
  /** Steps business time forward; timers do not notice. */
  step(ms: number): void;
  process(drift?: Drift): ProcessClock;
  /** Fires timers in order until virtual time `until`, or until `done`. Synchronous. */
  run(until: number, done?: () => boolean): void;
}

interface Timer {
  at: number;
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
    process({ rate, skewMs }: Drift = { rate: 1, skewMs: 0 }) {
      let dead = false;
      let skewed = skewMs;
      /** World ms until which nothing of it runs, and how much of the time gone by it slept through. */
      let frozenUntil = 0;
      let sleepsSince: number | null = null;
      let slept = 0;
      const frozen = () => frozenUntil > now;
      const asleep = () => (sleepsSince === null ? 0 : Math.min(now, frozenUntil) - sleepsSince);
      const mono = () => (now - slept - asleep()) * rate;

      function wake(): void {
        slept += asleep();
        sleepsSince = null;
      }
      function set(timer: Timer, due: number, fn: () => void): void {
        timer.fn = () => {
          if (dead) return;
          if (sleepsSince !== null && !frozen()) wake();
          const waitMs = frozen() ? frozenUntil - now : (due - mono()) / rate;
          // What was due while it slept is late by as much; rounding is none.
          if (waitMs < RESOLUTION_MS) return fn();
          set(timer, due, fn);
          timer.at = now + waitMs;
          push(timer);
        };
      }
      return {
        wall: () => START + Math.floor(now + stepped + skewed),
        mono,
        frozen,
        after(ms, fn) {
          const waitMs = ms > 0 ? Math.max(RESOLUTION_MS, ms) : 0;
          const timer: Timer = { at: now + waitMs / rate, order: order++, fn: null };
          set(timer, mono() + waitMs, fn);
          push(timer);
          return () => {
            timer.fn = null;
          };
        },
        endOfTurn(fn) {
          this.after(0, fn);
        },
        freeze(ms, isAsleep) {
          if (frozen()) return;
          if (sleepsSince !== null) wake();
          frozenUntil = now + ms;
          sleepsSince = isAsleep ? now : null;
        },
        skew(ms) {
          skewed = ms;
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
