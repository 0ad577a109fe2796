// Placement of a process that serves a store of a cluster without a bus to other nodes: the cluster's own rows and table,
// so that a restart waits for what the process before it had under way, and a second process is found out.
//
// row of another node      what follows
// dead                     nothing
// does not change          after the observers' time it is declared dead, like any other
// goes on changing         somebody else serves this store: OtherProcessFound; who comes later, as a node of a cluster, cannot be
//                          asked from here: this process is not ready any more, and gives all its shards away

import { inTime, sleep } from "../../base/clock.ts";
import {
  CLUSTER_LIMITS,
  type ClusterParts,
  type ClusterPlacement,
  createClusterPlacement,
} from "./cluster-placement.ts";
import { watchRow } from "./node-lease.ts";
import { NO_TABLE, type ShardTable, TABLE_KEY } from "./shard-table.ts";

/** Another process serves this store, and there is no bus between the two. */
export class OtherProcessFound extends Error {}

/** As createClusterPlacement; `join` waits until no other node lives, and throws OtherProcessFound when one does. */
export function createSingleOnClusterPlacement(parts: ClusterParts): ClusterPlacement {
  const isAlone = (): boolean => placement.others().length === 0;
  const placement: ClusterPlacement = createClusterPlacement({ ...parts, fit: isAlone });
  const taken = () => new OtherProcessFound("another process serves this store; set NATS_URL in all of them");
  return {
    ...placement,
    placed: () => placement.placed() && isAlone(),
    async join() {
      if (!(await deserted(parts))) throw taken();
      await placement.join();
      // Two that start at once see each other only now.
      if (isAlone()) return;
      await placement.leave();
      throw taken();
    },
  };
}

/** Resolves when every row of the table's members is dead: true; or when one is certainly alive: false. */
async function deserted({ registry, clock, limits: over }: ClusterParts): Promise<boolean> {
  const limits = { ...CLUSTER_LIMITS, ...over };
  const watch = watchRow({ registry, clock, limits });
  const begunMs = clock.mono();
  const revs = new Map<string, number>();

  /** Is anybody not dead, and did any of them change? Null: the registry did not say. */
  async function look(): Promise<{ readonly lives: boolean; readonly changed: boolean } | null> {
    const found = await inTime(clock, limits.callMs, registry.read(TABLE_KEY));
    const { members }: ShardTable = found === null ? NO_TABLE : JSON.parse(found.value);
    const rows = await Promise.all(members.map((member) => watch.look(member)));
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
    const seen = await look().catch(() => null);
    if (seen !== null && !seen.lives) return true;
    // What a dead one sent may still be stored: one change says nothing.
    if (seen?.changed && clock.mono() - begunMs >= limits.ttlMs) return false;
    await sleep(clock, limits.beatMs);
  }
}
