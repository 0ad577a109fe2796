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
  committedAt: number;
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

/**
 * The executed commands of one actor. `dedupMs` and `recentMs` are the windows (ms) of commands without and
 * with a dedup id.
 */
export class DedupTable {
  /** Null while nothing is remembered, as in most actors at most times. The same holds for `recent`. */
  private durable: Map<string, Durable> | null = null;
  private recent: Map<string, Recent> | null = null;
  private lastMono = 0;

  constructor(private readonly windows: { readonly dedupMs: number; readonly recentMs: number }) {}

  /** Returns the reply of an executed command, or undefined when its id is unknown. */
  get(id: string): Reply | undefined {
    return (this.recent?.get(id) ?? this.durable?.get(id))?.reply;
  }

  /** Remembers a reply. `hasDedupId` means that the ledger keeps the command's dedup id. */
  remember(id: string, reply: Reply, at: number, hasDedupId: boolean): void {
    const kept = isNothing(reply) ? NOTHING : reply;
    if (hasDedupId) {
      this.recent ??= new Map();
      this.recent.set(id, { reply: kept, committedAt: this.lastMono });
      return;
    }
    this.durable ??= new Map();
    this.durable.set(id, { at, reply: kept });
    prune(this.durable, (one) => one.at < at - this.windows.dedupMs);
  }

  /**
   * Keeps a command with a dedup id until `committed`, and for its window (monotonic) after that: a ledger
   * lookup in flight may have begun before its commit was stored.
   */
  keepUntilCommitted(id: string): void {
    const one = this.recent?.get(id);
    if (one !== undefined) one.committedAt = Number.MAX_SAFE_INTEGER;
  }

  /** Starts the window of commands whose commit became durable at `mono`, monotonic ms. */
  committed(ids: readonly string[], mono: number): void {
    this.lastMono = mono;
    if (this.recent === null) return;
    for (const id of ids) {
      const one = this.recent.get(id);
      if (one !== undefined) one.committedAt = mono;
    }
    prune(this.recent, (one) => one.committedAt <= mono - this.windows.recentMs);
  }

  /**
   * Forgets commands with a dedup id whose window is over at `mono`, monotonic ms. The next commit does the
   * same; this is for an actor that makes none. The others stay: only a turn may say how late it is.
   */
  forgetOld(mono: number): void {
    if (this.recent === null) return;
    prune(this.recent, (one) => one.committedAt <= mono - this.windows.recentMs);
    if (this.recent.size === 0) this.recent = null;
  }

  /** Returns the entries that are kept durably, oldest first. */
  durableEntries(): { id: string; at: number; reply: Reply }[] {
    return [...(this.durable ?? [])].map(([id, { at, reply }]) => ({ id, at, reply }));
  }
}

/** Maps keep insertion order, and neither time decreases, so the oldest entries come first. */
function prune<T>(map: Map<string, T>, isOld: (one: T) => boolean): void {
  for (const [id, one] of map) {
    if (!isOld(one)) return;
    map.delete(id);
  }
}

function isNothing(reply: Reply): boolean {
  if (!reply.ok || typeof reply.body !== "object" || reply.body === null) return false;
  for (const _ in reply.body) return false;
  return true;
}
