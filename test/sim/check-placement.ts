// Checker 13: at no instant do two nodes serve one shard, nor does anybody still append in an epoch that was given away;
// at rest every shard is served, the table stays as it is, and every node's watermark goes on.
//
// A node that is about to act as an owner asks its placement, so that is when the others are asked as well: nothing happens
// between two looks.

import { CLUSTER_LIMITS } from "../../src/runtime/placement/cluster-placement.ts";
import type { LeaseRecord } from "../../src/runtime/placement/node-lease.ts";
import type { Placement } from "../../src/runtime/placement/placement.ts";
import type { ShardTable } from "../../src/runtime/placement/shard-table.ts";
import { SHARDS } from "../../src/runtime/shards.ts";
import type { Registry } from "../../src/store/store.ts";
import type { Trace } from "./trace.ts";

export interface PlacementChecker {
  /** The same placement, watched for as long as its process lives. */
  watch<P extends Placement>(name: string, placement: P, dead: () => boolean): P;
  /** The table as it is stored: a second call complains when it is another by then. */
  atRest(registry: Pick<Registry, "read">, wall: number): Promise<void>;
}

/** A watermark trails by a save of everything, and by what the beats and looks take. */
const TRAILS_MS = 60_000;

export function placementChecker(trace: Trace): PlacementChecker {
  let watched: { readonly name: string; readonly placement: Placement; readonly dead: () => boolean }[] = [];
  let settled: number | null = null;
  const fail = (message: string) => trace.violate("13 placement", message);

  function owns(name: string, placement: Placement, shard: number): number {
    const epoch = placement.epochOf(shard);
    if (epoch === 0) return 0;
    for (const other of watched) {
      if (other.placement === placement || other.dead()) continue;
      const theirs = other.placement.epochOf(shard);
      if (theirs > 0) fail(`shard ${shard} is served by ${name} (${epoch}) and ${other.name} (${theirs})`);
      else if (other.placement.drainEpochOf(shard) > 0) {
        fail(`shard ${shard} is served by ${name} (${epoch}) while ${other.name} still drains it`);
      }
    }
    return epoch;
  }

  return {
    watch(name, placement, dead) {
      watched = [...watched.filter((one) => !one.dead()), { name, placement, dead }];
      placement.onGain(async (shards) => {
        for (const shard of shards) owns(name, placement, shard);
      });
      return { ...placement, epochOf: (shard) => owns(name, placement, shard) };
    },
    async atRest(registry, wall) {
      const alive = watched.filter(({ dead }) => !dead());
      for (let shard = 0; shard < SHARDS; shard++) {
        const by = alive.filter(({ placement }) => placement.epochOf(shard) > 0).map(({ name }) => name);
        if (by.length !== 1) fail(`at rest shard ${shard} is served by ${by.join(" and ") || "nobody"}`);
      }
      const found = await registry.read("table");
      const table: ShardTable = JSON.parse(found!.value);
      if (settled !== null && table.version !== settled)
        fail(`the table changed from ${settled} to ${table.version} at rest`);
      settled = table.version;
      if (table.members.length !== alive.length) {
        fail(`at rest the members are ${table.members}, and ${alive.map(({ name }) => name)} are there`);
      }
      const counts = alive.map(
        ({ placement }) => table.shards.filter(({ owner }) => owner === placement.node()).length,
      );
      const apart = Math.max(...counts) - Math.min(...counts);
      if (apart > Math.max(1, (SHARDS / alive.length) * CLUSTER_LIMITS.imbalance))
        fail(`at rest shards are spread ${counts}`);
      for (const { name } of alive) {
        const stored = await registry.read(`node/${name}`);
        const row: LeaseRecord = JSON.parse(stored!.value);
        if (wall - row.watermark > TRAILS_MS)
          fail(`at rest the watermark of ${name} is ${wall - row.watermark} ms old`);
      }
    },
  };
}
