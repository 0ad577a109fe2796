// Requests whose front end is over: declared dead, or gone. Their holds end at once, so that nobody waits for them; since
// each was admitted it counts in the windows, durably, like one that was cancelled.
//
// A front end that was taken for dead may live: it has another name then, and tells its holds again (reassert-holds.ts). They
// are held as before, and what was counted by `released` is counted by their charge no second time. What the account knows
// of that goes with its memory: after a move such a request counts twice, which errs towards refusing.

import type { Command, Decision, Turn } from "../../src/runtime/actor.ts";
import { releaseEvents } from "./charge.ts";
import { closeHold } from "./holds.ts";
import type { Account, AccountEvent, Hold } from "./state.ts";

export interface ReleaseOrphanedHolds {
  readonly ids: readonly string[];
}

/** Each writes an event: one turn must not fill a commit. */
const AT_ONCE = 200;
const ABANDONED_MAX = 10_000;

/** What front ends hold of an account. A charge is taken from whoever sends it, and what ends a hold as well. */
export const holdOwnership = {
  takes: ({ type }: Command): boolean => type === "admit" || type === "renew" || type === "holdAgain",
  release(
    { volatile }: Account,
    isOver: (name: string) => boolean,
  ): ({ readonly type: "abandon" } & ReleaseOrphanedHolds) | null {
    const ids: string[] = [];
    for (const { id, holder } of volatile.holds.values()) {
      if (ids.length < AT_ONCE && isOver(holder)) ids.push(id);
    }
    return ids.length === 0 ? null : { type: "abandon", ids };
  },
};

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

/** At the bound the oldest is forgotten: if its front end lives all the same, it counts twice. */
function remember({ volatile: { abandoned } }: Account, { id }: Hold): void {
  abandoned.add(id);
  for (const oldest of abandoned) {
    if (abandoned.size <= ABANDONED_MAX) break;
    abandoned.delete(oldest);
  }
}

/** How the hold of a request is opened that was perhaps abandoned. */
export const countedFlagFor = ({ volatile: { abandoned } }: Account, id: string): Pick<Hold, "counted"> =>
  abandoned.has(id) ? { counted: true } : {};
