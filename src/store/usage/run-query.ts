// Sums over usage documents hold the disk for long, so a store runs few of them at once. Says what the store's contract says
// where too many wait.

import { QueueFullError, type Semaphore } from "../../base/semaphore.ts";
import { StoreBusyError } from "../store.ts";

/** Runs a query under its store's semaphore. Rejects with `StoreBusyError` where the queue is full, else as `Semaphore.run`. */
export async function runQuery<T>(
  queries: Semaphore,
  query: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  try {
    return await queries.run(query, signal);
  } catch (error) {
    if (error instanceof QueueFullError) throw new StoreBusyError(`${error.message}: ask again later`);
    throw error;
  }
}
