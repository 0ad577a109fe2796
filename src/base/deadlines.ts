// Deadlines that share one coarse tick instead of a timer each, because each request sets several and nearly
// all are canceled. A deadline comes at most two ticks late and never early, so this is for long waits only.

export const TICK_MS = 50;

export interface Deadlines {
  /** Calls `fn` once after about `ms` milliseconds. Returns a function that cancels it. */
  after(ms: number, fn: () => void): () => void;
}

/**
 * Creates deadlines over `now`, which returns monotonic milliseconds. Its interval timer stops when no
 * deadline is set.
 */
export function createDeadlines(now: () => number): Deadlines {
  /** The functions to call, by the tick at which they are due. */
  const due = new Map<number, Set<() => void>>();
  let timer: ReturnType<typeof setInterval> | null = null;
  let seen = tickOf(now());

  function tick(): void {
    const current = tickOf(now());
    // After a late tick (a busy or suspended process) everything that became due meanwhile runs.
    for (; seen < current; seen++) {
      const come = due.get(seen);
      if (come === undefined) continue;
      due.delete(seen);
      for (const fn of come) fn();
    }
    if (due.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  }

  return {
    after(ms, fn) {
      const at = tickOf(now() + ms);
      if (timer === null) {
        seen = tickOf(now());
        timer = setInterval(tick, TICK_MS);
      }
      let set = due.get(at);
      if (set === undefined) {
        set = new Set();
        due.set(at, set);
      }
      // A new closure is stored, because the same function may be set twice.
      const call = () => fn();
      set.add(call);
      return () => {
        if (set.delete(call) && set.size === 0 && due.get(at) === set) due.delete(at);
      };
    },
  };
}

const tickOf = (ms: number): number => Math.floor(ms / TICK_MS);
