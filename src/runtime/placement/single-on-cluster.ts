// Placement of a process that serves a cluster's store without a bus to other nodes. It uses the cluster's
// rows and table, so that a restart waits for what the former process had in flight, and a second process is
// detected.
//
// row of another node      what follows
// dead                     nothing
// does not change          it is declared dead after `ttlMs`, like any other
// continues to change      another process serves this store: OtherProcessFound
//
// A cluster node that joins later cannot be reached from here: this process is then no longer ready, and
// gives all its shards away.

import { inTime, sleep } from "../../base/clock.ts";
import {
  CLUSTER_LIMITS,
  type ClusterParts,
  type ClusterPlacement,
  createClusterPlacement,
} from "./cluster-placement.ts";
import { createRowObserver } from "./node-lease.ts";
import { NO_TABLE, type ShardTable, TABLE_KEY } from "./shard-table.ts";

/** Thrown when another process serves this store and no bus connects the two. */
export class OtherProcessFound extends Error {}

/**
 * Creates a placement as `createClusterPlacement` does, but `join` waits until no other node lives, and
 * throws OtherProcessFound when one does.
 */
export function createSingleOnClusterPlacement(parts: ClusterParts): ClusterPlacement {
  const isAlone = (): boolean => placement.others().length === 0;
  const placement: ClusterPlacement = createClusterPlacement({ ...parts, fit: isAlone });
  const taken = () => new OtherProcessFound("another process serves this store; set NATS_URL in all of them");
  return {
    ...placement,
    placed: () => placement.placed() && isAlone(),
    async join() {
      if (!(await untilAlone(parts))) throw taken();
      await placement.join();
      // Two processes that start at the same time see each other only now.
      if (isAlone()) return;
      await placement.leave();
      throw taken();
    },
  };
}

/**
 * Resolves to true when every row of the table's members is dead, and to false when one is certainly alive.
 */
async function untilAlone({ registry, clock, limits: over }: ClusterParts): Promise<boolean> {
  const limits = { ...CLUSTER_LIMITS, ...over };
  const observer = createRowObserver({ registry, clock, limits });
  const begunMs = clock.mono();
  const revs = new Map<string, number>();

  /** Reads the rows: whether some node is not dead, and whether some row changed. */
  async function readRows(): Promise<{ readonly lives: boolean; readonly changed: boolean } | null> {
    const found = await inTime(clock, limits.callMs, registry.read(TABLE_KEY));
    const { members }: ShardTable = found === null ? NO_TABLE : JSON.parse(found.value);
    const rows = await Promise.all(members.map((member) => observer.observe(member)));
    let [lives, changed] = [false, false];
    for (const [i, found] of rows.entries()) {
      if (found === null || found.row.state === "dead") continue;
      const member = members[i]!;
      lives = true;
      changed ||= revs.has(member) && revs.get(member) !== found.rev;
      revs.set(member, found.rev);
    }
    return { lives, changed };
  }

  for (;;) {
    const seen = await readRows().catch(() => null);
    if (seen !== null && !seen.lives) return true;
    // A dead node's last write may still be stored, so one early change proves nothing.
    if (seen?.changed && clock.mono() - begunMs >= limits.ttlMs) return false;
    await sleep(clock, limits.heartbeatMs);
  }
}
