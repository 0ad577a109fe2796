// Turns at work that must not be done twice at once, by any node of the cluster: a claim in the store, by whoever does it.
// It lasts as long as the work. One whose process is gone is anybody's: a node that is not up, or this node under which
// nobody works (an earlier process). One that was never given back is released by the claims sweep, after longer than any
// such work takes. It knows nothing of the work.

import type { AccountId } from "../../actors/ids.ts";
import { TURN } from "../admin/periodic-sweeps.ts";
import type { Clock, Random } from "../base/clock.ts";
import type { Store } from "../store/store.ts";

/** Which nodes there are. */
export interface Nodes {
  /** This one's incarnation. */
  node(): string;
  /** May this incarnation still be at work? */
  isUp(node: string): Promise<boolean>;
}

export interface WriteLock {
  /** Never rejects: what cannot be given back is taken by whoever comes next. */
  giveBack(): Promise<void>;
}

export interface WriteLocks {
  /** The turn; or what the one who has it is about. Rejects when the store does not say. */
  take(place: string, account: AccountId, about: string): Promise<WriteLock | { readonly about: string }>;
}

export function createWriteLocks(
  parts: Nodes & { readonly store: Store; readonly clock: Clock; readonly random: Random },
): WriteLocks {
  const { store, clock, random } = parts;
  /** Locks that this process holds. */
  const working = new Set<string>();

  /** Whatever this process was called when it took a turn, it has it while it works. */
  async function isGone(by: string): Promise<boolean> {
    if (working.has(by)) return false;
    const node = by.slice(0, by.indexOf("\n"));
    return node === parts.node() || !(await parts.isUp(node));
  }

  async function giveBack(key: string, by: string): Promise<void> {
    working.delete(by);
    await store.release(key, by).catch(() => {});
  }

  return {
    async take(place, account, about) {
      const key = `${TURN}${place}`;
      const by = `${parts.node()}\n${random.id()}\n${about}`;
      working.add(by);
      for (;;) {
        try {
          if (await store.claim(key, account, by, clock.wall())) return { giveBack: () => giveBack(key, by) };
          const claim = await store.findClaim(key);
          if (claim === null) continue;
          if (!(await isGone(claim.by))) {
            working.delete(by);
            return { about: claim.by.slice(claim.by.lastIndexOf("\n") + 1) };
          }
          await store.release(key, claim.by);
        } catch (error) {
          // It may have been stored all the same.
          await giveBack(key, by);
          throw error;
        }
      }
    },
  };
}
