// The measures of a cluster as one run: on its own for `npm run bench:cluster`, and as rows of the benchmark's table.

import { clusterCpu } from "./cluster-cpu.ts";
import { clusterHop } from "./cluster-hop.ts";
import { MissingServerError, onCluster } from "./cluster-stage.ts";
import type { ClusterRows, Measure } from "./measure.ts";

export const CLUSTER_ACCOUNTS = 50;

/** Measures three nodes beside one. Throws `MissingServerError` where there is no NATS or no database. */
export async function measureCluster(quick: boolean): Promise<ClusterRows> {
  const log = (text: string) => console.error(`${text} …`);
  log("three nodes on NATS, one without, one on SQLite: starting, and sharing the work out");
  const { parts, unhealthy, refused } = await onCluster({ accounts: CLUSTER_ACCOUNTS }, async (stage) => {
    log("CPU per request");
    const cpu = await clusterCpu(stage, quick);
    // By now all nodes are warm.
    log("time added by another node");
    const hop = await clusterHop(stage, quick);
    return { parts: [cpu, hop], unhealthy: (await stage.table()).unhealthy, refused: stage.refused() };
  });
  const notes = parts.flatMap((part) => part.notes);
  if (refused > 0)
    notes.push(
      `${refused} requests were refused, since the store was slow: this machine was too busy for it`,
    );
  notes.push(`counters that must be zero: ${unhealthy.length === 0 ? "all are" : unhealthy.join(", ")}`);
  return { rows: parts.flatMap((part) => part.rows), notes };
}

export const cluster: Measure = {
  name: "cluster",
  about: "three nodes against one on the same store; needs NATS and MongoDB or what builds them",
  async run(quick) {
    try {
      const { rows, notes } = await measureCluster(quick);
      return {
        rows: rows.map(([what, three, one, result, target, must]) => ({
          what: `Three nodes: ${what}`,
          service: three!,
          passThrough: one === "" ? "" : `one node: ${one}`,
          result: result!,
          target: target!,
          must: must!,
        })),
        notes,
      };
    } catch (error) {
      if (!(error instanceof MissingServerError)) throw error;
      return { rows: [], notes: [`three nodes are not measured: ${error.message}`] };
    }
  },
};
