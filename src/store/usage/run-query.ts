// Limits how many sums over usage documents a store runs at once, because each of them reads the disk for
// long.

import { QueueFullError, type Semaphore } from "../../base/semaphore.ts";
import { StoreBusyError } from "../store-errors.ts";

/**
 * Runs a query under its store's semaphore. Rejects with `StoreBusyError` when the queue is full, otherwise
 * as `Semaphore.run`.
 */
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
