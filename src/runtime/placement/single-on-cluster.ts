// Placement of a process that serves a cluster's store without a bus to other nodes. It uses the cluster's
// rows and table, so that a restart waits for what the former process had in flight, and a second process is
// detected: see `findLiveMember`.
//
// A cluster node that joins later cannot be reached from here: this process is then no longer ready, and
// gives all its shards away.

import {
  CLUSTER_LIMITS,
  type ClusterParts,
  type ClusterPlacement,
  createClusterPlacement,
} from "./cluster-placement.ts";
import { findLiveMember } from "./live-members.ts";

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
      const limits = { ...CLUSTER_LIMITS, ...parts.limits };
      if ((await findLiveMember({ ...parts, limits }, () => true)) !== null) throw taken();
      await placement.join();
      // Two processes that start at the same time see each other only now.
      if (isAlone()) return;
      await placement.leave();
      throw taken();
    },
  };
}
