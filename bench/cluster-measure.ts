// The measures of a cluster as one run: on its own for `npm run bench:cluster`, and as rows of the benchmark's table.

import { CLUSTER_KINDS, type ClusterKind, clusterCpu } from "./cluster-cpu.ts";
import { clusterHop } from "./cluster-hop.ts";
import { type ClusterStage, MissingServerError, onCluster } from "./cluster-stage.ts";
import { sum } from "./figures.ts";
import type { ClusterRows, Measure } from "./measure.ts";

export const CLUSTER_ACCOUNTS = 50;

const NO_ROWS: ClusterRows = { rows: [], notes: [] };

/** What is measured with one kind of requests. */
interface Part {
  readonly cpu: ClusterRows;
  readonly hop: ClusterRows;
  readonly unhealthy: readonly string[];
  readonly refused: number;
}

/**
 * Measures three nodes beside one. Each kind of requests has servers and a database of its own: a database that keeps all in
 * memory has several gigabytes after each, and once they fill it, it stops for seconds, again and again. Throws
 * `MissingServerError` where there is no NATS or no database.
 */
export async function measureCluster(quick: boolean): Promise<ClusterRows> {
  const parts: Part[] = [];
  for (const [nth, kind] of CLUSTER_KINDS.entries()) {
    console.error(`three nodes on NATS, one without, one on SQLite: ${kind.what} …`);
    // The first kind has warmed the nodes up for the requests of the hop too.
    parts.push(
      await onCluster({ accounts: CLUSTER_ACCOUNTS }, (stage) => measurePart(stage, kind, nth === 0, quick)),
    );
  }
  const cpuRows = parts.map(({ cpu }) => cpu.rows);
  const rows = [
    ...cpuRows.map(([cpu]) => cpu!),
    ...cpuRows.map(([, speed]) => speed!),
    ...parts.flatMap(({ hop }) => hop.rows),
  ];
  const notes = parts.flatMap(({ cpu, hop }) => [...cpu.notes, ...hop.notes]);
  const refused = sum(parts.map((part) => part.refused));
  if (refused > 0)
    notes.push(
      `${refused} requests were refused, since the store was slow: this machine was too busy for it`,
    );
  const unhealthy = parts.flatMap((part) => part.unhealthy);
  notes.push(`counters that must be zero: ${unhealthy.length === 0 ? "all are" : unhealthy.join(", ")}`);
  return { rows, notes };
}

async function measurePart(
  stage: ClusterStage,
  kind: ClusterKind,
  withHop: boolean,
  quick: boolean,
): Promise<Part> {
  const cpu = await clusterCpu(stage, kind, quick);
  const hop = withHop ? await clusterHop(stage, quick) : NO_ROWS;
  return { cpu, hop, unhealthy: (await stage.table()).unhealthy, refused: stage.refused() };
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
