// GET /x-cluster: the cluster as this node knows it, for whoever looks after it. Each node tells of itself; one that does
// not within a second is shown with nothing instead of being waited for. It reads and never changes anything.

import type { Placement } from "../../runtime/placement/placement.ts";
import { nameOf, nodeId } from "../../runtime/placement/shard-table.ts";
import { SHARDS } from "../../runtime/shards.ts";
import type { SystemStats } from "../../runtime/system.ts";
import { answer, endpoint } from "../endpoint.ts";
import type { ManagementParts } from "../management.ts";
import { NoQuerySchema } from "../schemas.ts";

export interface ClusterEndpointParts extends ManagementParts {
  readonly placement: Pick<Placement, "node" | "members" | "ownerOf">;
}

/** Others are waited for so long. */
const OVERVIEW_MS = 1_000;

export type Figure = readonly [
  name: string,
  of: (stats: SystemStats) => number | undefined,
  over: "sum" | "most",
  description: string,
];

/** What must be zero in health, since each node's start. */
export const HEALTH: readonly Figure[] = [
  [
    "append_lost",
    ({ counters }) => counters.appendLost,
    "sum",
    "commits that another writer was faster with",
  ],
  [
    "append_unknown",
    ({ counters }) => counters.appendUnknown,
    "sum",
    "commits whose outcome the store did not tell",
  ],
  ["fenced", ({ counters }) => counters.fenced, "sum", "shards given up because a higher epoch was met"],
  ["broken", ({ counters }) => counters.broken, "sum", "actors loaded anew after a failure"],
  ["late_charges", ({ figures }) => figures.lateCharges, "sum", "charges that went to the spool first"],
  [
    "holds_expired",
    ({ counters }) => counters.holdsExpired,
    "sum",
    "holds whose request went without a word",
  ],
  [
    "claims_swept",
    ({ figures }) => figures.claimsSwept,
    "sum",
    "names and keys that a cut creation had left claimed",
  ],
];

/** How things stand now. */
export const GAUGES: readonly Figure[] = [
  ["commit_lag_ms", ({ lagMs }) => lagMs, "most", "age of the oldest commit under way"],
  [
    "mailbox_most",
    ({ mailboxMost }) => mailboxMost,
    "most",
    "commands that wait for one actor, of the busiest",
  ],
  ["actors", ({ actors }) => actors, "sum", "actors in memory"],
  ["turns_waiting", ({ turnsWaiting }) => turnsWaiting, "sum", "commands being answered"],
  ["effects", ({ effects }) => effects, "sum", "transfers and notices between accounts under way"],
  [
    "late_charges_waiting",
    ({ figures }) => figures.lateChargesWaiting,
    "sum",
    "charges that wait for the ledger",
  ],
  [
    "watermark_age_ms",
    ({ figures }) => figures.watermarkAgeMs,
    "most",
    "age of the oldest commit that a sweep would read",
  ],
  ["table_version", ({ figures }) => figures.tableVersion, "most", "version of the table of shards"],
  ["shards", ({ shards }) => shards, "sum", "shards that are served"],
];

export const getCluster = (parts: ClusterEndpointParts) =>
  endpoint(parts, { who: "root", query: NoQuerySchema, knownWithinMs: OVERVIEW_MS }, async () => {
    const { system, placement } = parts;
    const told = new Map((await system.overview(OVERVIEW_MS)).map(({ node, stats }) => [node, stats]));
    const members = placement.members();
    const owners = Array.from({ length: SHARDS }, (_, shard) => placement.ownerOf(shard));
    const nodes = members.map(({ name, incarnation, state }) => {
      const ids = [nodeId(name, incarnation), name];
      const stats = ids.map((id) => told.get(id)).find((one) => one) ?? null;
      return {
        name,
        state,
        incarnation,
        shards: owners.filter((owner) => owner !== null && ids.includes(owner.node)).length,
        version: stats?.version ?? null,
        health: stats && own(HEALTH, stats),
        gauges: stats && own(GAUGES, stats),
      };
    });
    const heard = [...told.values()].filter((stats) => stats !== null);
    return answer({
      node: shown(placement.node()),
      nodes,
      shards: owners.map((owner, shard) => ({
        shard,
        owner: owner && shown(owner.node),
        epoch: owner?.epoch ?? 0,
      })),
      health: over(HEALTH, heard),
      gauges: over(GAUGES, heard),
    });
  });

/** A process that is alone has a name and no incarnation in it. */
const shown = (node: string): string => (node.includes("#") ? nameOf(node) : node);

const own = (figures: readonly Figure[], stats: SystemStats): Record<string, number> =>
  Object.fromEntries(figures.map(([name, of]) => [name, Math.round(of(stats) ?? 0)]));

function over(figures: readonly Figure[], all: readonly SystemStats[]): Record<string, number> {
  const values = figures.map(([name, of, how]): [string, number] => {
    const each = all.map((stats) => Math.round(of(stats) ?? 0));
    return [name, how === "sum" ? each.reduce((sum, one) => sum + one, 0) : Math.max(0, ...each)];
  });
  return Object.fromEntries(values);
}
