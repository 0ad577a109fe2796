// Which commands an actor has already executed, and what it answered. Two memories, since the two kinds differ:
// an unmarked command is remembered 15 minutes, durably (its reply stands in the commit and the snapshot);
// a marked one (charge, transfer) only for seconds, since the ledger itself knows its mark for ever.

import type { Reply } from "./actor.ts";

interface Remembered {
  readonly at: number;
  /** When it was executed by a clock that never steps. */
  readonly mono: number;
  readonly reply: Reply;
}

export interface IdMemory {
  get(id: string): Reply | undefined;
  remember(id: string, reply: Reply, at: number, marked: boolean, mono?: number): void;
  /** The durable half, oldest first. */
  durable(): { id: string; at: number; reply: Reply }[];
}

export function idMemory(windows: { dedupMs: number; recentMs: number }): IdMemory {
  const durable = new Map<string, Remembered>();
  const recent = new Map<string, Remembered>();

  // Maps keep insertion order and `at` never falls, so the oldest stand first.
  function prune(map: Map<string, Remembered>, isOld: (one: Remembered) => boolean): void {
    for (const [id, one] of map) {
      if (!isOld(one)) return;
      map.delete(id);
    }
  }

  return {
    get: (id) => (recent.get(id) ?? durable.get(id))?.reply,
    remember(id, reply, at, marked, mono = at) {
      const { dedupMs, recentMs } = windows;
      (marked ? recent : durable).set(id, { at, mono, reply });
      if (!marked) prune(durable, (one) => one.at < at - dedupMs);
      // A step of the wall clock alone makes nothing old: a look-up in the ledger may be under way that began before
      // the command's commit was there.
      else prune(recent, (one) => one.at < at - recentMs && one.mono < mono - recentMs);
    },
    durable: () => [...durable].map(([id, { at, reply }]) => ({ id, at, reply })),
  };
}
