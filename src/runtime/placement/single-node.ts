// Placement of a single process, which owns every shard. The store's lock proves that no earlier process
// lives, so shards are taken at once, with a higher epoch at each start. Nothing here may run without that
// lock.

import { assert } from "../../base/errors.ts";
import type { Registry } from "../../store/store.ts";
import { SHARDS } from "../shards.ts";
import { NO_DEAD_NODES } from "./dead-nodes.ts";
import type { Placement } from "./placement.ts";

const KEY = "solo";

interface Row {
  readonly epoch: number;
  readonly node: string;
  /** Wall-clock ms: every older commit is covered by a snapshot. The recovery scan starts here. */
  readonly watermark: number;
}

export interface SingleNodePlacement extends Placement {
  /** Moves the start of the recovery scan forward, once everything older was saved. Writes the registry. */
  advance(watermark: number): Promise<void>;
}

/**
 * Creates the placement. `join` reads and writes the registry; it throws when another process writes at the
 * same time.
 */
export function createSingleNodePlacement(parts: { registry: Registry; node: string }): SingleNodePlacement {
  const { registry, node } = parts;
  let epoch = 0;
  let rev = 0;
  let advancing = false;
  let row: Row = { epoch: 0, node, watermark: 0 };
  const gained: Parameters<Placement["onGain"]>[0][] = [];

  return {
    async join() {
      const found = await registry.read(KEY);
      const before: Row = found ? JSON.parse(found.value) : row;
      row = { epoch: before.epoch + 1, node, watermark: before.watermark };
      const next = await registry.cas(KEY, found?.rev ?? 0, JSON.stringify(row));
      assert(next !== null, "two processes start on one store although it is locked");
      rev = next;
      epoch = row.epoch;
      const all = Array.from({ length: SHARDS }, (_, shard) => shard);
      // The scan logs its own failure.
      for (const handle of gained) handle(all, row.watermark).catch(() => {});
    },
    node: () => (epoch > 0 ? node : ""),
    epochOf: () => epoch,
    drainEpochOf: () => epoch,
    ownerOf: () => (epoch > 0 ? { node, epoch } : null),
    async refresh() {},
    others: () => [],
    members: () => (epoch > 0 ? [{ name: node, incarnation: String(epoch), state: "up" }] : []),
    placed: () => epoch > 0,
    deadNodes: NO_DEAD_NODES,
    fenced(_shard, higher) {
      assert(higher <= epoch, `a commit of epoch ${higher} was met while this process holds ${epoch}`);
    },
    relinquish: () => {},
    // There is no other node, and nothing moves.
    onJoin: () => {},
    onGain: (handle) => void gained.push(handle),
    onLose: () => {},
    onMoved: () => {},
    handOff: async () => true,
    async advance(watermark) {
      if (epoch === 0 || advancing || watermark <= row.watermark) return;
      const mine = epoch;
      advancing = true;
      try {
        const next = await registry.cas(KEY, rev, JSON.stringify({ ...row, watermark }));
        // The write is refused when an earlier attempt of this process was stored although it failed; the row
        // tells.
        const found = next === null ? await registry.read(KEY) : null;
        if (found !== null) row = JSON.parse(found.value);
        else row = { ...row, watermark };
        assert(row.epoch === mine, "the placement row changed under its only writer");
        rev = found?.rev ?? next ?? rev;
      } finally {
        advancing = false;
      }
    },
    async leave() {
      epoch = 0;
    },
  };
}
