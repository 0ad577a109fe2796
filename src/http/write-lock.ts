// Cluster-wide locks for work that must not run twice at once: a claim in the store, held by the process that does the work. It
// knows nothing of the work.
//
// situation                                  recovery
// the holder's node is not up                the next caller takes the lock over
// the holder is an earlier process           the same: this node's name, and no work of this process
// of this node
// the lock was never released                the claims sweep releases it, after longer than any such work takes

import type { AccountId } from "../../actors/ids.ts";
import { TURN } from "../admin/periodic-sweeps.ts";
import { type Clock, type Random, sleep } from "../base/clock.ts";
import { RefusedError } from "../base/errors.ts";
import type { Store } from "../store/store.ts";

/** The nodes of the cluster. */
export interface Nodes {
  /** Returns this node's incarnation. */
  node(): string;
  /** Resolves to whether this incarnation may still be running. */
  isUp(node: string): Promise<boolean>;
}

/** A lock that is held. */
export interface WriteLock {
  /** Releases the lock. Never rejects: if the store does not answer, the claims sweep releases it. */
  release(): Promise<void>;
}

/** The locks of one node. */
export interface WriteLocks {
  /**
   * Takes the lock of `place` for the work `purpose`. Resolves to the purpose of its holder if another work holds it;
   * rejects if the store does not answer.
   */
  acquire(
    place: string,
    account: AccountId,
    purpose: string,
  ): Promise<WriteLock | { readonly heldFor: string }>;
  /**
   * Takes the lock as soon as it is free. `onHeld` is called with the purpose of its holder while it is not, and may throw.
   * Throws `RefusedError` with `busy` when it has not become free for longer than any write takes.
   */
  wait(place: string, account: AccountId, purpose: string, waiting: Waiting): Promise<WriteLock>;
}

/** What a caller does while another work holds the lock. */
export interface Waiting {
  onHeld?(heldFor: string): void;
  /** The message of the refusal when the wait was in vain. */
  readonly busy: string;
}

/** Milliseconds that a caller waits for a lock: longer than any write takes. */
const WAIT_MS = 60_000;
const POLL_MS = 50;
const POLL_MS_MAX = 1_000;

/** Creates the locks of one node over a store. */
export function createWriteLocks(
  parts: Nodes & { readonly store: Store; readonly clock: Clock; readonly random: Random },
): WriteLocks {
  const { store, clock, random } = parts;
  /** Locks that this process holds. */
  const working = new Set<string>();

  /** Whether a holder has ended. Under whatever name this process took a lock, it holds it while it works. */
  async function isGone(by: string): Promise<boolean> {
    if (working.has(by)) return false;
    const node = by.slice(0, by.indexOf("\n"));
    return node === parts.node() || !(await parts.isUp(node));
  }

  async function release(key: string, by: string): Promise<void> {
    working.delete(by);
    await store.release(key, by).catch(() => {});
  }

  const locks: WriteLocks = {
    async acquire(place, account, purpose) {
      const key = `${TURN}${place}`;
      const by = `${parts.node()}\n${random.id()}\n${purpose}`;
      working.add(by);
      for (;;) {
        try {
          if (await store.claim(key, account, by, clock.wall())) return { release: () => release(key, by) };
          const claim = await store.findClaim(key);
          if (claim === null) continue;
          if (!(await isGone(claim.by))) {
            working.delete(by);
            return { heldFor: claim.by.slice(claim.by.lastIndexOf("\n") + 1) };
          }
          await store.release(key, claim.by);
        } catch (error) {
          // The claim may have been stored all the same.
          await release(key, by);
          throw error;
        }
      }
    },

    async wait(place, account, purpose, { onHeld, busy }) {
      const until = clock.mono() + WAIT_MS;
      for (let waitMs = POLL_MS; ; waitMs = Math.min(2 * waitMs, POLL_MS_MAX)) {
        const lock = await locks.acquire(place, account, purpose);
        if ("release" in lock) return lock;
        onHeld?.(lock.heldFor);
        if (clock.mono() > until) {
          throw new RefusedError({ code: "service_unavailable", message: busy, retryAfterS: 1 });
        }
        await sleep(clock, waitMs);
      }
    },
  };
  return locks;
}
