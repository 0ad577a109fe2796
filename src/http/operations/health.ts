// What machines ask: is the process alive, is it ready, what do its counters say. No account is involved.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Protocol } from "../../../actors/index.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import { type Store, StoreLostError } from "../../store/store.ts";

/** What machines read: a line of text. */
export const textResponse = (line: string, status = 200): Response =>
  new Response(`${line}\n`, { status, headers: { "content-type": "text/plain; charset=utf-8" } });

export interface Readiness {
  /** Returns why the node is not ready; null when it is. */
  reason(): Promise<string | null>;
}

/** Commit lag above which new work is refused at the door. */
export const LAG_MS_MAX = 1_000;
const STORE_MS = 1_000;

export function createReadiness(parts: {
  system: ActorSystem<Protocol>;
  store: Store;
  /** Why this node should get no requests, as far as it knows without asking anybody; null: it may get some. */
  standing: () => string | null;
}): Readiness {
  return {
    async reason() {
      const reason = parts.standing();
      if (reason !== null) return reason;
      if (parts.system.lagMs() > LAG_MS_MAX)
        return "the store is slow or full: commits wait longer than a second";
      const late = new Promise<string>((resolve) =>
        setTimeout(resolve, STORE_MS, "the store does not answer").unref(),
      );
      const answered = parts.store.now().then(
        () => null,
        (error) => (error instanceof StoreLostError ? error.message : "the store cannot be reached"),
      );
      return Promise.race([answered, late]);
    },
  };
}

export interface Metrics {
  /** A gateway request ended. */
  request(labels: { path: string; status: number; stream: boolean }, ms: number): void;
  text(): Promise<string>;
  readonly contentType: string;
}

/** Metrics carry no account, key or model name: their number is bounded and they hold no secret. */
export function createMetrics(system: ActorSystem<Protocol>): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const requests = new Counter({
    name: "arborgate_requests_total",
    help: "Gateway requests by path, status and kind",
    labelNames: ["path", "status", "stream"],
    registers,
  });
  const duration = new Histogram({
    name: "arborgate_request_seconds",
    help: "Time of gateway requests",
    labelNames: ["path", "stream"],
    buckets: [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 15, 60, 300],
    registers,
  });
  new Gauge({
    name: "arborgate_runtime",
    help: "Counters and gauges of the actor runtime",
    labelNames: ["what"],
    registers,
    collect() {
      const { counters, figures, ...gauges } = system.stats();
      for (const [what, value] of Object.entries({ ...counters, ...figures, ...gauges })) {
        if (typeof value === "number") this.set({ what }, value);
      }
    },
  });
  // Finding a series by its labels costs more than counting in it; there are few, since paths come from our own table.
  const series = new Map<string, { count(): void; observe(seconds: number): void }>();
  const seriesOf = (path: string, status: number, stream: boolean) => {
    const key = `${path} ${status} ${stream}`;
    let found = series.get(key);
    if (found === undefined) {
      const counter = requests.labels({ path, status: String(status), stream: String(stream) });
      const histogram = duration.labels({ path, stream: String(stream) });
      found = { count: () => counter.inc(), observe: (seconds) => histogram.observe(seconds) };
      series.set(key, found);
    }
    return found;
  };
  return {
    request({ path, status, stream }, ms) {
      const found = seriesOf(path, status, stream);
      found.count();
      found.observe(ms / 1000);
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
