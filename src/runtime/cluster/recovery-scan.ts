// Recovers what an earlier owner of a shard left: actors with commits that no snapshot covers, and actors
// with pending effects. Loading them is enough: replay restores the documents and lists the effects again.
//
// Where an append that was in flight when the owner died may be stored after the first look, a scan looks twice. It continues
// until the store answers and every actor is loaded, and ends early for shards that this node lost.

import { type Clock, sleep } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { Semaphore } from "../../base/semaphore.ts";
import type { Store } from "../../store/store.ts";
import type { RuntimeLimits } from "../limits.ts";
import type { Placement } from "../placement/placement.ts";

/** The scan starts this long (ms) before the watermark. Clocks and the order of commits differ by less. */
const MARGIN_MS = 10_000;
/** Pause (ms) before the second look: longer than any append of a dead process can take to be stored. */
const SECOND_LOOK_MS = 30_000;

export interface RecoveryScan {
  /**
   * Scans shards from `since`, wall-clock ms. Resolves when all their actors are recovered. Rejects when this
   * node drains and the store fails.
   */
  scan(shards: readonly number[], since: number): Promise<void>;
  /** Returns whether some scan has not ended, or none has begun yet. */
  isUnfinished(): boolean;
}

/** Creates the scan of a node. It loads actors by `ensureLoaded` and logs each scan. */
export function createRecoveryScan(parts: {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: RuntimeLimits;
  readonly log: Log;
  readonly placement: Placement;
  readonly ensureLoaded: (name: string) => Promise<void>;
  readonly draining: () => boolean;
}): RecoveryScan {
  const { store, clock, log, placement, draining } = parts;
  const loads = new Semaphore(parts.limits.loads);
  let turn = Promise.resolve();
  let begun = 0;
  let ended = 0;

  /**
   * Repeats until the store answers; otherwise pending effects and unsaved documents would wait for the next
   * start.
   */
  async function actorsToRecover(mine: () => readonly number[], since: number): Promise<readonly string[]> {
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

  /** Resolves at the end of a turn of the event loop, each call in a turn of its own. */
  function ownTurn(): Promise<void> {
    turn = turn.then(() => new Promise((resolve) => clock.endOfTurn(resolve)));
    return turn;
  }

  /** Loads an actor. Of a store that answers at once all actors would be read within a single turn of the event loop. */
  async function load(name: string): Promise<void> {
    await ownTurn();
    await parts.ensureLoaded(name);
  }

  return {
    isUnfinished: () => begun === 0 || ended < begun,
    async scan(shards, since) {
      begun++;
      const epochs = new Map(shards.map((shard) => [shard, placement.ownerOf(shard)?.epoch]));
      const mine = () =>
        shards.filter((shard) => {
          const owner = placement.ownerOf(shard);
          return owner?.node === placement.node() && owner.epoch === epochs.get(shard);
        });
      for (const afterMs of store.appendsOutliveSender ? [0, SECOND_LOOK_MS] : [0]) {
        if (afterMs > 0 && mine().length > 0) await sleep(clock, afterMs);
        if (draining()) return;
        const names = await actorsToRecover(mine, since - MARGIN_MS);
        if (names.length > 0 || mine().length > 0) log("info", "sweep", { actors: names.length });
        await Promise.all(names.map((name) => loads.run(() => load(name))));
      }
      ended++;
    },
  };
}
