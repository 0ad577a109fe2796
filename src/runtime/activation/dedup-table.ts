// Which commands an actor has already executed, and what it answered. Two memories, since the two kinds differ:
// an unmarked command is remembered 15 minutes, durably (its reply stands in the commit and the snapshot);
// a marked one (charge, transfer) only for seconds, since the ledger itself knows its mark for ever.

import type { Reply } from "../actor.ts";

interface Durable {
  readonly at: number;
  readonly reply: Reply;
}

/** A busy account has tens of thousands of these: what most of them answered is one shared reply. */
interface Recent {
  readonly reply: Reply;
  /** mono ms since when its commit is durable. */
  landed: number;
}

const NOTHING: Reply = { ok: true, body: {} };

/** Clocks of nodes differ so much, as long as they are of use. */
const SKEW_MS = 2_000;

/**
 * Is a command that was minted then certainly remembered, if it was executed here since the load? One of just before
 * may have been, by another clock; and a clock that is further ahead tells nothing of its age.
 */
export const isFresh = (bornAt: number, now: number, loadedAt: number, of: { lookupMs: number }): boolean =>
  bornAt >= Math.max(now - of.lookupMs, loadedAt + SKEW_MS) && bornAt <= now + SKEW_MS;

export interface DedupTable {
  get(id: string): Reply | undefined;
  remember(id: string, reply: Reply, at: number, marked: boolean): void;
  /**
   * A marked one that is not durable yet is kept until `landed`, and for its window after that by a clock that never
   * steps: a look-up in the ledger may be under way that began before the commit was there.
   */
  open(id: string): void;
  landed(ids: readonly string[], mono: number): void;
  /** The durable half, oldest first. */
  durable(): { id: string; at: number; reply: Reply }[];
}

export function createDedupTable(windows: { dedupMs: number; recentMs: number }): DedupTable {
  const durable = new Map<string, Durable>();
  const recent = new Map<string, Recent>();
  let lastMono = 0;

  // Maps keep insertion order, and neither `at` nor landing times fall, so the oldest stand first.
  function prune<T>(map: Map<string, T>, isOld: (one: T) => boolean): void {
    for (const [id, one] of map) {
      if (!isOld(one)) return;
      map.delete(id);
    }
  }

  return {
    get: (id) => (recent.get(id) ?? durable.get(id))?.reply,
    remember(id, reply, at, marked) {
      if (marked) {
        recent.set(id, { reply: isNothing(reply) ? NOTHING : reply, landed: lastMono });
        return;
      }
      durable.set(id, { at, reply });
      prune(durable, (one) => one.at < at - windows.dedupMs);
    },
    open(id) {
      const one = recent.get(id);
      if (one !== undefined) one.landed = Number.MAX_SAFE_INTEGER;
    },
    landed(ids, mono) {
      lastMono = mono;
      for (const id of ids) {
        const one = recent.get(id);
        if (one !== undefined) one.landed = mono;
      }
      prune(recent, (one) => one.landed <= mono - windows.recentMs);
    },
    durable: () => [...durable].map(([id, { at, reply }]) => ({ id, at, reply })),
  };
}

function isNothing(reply: Reply): boolean {
  if (!reply.ok || typeof reply.body !== "object" || reply.body === null) return false;
  for (const _ in reply.body) return false;
  return true;
}
