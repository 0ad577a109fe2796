// What machines and Root ask about the service: health, metrics, the cluster, the clock of tests. Endpoints are declared here;
// what they answer is made in the other files of the folder. Those for machines know no account.

import { Type } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";
import { type Refusal, RefusedError } from "../../base/errors.ts";
import { management } from "../management.ts";
import { type Content, operation } from "../operation.ts";
import { clientIpOf } from "../request-head.ts";
import { NoQuerySchema } from "../schemas.ts";
import { webResponseOf } from "../web-messages.ts";
import { type ClockParts, moveClock } from "./clock.ts";
import { type ClusterEndpointParts, clusterOverview, OVERVIEW_MS } from "./cluster.ts";
import { type Readiness, textResponse } from "./health.ts";
import type { Metrics } from "./metrics.ts";
import { ClockMoveSchema, ClusterSchema, MovedClockSchema } from "./schemas.ts";

/** What the endpoints of this family need. */
export interface OperationsParts extends ClusterEndpointParts, ClockParts {
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  /** Resolves to what keeps a request from the metrics; null when it may read them. */
  readonly metricsRefusal: (request: Request, ip: () => string) => Promise<Refusal | null>;
}

/** `/healthz`, `/readyz`, `/metrics`, `/x-cluster`, `/x-clock`. Source: contract sections 1 and 7. */
export const operations = (parts: OperationsParts) => {
  const app: AnyElysia = new Elysia({ normalize: false })
    .use(cluster(parts) as AnyElysia)
    .use(health(parts) as AnyElysia);
  if (parts.movableClock !== null) app.use(clock(parts) as AnyElysia);
  // Metrics identify their readers themselves, so no `access` keeps them from the public listener.
  if (parts.servesAdministration) app.use(metrics(parts) as AnyElysia);
  return app;
};

const cluster = (parts: OperationsParts) =>
  new Elysia({ normalize: false })
    .use(management(parts))
    .get("/x-cluster", async () => clusterOverview(parts), {
      access: { role: "root", scope: "admin", audit: null, identifyMs: OVERVIEW_MS, hasEtag: true },
      query: NoQuerySchema,
      response: ClusterSchema,
      detail: operation({
        tag: "Administration",
        operationId: "getCluster",
        summary: "Get the nodes, the owner of each shard, and their health",
        description:
          "Answers within about a second: a node that does not report by then is listed without its figures. `health` and `gauges` " +
          "beside `shards` are over all nodes that reported: sums, but the maximum of `commit_lag_ms`, `mailbox_most`, " +
          "`watermark_age_ms` and `table_version`. A single process is one node with all shards.",
      }),
    });

const clock = (parts: OperationsParts) =>
  new Elysia({ normalize: false })
    .use(management(parts))
    .put("/x-clock", async ({ body, call }) => moveClock(parts, call, body), {
      access: { role: "root", scope: "admin", audit: "move_clock" },
      query: NoQuerySchema,
      body: ClockMoveSchema,
      response: MovedClockSchema,
      detail: operation({
        tag: "Administration",
        operationId: "moveClock",
        summary: "Move business time forward, in tests",
        description:
          "There only with ALLOW_CLOCK_OFFSET=1. Credit expires, days and months end and keys wake by the new time, on every node " +
          "of the store; nothing goes back, also by a restart.",
        requestExample: { offset_ms: 86_400_000 },
        answerExample: { success: true, offset_ms: 86_400_000, now: "2026-11-23T09:00:00.000Z" },
      }),
    });

const text = (description: string): Content => ({ "text/plain": Type.String({ description }) });

const health = ({ readiness }: OperationsParts) =>
  new Elysia({ normalize: false })
    .get("/healthz", () => webResponseOf(textResponse("ok")), {
      detail: operation({
        tag: "Machines",
        operationId: "checkLiveness",
        summary: "Check whether the process is alive",
        answerContent: text("ok"),
      }),
    })
    .get(
      "/readyz",
      async () => {
        const reason = await readiness.reason();
        return webResponseOf(reason === null ? textResponse("ready") : textResponse(reason, 503));
      },
      {
        detail: operation({
          tag: "Machines",
          operationId: "checkReadiness",
          summary: "Check whether the service can take requests",
          answerContent: text("ready"),
          otherResponses: { 503: { description: "Not ready, and why", content: text("the reason") } },
        }),
      },
    );

const metrics = (parts: OperationsParts) =>
  new Elysia({ normalize: false }).get(
    "/metrics",
    async ({ request }) => {
      const refusal = await parts.metricsRefusal(request, () =>
        clientIpOf(request, parts.routed.addressOf(request), parts.trustProxy),
      );
      if (refusal !== null) throw new RefusedError(refusal);
      const body = await parts.metrics.text();
      return new Response(body, { headers: { "content-type": parts.metrics.contentType } });
    },
    {
      detail: operation({
        tag: "Machines",
        operationId: "getMetrics",
        summary: "Get counters and gauges for Prometheus",
        description: "Needs Root's key or METRICS_TOKEN.",
        security: [{ bearer: [] }],
        answerContent: text("one line per time series"),
        errors: [
          ...(["missing_api_key", "invalid_api_key", "account_disabled", "ip_not_allowed"] as const),
          ...(["scope_missing", "not_root", "internal_error", "service_unavailable"] as const),
        ],
      }),
    },
  );
