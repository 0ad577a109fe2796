// Which commands an actor has already executed, and what it answered. Two memories, since the two kinds differ:
// an unmarked command is remembered 15 minutes, durably (its reply stands in the commit and the snapshot);
// a marked one (charge, transfer) only for seconds, since the ledger itself knows its mark for ever.

import type { Reply } from "./actor.ts";

interface Remembered {
  readonly at: number;
  readonly reply: Reply;
}

export interface IdMemory {
  get(id: string): Reply | undefined;
  remember(id: string, reply: Reply, at: number, marked: boolean): void;
  /** The durable half, oldest first. */
  durable(): { id: string; at: number; reply: Reply }[];
}

export function idMemory(windows: { dedupMs: number; recentMs: number }): IdMemory {
  const durable = new Map<string, Remembered>();
  const recent = new Map<string, Remembered>();

  // Maps keep insertion order and `at` never falls, so the oldest stand first.
  function prune(map: Map<string, Remembered>, before: number): void {
    for (const [id, { at }] of map) {
      if (at >= before) return;
      map.delete(id);
    }
  }

  return {
    get: (id) => (recent.get(id) ?? durable.get(id))?.reply,
    remember(id, reply, at, marked) {
      const map = marked ? recent : durable;
      map.set(id, { at, reply });
      prune(map, at - (marked ? windows.recentMs : windows.dedupMs));
    },
    durable: () => [...durable].map(([id, { at, reply }]) => ({ id, at, reply })),
  };
}
