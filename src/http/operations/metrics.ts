// Collects the metrics of a node when they are read. Nothing here is called by requests but the two counters of the edge;
// all else is counted in plain numbers where it happens. A scrape is bounded: paths, codes and states come from our own
// tables, and models and Levels have a bound each. No series names an account, a key or a secret.

import type { Protocol } from "../../../actors/index.ts";
import type { Clock } from "../../base/clock.ts";
import type { GatewayCounts } from "../../gateway/traffic/gateway-counts.ts";
import { KEY_STATES } from "../../gateway/traffic/level-states.ts";
import type { Placement } from "../../runtime/placement/placement.ts";
import { PROTOCOL_VERSION } from "../../runtime/protocol-version.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import { familyText, type Sample } from "./exposition.ts";
import type { Readiness } from "./health.ts";
import { METRICS, type MetricName } from "./metric-table.ts";
import { measureProcess } from "./process-metrics.ts";
import { ResponseCounts } from "./response-counts.ts";
import { RUNTIME_METRICS } from "./runtime-metrics.ts";

/** Counters and gauges of a node, as Prometheus reads them. */
export interface Metrics {
  /**
   * Counts a gateway request whose response begins; `status` is null when its client was gone. `ms` is how long that took.
   */
  request(labels: { path: string; status: number | null; stream: boolean }, ms: number): void;
  /** Counts a request to another endpoint. */
  managementRequest(status: number): void;
  /** Resolves to the metrics in Prometheus' text format. Waits for the store as long as the readiness does. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** What the metrics are read from. */
export interface MetricsParts {
  readonly system: Pick<ActorSystem<Protocol>, "stats" | "commitSeconds">;
  readonly placement: Pick<Placement, "members" | "ownerOf">;
  readonly readiness: Readiness;
  readonly counts: GatewayCounts;
  readonly clock: Pick<Clock, "wall">;
  /** Returns how many lines the access log dropped. */
  readonly accessLinesDropped: () => number;
}

type Samples = Readonly<Record<MetricName, readonly Sample[]>>;
type RuntimeSamples = Pick<Samples, keyof typeof RUNTIME_METRICS>;

/** Statuses of failures of our own, which are exported before there is one: a series that begins with 1 shows no growth. */
const FAILED_STATUSES = [500, 503] as const;

/** Creates the metrics of a node. */
export function createMetrics(parts: MetricsParts): Metrics {
  const measured = measureProcess();
  const responses = new ResponseCounts();
  const management = new Map<number, number>(FAILED_STATUSES.map((status) => [status, 0]));
  return {
    request: ({ path, status, stream }, ms) => responses.add(path, status, stream, ms / 1_000),
    managementRequest: (status) => void management.set(status, (management.get(status) ?? 0) + 1),
    async text() {
      const [ofProcess, reason] = await Promise.all([measured.text(), parts.readiness.reason()]);
      const samples: Samples = {
        arborgate_requests_total: responses.counts(),
        arborgate_request_seconds: responses.durations(),
        arborgate_management_requests_total: [...management].map(([status, n]) => [[String(status)], n]),
        arborgate_ready: [[[], reason === null ? 1 : 0]],
        arborgate_access_log_dropped_total: [[[], parts.accessLinesDropped()]],
        ...requestSamples(parts.counts),
        ...modelSamples(parts.counts),
        ...levelSamples(parts.counts, parts.clock.wall()),
        ...nodeSamples(parts),
      };
      const families = (Object.keys(METRICS) as MetricName[]).map((name) =>
        familyText(name, METRICS[name], samples[name]),
      );
      return `${[ofProcess.trimEnd(), ...families].join("\n\n")}\n`;
    },
    contentType: measured.contentType,
  };
}

function requestSamples({ requests, attempts }: GatewayCounts) {
  const { streamed, unstreamed, refusals } = requests;
  return {
    arborgate_request_whole_seconds: [
      [["false"], unstreamed.whole],
      [["true"], streamed.whole],
    ],
    arborgate_added_seconds: [
      [["false"], unstreamed.added],
      [["true"], streamed.added],
    ],
    arborgate_refusals_total: [...refusals].map(([code, n]): Sample => [[code], n]),
    arborgate_attempts_total: attempts.all().map(([level, result, n]): Sample => [[level, result], n]),
  } satisfies Partial<Samples>;
}

function modelSamples({ requests }: GatewayCounts) {
  const { all } = requests.models;
  const by = (read: (series: (typeof all)[number]) => Sample[1]): readonly Sample[] =>
    all.map((series) => [[series.model, series.level], read(series)]);
  return {
    arborgate_model_requests_total: by((one) => one.requests),
    arborgate_model_failures_total: by((one) => one.failures),
    arborgate_level_refusals_total: [...requests.models.withoutKeyByLevel()].map(
      ([level, n]): Sample => [[level], n],
    ),
    arborgate_tokens_total: all.flatMap(({ model, level, promptTokens, completionTokens }): Sample[] => [
      [[model, level, "prompt"], promptTokens],
      [[model, level, "completion"], completionTokens],
    ]),
    arborgate_cost_usd_total: by((one) => one.costNano / NANO_PER_USD),
    arborgate_upstream_first_seconds: by((one) => one.first),
    arborgate_upstream_seconds: by((one) => one.whole),
  } satisfies Partial<Samples>;
}

const NANO_PER_USD = 1e9;

function levelSamples({ levels, levelEvents }: GatewayCounts, now: number) {
  const figures = levels.figures(now);
  const events = [...levelEvents.byLevel];
  return {
    arborgate_provider_keys: figures.flatMap(({ level, keys }) =>
      KEY_STATES.map((state): Sample => [[level, state], keys[state]]),
    ),
    arborgate_levels_down: figures.map(({ level, down }): Sample => [[level], down]),
    arborgate_levels_switched_over: figures.map(({ level, switchedOver }): Sample => [[level], switchedOver]),
    arborgate_switch_overs_total: events.map(([level, { switchOvers }]): Sample => [[level], switchOvers]),
    arborgate_key_sleeps_total: events.map(([level, { sleeps }]): Sample => [[level], sleeps]),
  } satisfies Partial<Samples>;
}

/** The states of nodes, which are exported when there is none too. */
const NODE_STATES = ["up", "leaving", "dead"] as const;

function nodeSamples({ system, placement }: MetricsParts) {
  const stats = system.stats();
  const members = placement.members();
  const reading = { stats, placement, commitSeconds: system.commitSeconds };
  const ofRuntime = Object.entries(RUNTIME_METRICS).map(([name, { samples }]) => [name, samples(reading)]);
  return {
    arborgate_build_info: [[[stats.version, `bun ${Bun.version}`, String(PROTOCOL_VERSION)], 1]],
    arborgate_nodes: NODE_STATES.map(
      (state): Sample => [[state], members.filter((one) => one.state === state).length],
    ),
    ...(Object.fromEntries(ofRuntime) as RuntimeSamples),
  } satisfies Partial<Samples>;
}
