// A clock that moves only when a test says so, and ids that count up. Nothing here asks the machine.

import type { Clock, Random } from "../../src/base/clock.ts";

export interface ManualClock extends Clock {
  /** Moves both times forward, running what comes due in order; resolves when nothing is left to run. */
  advance(ms: number): Promise<void>;
  /** Steps the wall alone, as an administrator or a leap would. */
  stepWall(ms: number): void;
  /** Timers that wait. */
  readonly waiting: number;
}

/** Resolves once every promise that can go on without time or I/O has done so. */
export const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

export const NOON = Date.UTC(2026, 0, 15, 12);

export function manualClock(wallMs = NOON): ManualClock {
  let mono = 1_000;
  let offset = wallMs - mono;
  let timers: { at: number; fn: () => void }[] = [];

  return {
    wall: () => mono + offset,
    mono: () => mono,
    after(ms, fn) {
      const timer = { at: mono + ms, fn };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
    endOfTurn: queueMicrotask,
    async advance(ms) {
      const until = mono + ms;
      await settled();
      for (;;) {
        const next = timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        timers = timers.filter((one) => one !== next);
        mono = Math.max(mono, next.at);
        next.fn();
        await settled();
      }
      mono = until;
      await settled();
    },
    stepWall(ms) {
      offset += ms;
    },
    get waiting() {
      return timers.length;
    },
  };
}

/** Ids in order; `below` always answers 0, so that pauses are as short as they can be. */
export function countingRandom(prefix = "id"): Random {
  let count = 0;
  return { id: () => `${prefix}-${String(++count).padStart(6, "0")}`, below: () => 0 };
}
