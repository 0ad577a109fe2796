// What an earlier owner left behind: actors whose commits no snapshot covers, and those that owe something. Activating them
// is enough: replay makes the documents right and lists the debts again.
//
// A sweep looks twice, since what an owner had under way when it died may land after the first look. It goes on until the
// store answers and every actor is loaded, and ends early for shards that are not this node's any more.

import { type Clock, sleep } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { Semaphore } from "../../base/semaphore.ts";
import type { Store } from "../../store/store.ts";
import type { RuntimeLimits } from "../limits.ts";
import type { Placement } from "../placement/placement.ts";

/** Commits are swept from this long before the watermark: clocks and commit order differ by less. */
const MARGIN_MS = 10_000;
/** Longer than any append of a dead process can take to land. */
const AGAIN_MS = 30_000;

export interface RecoveryScan {
  /** Resolves when nothing of these shards is left to do. Rejects when it cannot be done. */
  sweep(shards: readonly number[], since: number): Promise<void>;
  /** Some sweep has not ended yet, or none ever did. */
  unfinished(): boolean;
}

export function createRecoveryScan(parts: {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: RuntimeLimits;
  readonly log: Log;
  readonly placement: Placement;
  readonly wake: (name: string) => Promise<void>;
  readonly draining: () => boolean;
}): RecoveryScan {
  const { store, clock, log, placement, draining } = parts;
  const loads = new Semaphore(parts.limits.loads);
  let begun = 0;
  let ended = 0;

  /** Asked until the store answers: without it, what is owed and unsaved would wait for the next start. */
  async function dirty(mine: () => readonly number[], since: number): Promise<readonly string[]> {
    for (;;) {
      const shards = mine();
      if (shards.length === 0) return [];
      try {
        return await store.actorsToRecover(shards, since);
      } catch (error) {
        if (draining()) throw error;
        log("error", "sweep_failed", { error: String(error) });
        await sleep(clock, 1_000);
      }
    }
  }

  return {
    unfinished: () => begun === 0 || ended < begun,
    async sweep(shards, since) {
      begun++;
      const terms = new Map(shards.map((shard) => [shard, placement.ownerOf(shard)?.epoch]));
      const mine = () =>
        shards.filter((shard) => {
          const owner = placement.ownerOf(shard);
          return owner?.node === placement.node() && owner.epoch === terms.get(shard);
        });
      for (const afterMs of [0, AGAIN_MS]) {
        if (afterMs > 0 && mine().length > 0) await sleep(clock, afterMs);
        if (draining()) return;
        const names = await dirty(mine, since - MARGIN_MS);
        if (names.length > 0 || mine().length > 0) log("info", "sweep", { actors: names.length });
        await Promise.all(names.map((name) => loads.run(() => parts.wake(name))));
      }
      ended++;
    },
  };
}
