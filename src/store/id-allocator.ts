// Numbers for accounts, keys and the like: reserved from the store in blocks, so that most cost no round trip.
// Gaps are allowed; a number is never given twice.

import type { Store } from "./store.ts";

const BLOCK = 20;

/** A source of numbers of one counter. */
export function numbers(store: Store, counter: string): () => Promise<number> {
  let next = 0;
  let end = 0;
  let reserving: Promise<void> | null = null;
  return async () => {
    while (next >= end) {
      reserving ??= store
        .reserveIds(counter, BLOCK)
        .then((first) => {
          next = first;
          end = first + BLOCK;
        })
        .finally(() => {
          reserving = null;
        });
      await reserving;
    }
    return next++;
  };
}
