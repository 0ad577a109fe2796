// Orphaned holds: holds of requests whose node is dead or has left. They end at once, so that their credit is
// free again. Since each request was admitted, it is counted in the windows durably, like a cancelled one.
//
// A node that was declared dead may still run: it then joins under a new name and re-asserts its holds
// (reassert-holds.ts). These are opened again, and a request that was counted by `released` is not counted
// again by its charge. The account knows this only in memory: after its shard moves, such a request counts
// twice, which errs on the side of refusing.

import type { Command, Decision, Turn } from "../../src/runtime/actor.ts";
import { releaseEvents } from "./charge.ts";
import { closeHold } from "./holds.ts";
import type { Account, AccountEvent, Hold } from "./state.ts";

/** Input of the command `releaseOrphanedHolds`: ids of the requests whose holds end. */
export interface ReleaseOrphanedHolds {
  readonly ids: readonly string[];
}

/** Holds released by one command. Each writes an event, and one turn must not fill a commit. */
const AT_ONCE = 200;
const ABANDONED_MAX = 10_000;

/**
 * Tells the runtime which commands give the calling node a hold, and which command releases the holds of dead
 * nodes. Charges and cancellations are accepted from any node.
 */
export const holdOwnership = {
  opensHold: ({ type }: Command): boolean => type === "admit" || type === "renew" || type === "reassertHolds",
  release(
    { volatile }: Account,
    isDead: (name: string) => boolean,
  ): ({ readonly type: "releaseOrphanedHolds" } & ReleaseOrphanedHolds) | null {
    const ids: string[] = [];
    for (const { id, holder } of volatile.holds.values()) {
      if (ids.length < AT_ONCE && isDead(holder)) ids.push(id);
    }
    return ids.length === 0 ? null : { type: "releaseOrphanedHolds", ids };
  },
};

/** Ends the holds of these requests, counts the requests in the windows, and remembers their ids. */
export function releaseOrphanedHolds(
  state: Account,
  { ids }: ReleaseOrphanedHolds,
  { now }: Turn,
): Decision<AccountEvent> {
  const events = ids.flatMap((id) => {
    const hold = closeHold(state, id, now);
    if (hold === null) return [];
    const released = releaseEvents(state, hold);
    remember(state, hold);
    return released;
  });
  return { reply: {}, events };
}

/** The oldest ids are dropped at the bound; if their node still runs, those requests count twice. */
function remember({ volatile }: Account, { id }: Hold): void {
  volatile.abandoned ??= new Set();
  const { abandoned } = volatile;
  abandoned.add(id);
  for (const oldest of abandoned) {
    if (abandoned.size <= ABANDONED_MAX) break;
    abandoned.delete(oldest);
  }
}

/** Returns the flag `counted` for a re-asserted hold whose request was counted when its hold was released. */
export const countedFlagFor = ({ volatile: { abandoned } }: Account, id: string): Pick<Hold, "counted"> =>
  abandoned?.has(id) ? { counted: true } : {};
