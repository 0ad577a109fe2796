// GET /x-cluster: the cluster as this node knows it, for its operators. Each node reports its own figures; one that does not
// within a second is listed without them. This file reads, and never changes anything.

import { SECOND_MS } from "../../../actors/time.ts";
import { inTime } from "../../base/clock.ts";
import { readLastVerify } from "../../report/verify/last-verify.ts";
import type { Placement } from "../../runtime/placement/placement.ts";
import { displayName, nodeId } from "../../runtime/placement/shard-table.ts";
import { SHARDS } from "../../runtime/shards.ts";
import type { SystemStats } from "../../runtime/system.ts";
import type { Store } from "../../store/store.ts";
import type { ManagementParts } from "../management.ts";

/** What the overview needs. */
export interface ClusterEndpointParts extends ManagementParts {
  readonly store: Store;
  readonly placement: Pick<Placement, "node" | "members" | "ownerOf">;
}

/** The wait for the reports of other nodes, and for the caller's account. */
export const OVERVIEW_MS = 1_000;

/** A figure of a node: its name in the answer, how it is read, how it is aggregated over nodes, and what it means. */
export type Figure = readonly [
  name: string,
  read: (stats: SystemStats) => number | undefined,
  aggregate: "sum" | "max",
  description: string,
];

/** Counters since each node's start that are zero as long as nothing goes wrong. */
export const HEALTH: readonly Figure[] = [
  ["append_lost", ({ counters }) => counters.appendLost, "sum", "commits that lost against another writer's"],
  [
    "append_unknown",
    ({ counters }) => counters.appendUnknown,
    "sum",
    "commits whose outcome the store did not report",
  ],
  ["fenced", ({ counters }) => counters.fenced, "sum", "shards given up because a higher epoch was seen"],
  ["broken", ({ counters }) => counters.broken, "sum", "actors reloaded after a failure"],
  ["late_charges", ({ figures }) => figures.lateCharges, "sum", "charges that went to the spool first"],
  [
    "holds_expired",
    ({ counters }) => counters.holdsExpired,
    "sum",
    "holds that expired before their request ended them",
  ],
  [
    "claims_swept",
    ({ figures }) => figures.claimsSwept,
    "sum",
    "names and keys that an interrupted creation left claimed",
  ],
];

/** Values of this moment. */
export const GAUGES: readonly Figure[] = [
  ["commit_lag_ms", ({ lagMs }) => lagMs, "max", "age of the oldest commit in flight"],
  ["mailbox_most", ({ mailboxMost }) => mailboxMost, "max", "commands that wait for the busiest actor"],
  ["actors", ({ actors }) => actors, "sum", "actors in memory"],
  ["turns_waiting", ({ turnsWaiting }) => turnsWaiting, "sum", "commands being answered"],
  ["effects", ({ effects }) => effects, "sum", "transfers and notices between accounts in flight"],
  [
    "late_charges_waiting",
    ({ figures }) => figures.lateChargesWaiting,
    "sum",
    "charges that wait for the ledger",
  ],
  [
    "watermark_age_ms",
    // It grows by itself: in whole seconds the answer's tag lasts as long.
    ({ figures }) => Math.floor((figures.watermarkAgeMs ?? 0) / SECOND_MS) * SECOND_MS,
    "max",
    "age of the oldest commit that a sweep would read, in whole seconds",
  ],
  ["table_version", ({ figures }) => figures.tableVersion, "max", "version of the table of shards"],
  ["shards", ({ shards }) => shards, "sum", "shards that are served"],
];

/** Returns the cluster as this node knows it. Waits up to `OVERVIEW_MS` for the other nodes; a late one has null figures. */
export async function clusterOverview({ system, placement, store, clock }: ClusterEndpointParts) {
  // A store that does not answer must not hide the nodes.
  const verified = inTime(clock, OVERVIEW_MS, readLastVerify(store)).catch(() => null);
  const overview = await system.overview(OVERVIEW_MS);
  const last = await verified;
  const statsByNode = new Map(overview.map(({ node, stats }) => [node, stats]));
  const owners = Array.from({ length: SHARDS }, (_, shard) => placement.ownerOf(shard));
  const nodes = placement.members().map(({ name, incarnation, state }) => {
    const ids = [nodeId(name, incarnation), name];
    const stats = ids.map((id) => statsByNode.get(id)).find((one) => one) ?? null;
    return {
      name,
      state,
      incarnation,
      shards: owners.filter((owner) => owner !== null && ids.includes(owner.node)).length,
      version: stats?.version ?? null,
      health: stats && figuresOf(HEALTH, stats),
      gauges: stats && figuresOf(GAUGES, stats),
    };
  });
  const reported = [...statsByNode.values()].filter((stats) => stats !== null);
  return {
    node: displayName(placement.node()),
    nodes,
    shards: owners.map((owner, shard) => ({
      shard,
      owner: owner && displayName(owner.node),
      epoch: owner?.epoch ?? 0,
    })),
    health: aggregate(HEALTH, reported),
    gauges: aggregate(GAUGES, reported),
    last_verify: last && { ...last, at: new Date(last.at).toISOString() },
  };
}

const figuresOf = (figures: readonly Figure[], stats: SystemStats): Record<string, number> =>
  Object.fromEntries(figures.map(([name, read]) => [name, Math.round(read(stats) ?? 0)]));

/** Returns each figure over all nodes: their sum, or the maximum. */
function aggregate(figures: readonly Figure[], all: readonly SystemStats[]): Record<string, number> {
  const values = figures.map(([name, read, by]): [string, number] => {
    const each = all.map((stats) => Math.round(read(stats) ?? 0));
    return [name, by === "sum" ? each.reduce((sum, one) => sum + one, 0) : Math.max(0, ...each)];
  });
  return Object.fromEntries(values);
}
