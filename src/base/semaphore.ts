// A semaphore with a FIFO queue: `permits` tasks run at once, `queueMax` wait in their order, further ones are rejected. It
// knows nothing of what the tasks do.

/** Thrown at once for a task that finds the queue full. Nothing of the task was run. */
export class QueueFullError extends Error {
  override readonly name = "QueueFullError";
}

/** Thrown for tasks that wait at `close`, and for those that come after it. */
class SemaphoreClosedError extends Error {
  override readonly name = "SemaphoreClosedError";
}

interface Waiter {
  start(): void;
  reject(error: Error): void;
}

export class Semaphore {
  private readonly waiting = new Set<Waiter>();
  private running = 0;
  /** Resolves `close`; null while it is open. */
  private closed: (() => void) | null = null;

  /** `queueMax` is unbounded by default, for callers whose own number is bounded. */
  constructor(
    private readonly permits: number,
    private readonly queueMax: number = Number.POSITIVE_INFINITY,
  ) {}

  /**
   * Runs a task when a permit is free. Rejects with `QueueFullError`, `SemaphoreClosedError`, what the task throws, or the
   * signal's reason as soon as it is aborted: a task that waits is then forgotten, one that runs keeps its permit to its end.
   */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
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

  /** Rejects the tasks that wait and all further ones; resolves when those that run have ended. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.closed = resolve;
      for (const { reject } of this.waiting) reject(new SemaphoreClosedError("the semaphore is closed"));
      this.waiting.clear();
      if (this.running === 0) resolve();
    });
  }

  private acquire(signal?: AbortSignal): Promise<void> | undefined {
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
    // Its permit is handed on, never free in between.
    this.waiting.delete(next);
    next.start();
  }
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
