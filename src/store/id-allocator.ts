// Allocates numbers for accounts, keys and the like. They are reserved from the store in blocks (hi/lo), so
// that most of them cost no round trip. Gaps are allowed; a number is never allocated twice.

import type { Store } from "./store.ts";

const BLOCK = 20;

/**
 * Returns a function that allocates the next number of a counter. It rejects when the store cannot reserve a
 * block.
 */
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
