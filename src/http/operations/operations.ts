// Rows of what machines and readers of this document ask.

import { Type } from "@sinclair/typebox";
import { json, type Rows } from "../openapi/openapi-row.ts";
import type { Content } from "../operation.ts";
import { Cluster, MovedClock } from "./schemas.ts";

const text = (description: string): Content => ({ "text/plain": Type.String({ description }) });

/** The answer to a client that already has the file, by its entity tag. */
const SAME = { 304: { description: "What If-None-Match names is still the same" } };
const KNOWN = { "If-None-Match": "The entity tag of what is there already." };

export const MACHINE_ROWS: Rows = {
  "GET /x-cluster": {
    tag: "Administration",
    summary: "See the nodes, who owns which shard, and how all of it is",
    description:
      "Answers within about a second: a node that says nothing by then is shown without its figures. `health` and `gauges` " +
      "beside `shards` are over all nodes that answered: sums, but the most of `commit_lag_ms`, `mailbox_most`, " +
      "`watermark_age_ms` and `table_version`. A process that is alone is one node with all shards.",
    answers: json(Cluster),
  },
  "PUT /x-clock": {
    tag: "Administration",
    summary: "Move business time forward, in tests",
    description:
      "There only with ALLOW_CLOCK_OFFSET=1. Credit expires, days and months end and keys wake by the new time, on every node " +
      "of the store; nothing goes back, also by a restart.",
    asked: { offset_ms: 86_400_000 },
    answers: json(MovedClock),
    answered: { success: true, offset_ms: 86_400_000, now: "2026-11-23T09:00:00.000Z" },
  },
  "GET /healthz": {
    tag: "Machines",
    summary: "Tell whether the process is alive",
    answers: text("ok"),
  },
  "GET /readyz": {
    tag: "Machines",
    summary: "Tell whether the service can take requests",
    answers: text("ready"),
    besides: { 503: { description: "Not ready, and why", content: text("the reason") } },
  },
  "GET /metrics": {
    tag: "Machines",
    summary: "Get counters and gauges for Prometheus",
    description: "Needs Root's key or METRICS_TOKEN.",
    keys: "bearer",
    answers: text("one line a series"),
    refuses: [
      ...["missing_api_key", "invalid_api_key", "account_disabled", "ip_not_allowed", "not_root"],
      ...["internal_error", "service_unavailable"],
    ],
  },
  "GET /openapi.json": {
    tag: "Machines",
    summary: "Get this document",
    sent: KNOWN,
    answers: { "application/json": Type.Object({}, { additionalProperties: true }) },
    besides: SAME,
  },
  "GET /swagger": {
    tag: "Machines",
    summary: "Read this document and try it out, in a browser",
    sent: KNOWN,
    answers: { "text/html": Type.String() },
    besides: SAME,
  },
  "GET /swagger/:file": {
    tag: "Machines",
    summary: "Get a file of that page",
    params: { file: "Its name." },
    sent: KNOWN,
    answers: {
      "text/javascript": Type.String(),
      "text/css": Type.String(),
      "image/png": Type.String({ format: "binary" }),
    },
    besides: SAME,
    refuses: ["not_found"],
  },
};
