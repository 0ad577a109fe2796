// Who may start: so many at once, some wait in order, the rest is refused at once. Knows nothing of what is done.

import { StoreBusy } from "./store.ts";

export interface Turns {
  /**
   * Runs `task` when its turn has come. Rejects with `StoreBusy` when too many wait, and with the signal's reason as
   * soon as it is aborted: one that waits is then forgotten, one that runs keeps its place until it ends.
   */
  run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Refuses those who wait and all who come; resolves when those that run have ended. */
  close(): Promise<void>;
}

interface Waiter {
  start(): void;
  refuse(error: Error): void;
}

export function createTurns({ atOnce, waitingMost }: { atOnce: number; waitingMost: number }): Turns {
  const waiting = new Set<Waiter>();
  let running = 0;
  let closed: (() => void) | null = null;

  function end(): void {
    const [next] = waiting;
    if (next === undefined) {
      running--;
      if (running === 0) closed?.();
      return;
    }
    // Its place is handed on, never free in between.
    waiting.delete(next);
    next.start();
  }

  function turn(signal?: AbortSignal): Promise<void> | undefined {
    if (running < atOnce) {
      running++;
      return undefined;
    }
    if (waiting.size >= waitingMost) throw new StoreBusy(`${waitingMost} wait for their turn already`);
    return new Promise<void>((resolve, reject) => {
      const waiter: Waiter = { start: resolve, refuse: reject };
      waiting.add(waiter);
      signal?.addEventListener("abort", () => {
        if (waiting.delete(waiter)) reject(signal.reason);
      });
    });
  }

  return {
    async run(task, signal) {
      if (closed !== null) throw new Error("the store is closed");
      signal?.throwIfAborted();
      await turn(signal);
      if (signal?.aborted) {
        end();
        throw signal.reason;
      }
      const work = task().finally(end);
      return signal === undefined ? work : unlessAborted(work, signal);
    },
    close() {
      return new Promise((resolve) => {
        closed = resolve;
        for (const { refuse } of waiting) refuse(new Error("the store is closed"));
        waiting.clear();
        if (running === 0) resolve();
      });
    },
  };
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort);
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
