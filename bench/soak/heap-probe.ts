// Preloaded into the service by `npm run soak -- --heap`: once a minute it collects all garbage and writes what is left, by type
// of object, as a line of JSON to the file that SOAK_HEAP_FILE names. Collections cost time, and make the heap smaller than
// it would be.

import { heapStats } from "bun:jsc";
import { appendFileSync } from "node:fs";

const EACH_MS = 60_000;

/** What lives in the heap of the service after a collection. */
export interface LivingHeap {
  readonly bytes: number;
  /** Memory that objects hold outside of the heap. */
  readonly extraBytes: number;
  readonly rssBytes: number;
  /** Number of objects by type. */
  readonly types: Readonly<Record<string, number>>;
}

const file = process.env.SOAK_HEAP_FILE;
if (file !== undefined) {
  setInterval(() => {
    Bun.gc(true);
    const { heapSize, extraMemorySize, objectTypeCounts } = heapStats();
    const living: LivingHeap = {
      ...{ bytes: heapSize, extraBytes: extraMemorySize, types: objectTypeCounts },
      rssBytes: process.memoryUsage.rss(),
    };
    appendFileSync(file, `${JSON.stringify(living)}\n`);
  }, EACH_MS).unref();
}
