// Readiness and metrics of a node, and the plain text in which machines read them. No account is involved.

import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Protocol } from "../../../actors/index.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import { type Store, StoreLostError } from "../../store/store.ts";
import { RequestMetrics } from "./request-metrics.ts";

/** Returns a response of one line of text. */
export const textResponse = (line: string, status = 200): Response =>
  new Response(`${line}\n`, { status, headers: { "content-type": "text/plain; charset=utf-8" } });

/** Whether a node can take requests. */
export interface Readiness {
  /** Resolves to why the node is not ready; null when it is. Asks the store, for up to a second. */
  reason(): Promise<string | null>;
}

/** The commit lag above which new work is refused. */
export const LAG_MS_MAX = 1_000;
/** The wait for the store's answer. */
const STORE_MS = 1_000;

/** Creates the readiness of a node. */
export function createReadiness(parts: {
  system: ActorSystem<Protocol>;
  store: Store;
  /** Returns why this node should get no requests, as far as it knows by itself; null when it may get some. */
  localReason: () => string | null;
}): Readiness {
  return {
    async reason() {
      const reason = parts.localReason();
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

/** Counters and gauges of a node, as Prometheus reads them. */
export interface Metrics {
  /** Counts a gateway request that ended. `ms` is how long it took. */
  request(labels: { path: string; status: number; stream: boolean }, ms: number): void;
  text(): Promise<string>;
  readonly contentType: string;
}

/** Creates the metrics. They carry no account, key or model name, so their number is bounded and they hold no secret. */
export function createMetrics(system: ActorSystem<Protocol>): Metrics {
  const ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  const requests = new RequestMetrics();
  const ofRuntime = new Registry();
  new Gauge({
    name: "arborgate_runtime",
    help: "Counters and gauges of the actor runtime",
    labelNames: ["what"],
    registers: [ofRuntime],
    collect() {
      const { counters, figures, ...gauges } = system.stats();
      for (const [what, value] of Object.entries({ ...counters, ...figures, ...gauges })) {
        if (typeof value === "number") this.set({ what }, value);
      }
    },
  });
  return {
    request: ({ path, status, stream }, ms) => requests.add(path, status, stream, ms / 1000),
    async text() {
      const [process, runtime] = await Promise.all([ofProcess.metrics(), ofRuntime.metrics()]);
      return `${process}\n${requests.text()}\n\n${runtime}`;
    },
    contentType: ofProcess.contentType,
  };
}
