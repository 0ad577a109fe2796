// Shares runs of a task among concurrent callers. It knows nothing of what the task does.

/**
 * Wraps `work` so that one run is in flight at a time. All calls during a run share the next run. So each
 * caller gets a run that began after its call, and however many call, at most one run is in flight and one is
 * planned. Rejects as `work` does.
 */
export function coalesce<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  let next: Promise<T> | null = null;

  function run(): Promise<T> {
    next = null;
    const now = work().finally(() => {
      if (running === now) running = null;
    });
    running = now;
    return now;
  }

  return () => {
    if (next !== null) return next;
    if (running === null) return run();
    next = running.then(run, run);
    return next;
  };
}

/** Runs of a task by key: a caller joins the run of its key that has begun, so that each key has one at a time. */
export class SingleFlight<K, V> {
  readonly #running = new Map<K, Promise<V>>();

  /** Returns the running run of the key, or begins one. Rejects as `work` does. */
  run(key: K, work: () => Promise<V>): Promise<V> {
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const run = work().finally(() => this.#running.delete(key));
    this.#running.set(key, run);
    return run;
  }
}
