// The scan after a crash loads many actors. Each begins in a turn of the event loop of its own, so that requests and probes of
// health are answered meanwhile, whatever the store does at once.

import { expect, test } from "bun:test";
import { realClock } from "../../../src/base/clock.ts";
import { silent } from "../../../src/base/log.ts";
import { createRecoveryScan } from "../../../src/runtime/cluster/recovery-scan.ts";

test("each actor is loaded in a turn of its own", async () => {
  const names = Array.from({ length: 50 }, (_, i) => `account/${i}`);
  let turn = 0;
  const count = () => {
    turn++;
    ticking = setImmediate(count);
  };
  let ticking = setImmediate(count);
  const loadedIn: number[] = [];
  const scan = createRecoveryScan({
    store: { actorsToRecover: async () => names, appendsOutliveSender: false },
    clock: realClock(),
    limits: { loads: 64 },
    log: silent,
    placement: { node: () => "a", ownerOf: () => ({ node: "a", epoch: 1 }) },
    // As of a store whose reads are at hand.
    ensureLoaded: async () => void loadedIn.push(turn),
    draining: () => false,
  } as unknown as Parameters<typeof createRecoveryScan>[0]);
  await scan.scan([1], 0);
  clearImmediate(ticking);
  expect(loadedIn).toHaveLength(names.length);
  expect(new Set(loadedIn).size).toBe(names.length);
  expect(scan.isUnfinished()).toBe(false);
});
