// The commands that an actor has executed, and their replies. There are two kinds of entry. A command without
// a dedup id is remembered durably for 15 minutes, in its commit and in snapshots. One with a dedup id
// (charge, transfer) is remembered for seconds only, because the ledger keeps the dedup id forever.

import type { Reply } from "../actor.ts";

interface Durable {
  readonly at: number;
  readonly reply: Reply;
}

/** A busy account has tens of thousands of these, so equal empty replies share one object. */
interface Recent {
  readonly reply: Reply;
  /** Monotonic ms since which its commit is durable. */
  landed: number;
}

const NOTHING: Reply = { ok: true, body: {} };

/** Nodes' clocks may differ by this much (ms). */
const SKEW_MS = 2_000;

/**
 * Returns whether a command created at `bornAt` is certainly remembered if it was executed here since the
 * load. One created just before the load may have been executed earlier, by another clock; and a `bornAt` too
 * far ahead says nothing about the command's age. Times are wall-clock ms.
 */
export const isFresh = (bornAt: number, now: number, loadedAt: number, of: { lookupMs: number }): boolean =>
  bornAt >= Math.max(now - of.lookupMs, loadedAt + SKEW_MS) && bornAt <= now + SKEW_MS;

export interface DedupTable {
  /** Returns the reply of an executed command, or undefined when its id is unknown. */
  get(id: string): Reply | undefined;
  remember(id: string, reply: Reply, at: number, marked: boolean): void;
  /**
   * Keeps a command with a dedup id until `landed`, and for its window (monotonic) after that: a ledger
   * lookup in flight may have begun before its commit was stored.
   */
  open(id: string): void;
  landed(ids: readonly string[], mono: number): void;
  /** Returns the entries that are kept durably, oldest first. */
  durable(): { id: string; at: number; reply: Reply }[];
}

/**
 * Creates an empty table. `dedupMs` and `recentMs` are the windows (ms) of commands without and with a dedup
 * id.
 */
export function createDedupTable(windows: { dedupMs: number; recentMs: number }): DedupTable {
  const durable = new Map<string, Durable>();
  const recent = new Map<string, Recent>();
  let lastMono = 0;

  // Maps keep insertion order, and neither `at` nor `landed` decreases, so the oldest entries come first.
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
