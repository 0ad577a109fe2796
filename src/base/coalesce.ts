// Work that many ask for at once and that serves all of them together. It knows nothing of what the work is.

/**
 * The work, one run at a time: who asks while it runs gets the next run, together with everybody else who waits. So each
 * gets a run that began after it asked, and however many ask, at most one run is under way and one to come.
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
