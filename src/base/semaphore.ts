// A semaphore with a FIFO queue: `permits` tasks run at once, `queueMax` wait in order, further ones are
// rejected. It knows nothing of what the tasks do.

import { type CancelSignal, unlessAborted } from "./cancellation.ts";

/** Thrown when the queue is full. The task was not started. */
export class QueueFullError extends Error {
  override readonly name = "QueueFullError";
}

/** Thrown for tasks that are queued when `close` is called, and for all later ones. */
class SemaphoreClosedError extends Error {
  override readonly name = "SemaphoreClosedError";
}

interface Waiter {
  start(): void;
  reject(error: Error): void;
}

/** Bounds how many tasks run and wait; see the header of this file. */
export class Semaphore {
  private readonly waiting = new Set<Waiter>();
  private running = 0;
  /** Resolves the promise of `close`; null while the semaphore is open. */
  private closed: (() => void) | null = null;

  /** `queueMax` is unbounded by default, for callers that are few by themselves. */
  constructor(
    private readonly permits: number,
    private readonly queueMax: number = Number.POSITIVE_INFINITY,
  ) {}

  /**
   * Runs a task when a permit is free. Rejects with `QueueFullError`, `SemaphoreClosedError`, what the task
   * throws, or the signal's reason as soon as it aborts. An aborted task that is queued is removed; one that
   * runs keeps its permit until it ends.
   */
  async run<T>(task: () => Promise<T>, signal?: CancelSignal): Promise<T> {
    if (this.closed !== null) throw new SemaphoreClosedError("the semaphore is closed");
    signal?.throwIfAborted();
    await this.acquire(signal);
    if (signal?.aborted) {
      this.release();
      throw signal.reason;
    }
    const work = task().finally(() => this.release());
    return signal === undefined ? work : unlessAborted(work, signal);
  }

  /** Rejects queued and further tasks. Resolves when the running ones have ended. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.closed = resolve;
      for (const { reject } of this.waiting) reject(new SemaphoreClosedError("the semaphore is closed"));
      this.waiting.clear();
      if (this.running === 0) resolve();
    });
  }

  private acquire(signal?: CancelSignal): Promise<void> | undefined {
    if (this.running < this.permits) {
      this.running++;
      return undefined;
    }
    if (this.waiting.size >= this.queueMax) throw new QueueFullError(`${this.queueMax} tasks wait already`);
    return new Promise<void>((resolve, reject) => {
      const waiter: Waiter = { start: resolve, reject };
      this.waiting.add(waiter);
      signal?.addEventListener("abort", () => {
        if (this.waiting.delete(waiter)) reject(signal.reason);
      });
    });
  }

  private release(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.running--;
      if (this.running === 0) this.closed?.();
      return;
    }
    // The permit passes directly to the next task, so no newcomer can take it in between.
    this.waiting.delete(next);
    next.start();
  }
}
