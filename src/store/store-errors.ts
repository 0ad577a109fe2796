// The failures of a store that its callers tell apart. It knows nothing of what was asked of the store.

/** Thrown when the store's queue is full. Nothing was done; a later retry may succeed. */
export class StoreBusyError extends Error {
  override readonly name = "StoreBusyError";
}

/**
 * Thrown when the store misses its deadline. The write may have been applied, or may still be; sending it
 * again is safe.
 */
export class StoreTimeoutError extends Error {
  override readonly name = "StoreTimeoutError";
}

/**
 * Thrown when the store can write nothing until the process restarts. Its message may be shown to the
 * operator.
 */
export class StoreLostError extends Error {
  override readonly name = "StoreLostError";
}
