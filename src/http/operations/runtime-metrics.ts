// The metrics of the actor runtime and of the parts beside it: each is a family of its own, with its type and its unit, and
// says how it is read. Counters begin at 0 with the process.

import type { Histogram } from "../../base/histogram.ts";
import type { Placement } from "../../runtime/placement/placement.ts";
import { nodeId } from "../../runtime/placement/shard-table.ts";
import { SHARDS } from "../../runtime/shards.ts";
import type { SystemStats } from "../../runtime/system.ts";
import type { Metric, Sample } from "./exposition.ts";

/** What they are read from: the state of a node at the moment of a scrape. */
export interface RuntimeReading {
  readonly stats: SystemStats;
  readonly commitSeconds: Histogram;
  readonly placement: Pick<Placement, "members" | "ownerOf">;
}

/** A family without labels, and its value. */
type Read = (reading: RuntimeReading) => number | Histogram;

const one = (type: Metric["type"], help: string, read: Read) => ({
  ...{ type, help, labels: [] },
  samples: (reading: RuntimeReading): readonly Sample[] => [[[], read(reading)]],
});
const counter = (help: string, read: Read) => one("counter", help, read);
const gauge = (help: string, read: Read) => one("gauge", help, read);

/** Counters that share a family with one label. */
const counters = <L extends string>(
  help: string,
  label: string,
  read: Readonly<Record<L, (stats: SystemStats) => number>>,
) => ({
  ...{ type: "counter" as const, help, labels: [label] },
  samples: ({ stats }: RuntimeReading): readonly Sample[] =>
    (Object.keys(read) as L[]).map((name) => [[name], read[name](stats)]),
});

/** Returns a source of figures that parts outside the runtime registered; one without a source is 0. */
const figure =
  (name: string, unit = 1): Read =>
  ({ stats }) =>
    (stats.figures[name] ?? 0) / unit;

const MS_PER_SECOND = 1_000;

/** The families, in the order in which they are exported. */
export const RUNTIME_METRICS = {
  arborgate_late_charges_total: counter(
    "Charges that went to the spool first; zero in a healthy system",
    figure("lateCharges"),
  ),
  arborgate_late_charges_waiting: gauge("Charges that wait for the ledger", figure("lateChargesWaiting")),
  arborgate_open_holds: gauge(
    "Requests that run here with a reservation, late charges included",
    figure("holdsOpen"),
  ),
  arborgate_upstream_requests: gauge("Requests in flight at providers", figure("keysInFlight")),
  arborgate_commit_lag_seconds: gauge(
    "Age of the oldest commit in flight at this moment; over 1, requests are refused",
    ({ stats }) => stats.lagMs / MS_PER_SECOND,
  ),
  arborgate_commit_seconds: one(
    "histogram",
    "Time that commits waited for the store, from when they were ready until it answered",
    ({ commitSeconds }) => commitSeconds,
  ),
  arborgate_faults_total: counters("Faults that were survived, by kind; zero in a healthy system", "kind", {
    append_lost: ({ counters }) => counters.appendLost,
    append_unknown: ({ counters }) => counters.appendUnknown,
    fenced: ({ counters }) => counters.fenced,
    broken: ({ counters }) => counters.broken,
    hold_expired: ({ counters }) => counters.holdsExpired,
    claim_swept: ({ figures }) => figures.claimsSwept ?? 0,
  }),
  arborgate_commands_shed_total: counter(
    "Commands refused because the node was overloaded; zero in a healthy system",
    ({ stats }) => stats.counters.shed,
  ),
  arborgate_turns_total: counter("Commands that actors decided", ({ stats }) => stats.counters.turns),
  arborgate_commits_total: counter("Commits that were stored", ({ stats }) => stats.counters.commits),
  arborgate_events_total: counter("Events in them", ({ stats }) => stats.counters.events),
  arborgate_remote_commands_total: counter(
    "Commands sent to other nodes",
    ({ stats }) => stats.counters.remoteAsks,
  ),
  arborgate_misdirected_commands_total: counter(
    "Commands that did not find the actor's owner at once",
    ({ stats }) => stats.counters.notOwner,
  ),
  arborgate_commands_waiting: gauge("Commands being answered", ({ stats }) => stats.turnsWaiting),
  arborgate_longest_mailbox: gauge(
    "Commands that wait for the busiest actor",
    ({ stats }) => stats.mailboxMost,
  ),
  arborgate_effects_in_flight: gauge(
    "Transfers and notices between accounts in flight",
    ({ stats }) => stats.effects,
  ),
  arborgate_actors: gauge("Actors in memory", ({ stats }) => stats.actors),
  arborgate_actors_loaded_total: counter(
    "Actors loaded into memory",
    ({ stats }) => stats.counters.activated,
  ),
  arborgate_actors_evicted_total: counter(
    "Actors removed from memory",
    ({ stats }) => stats.counters.passivated,
  ),
  arborgate_shards: gauge(
    "Shards that this node serves; 256 in the whole cluster",
    ({ stats }) => stats.shards,
  ),
  arborgate_shards_without_owner: gauge(
    "Shards that no living node owns, as this node knows it; 0 in a healthy system",
    ({ placement }) => shardsWithoutOwner(placement),
  ),
  arborgate_shard_table_version: gauge("Version of the table of shards", figure("tableVersion")),
  arborgate_clock_skew_seconds: gauge(
    "Certain distance of the node's clock from the store's; 0 for a single process",
    figure("clockSkewMs", MS_PER_SECOND),
  ),
  arborgate_watermark_age_seconds: gauge(
    "Age of the oldest commit that a takeover would read",
    figure("watermarkAgeMs", MS_PER_SECOND),
  ),
  arborgate_request_reports_missed_total: counters(
    "Requests that the lists of last requests do not show; skipped: too many at once, lost: another node did not answer",
    "reason",
    {
      skipped: ({ figures }) => figures.requestReportsSkipped ?? 0,
      lost: ({ figures }) => figures.requestReportsLost ?? 0,
    },
  ),
} as const satisfies Readonly<
  Record<string, Metric & { samples(reading: RuntimeReading): readonly Sample[] }>
>;

/** Returns how many shards no living node owns. A single process has its name as its id. */
function shardsWithoutOwner({ members, ownerOf }: RuntimeReading["placement"]): number {
  const living = new Set(
    members()
      .filter(({ state }) => state !== "dead")
      .flatMap(({ name, incarnation }) => [nodeId(name, incarnation), name]),
  );
  let unowned = 0;
  for (let shard = 0; shard < SHARDS; shard++) {
    const owner = ownerOf(shard);
    if (owner === null || !living.has(owner.node)) unowned++;
  }
  return unowned;
}
