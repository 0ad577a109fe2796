// Preloaded into the service by the measure `allocations`: `GET` on the socket that ALLOCATION_PROBE names answers the number
// of objects in the heap by type. Without a collector, which the measure turns off, these are all that were ever allocated.

import { heapStats } from "bun:jsc";

/** Number of objects by type. */
export type ObjectCounts = Readonly<Record<string, number>>;

const socket = process.env.ALLOCATION_PROBE;
// Threads of the process have a heap of their own, and no probe.
if (socket !== undefined && Bun.isMainThread) {
  Bun.serve({
    unix: socket,
    fetch: () => Response.json(heapStats().objectTypeCounts satisfies ObjectCounts),
  });
}
