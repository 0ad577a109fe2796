// Which commands an actor has already executed, and what it answered. Two memories, since the two kinds differ:
// an unmarked command is remembered 15 minutes, durably (its reply stands in the commit and the snapshot);
// a marked one (charge, transfer) only for seconds, since the ledger itself knows its mark for ever.

import type { Reply } from "./actor.ts";

interface Remembered {
  readonly at: number;
  readonly reply: Reply;
  /** mono ms since when its commit is durable. */
  landed: number;
}

export interface IdMemory {
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

export function idMemory(windows: { dedupMs: number; recentMs: number }): IdMemory {
  const durable = new Map<string, Remembered>();
  const recent = new Map<string, Remembered>();
  let lastAt = 0;
  let lastMono = 0;

  // Maps keep insertion order and `at` never falls, so the oldest stand first.
  function prune(map: Map<string, Remembered>, isOld: (one: Remembered) => boolean): void {
    for (const [id, one] of map) {
      if (!isOld(one)) return;
      map.delete(id);
    }
  }

  const pruneRecent = () =>
    prune(recent, (one) => one.at < lastAt - windows.recentMs && one.landed <= lastMono - windows.recentMs);

  return {
    get: (id) => (recent.get(id) ?? durable.get(id))?.reply,
    remember(id, reply, at, marked) {
      (marked ? recent : durable).set(id, { at, reply, landed: Number.NEGATIVE_INFINITY });
      lastAt = at;
      if (marked) pruneRecent();
      else prune(durable, (one) => one.at < at - windows.dedupMs);
    },
    open(id) {
      const one = recent.get(id);
      if (one !== undefined) one.landed = Number.POSITIVE_INFINITY;
    },
    landed(ids, mono) {
      lastMono = mono;
      for (const one of ids.map((id) => recent.get(id))) if (one !== undefined) one.landed = mono;
      pruneRecent();
    },
    durable: () => [...durable].map(([id, { at, reply }]) => ({ id, at, reply })),
  };
}
