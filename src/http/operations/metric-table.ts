// Every metric of a node: its name, type, labels and meaning. Whatever /metrics exports stands here, docs/metrics.md has
// the same rows, and dashboards and alerts may use no other name. From the first release on names and labels never change.

import type { Metric } from "./exposition.ts";
import { RUNTIME_METRICS } from "./runtime-metrics.ts";

const MODEL = ["model", "level"] as const;

/** What this service counts, in the order in which it is exported. */
export const METRICS = {
  arborgate_requests_total: {
    type: "counter",
    help: "Gateway requests by path, status and kind; status client_gone: the client was gone before it could get one",
    labels: ["path", "status", "stream"],
  },
  arborgate_request_seconds: {
    type: "histogram",
    help: "Time of gateway requests until their response begins: a whole answer, or the first event of a stream",
    labels: ["path", "stream"],
  },
  arborgate_request_whole_seconds: {
    type: "histogram",
    help: "Time of answered gateway requests until their end",
    labels: ["stream"],
  },
  arborgate_added_seconds: {
    type: "histogram",
    help: "The part of the time until the response begins in which no provider was asked",
    labels: ["stream"],
  },
  arborgate_refusals_total: {
    type: "counter",
    help: "Gateway requests that ended with an error and without a charge, by its code; client_gone: the client disconnected before an answer; rejected: a provider's own code; an answer that broke off is charged, and counts in arborgate_model_failures_total instead",
    labels: ["code"],
  },
  arborgate_management_requests_total: {
    type: "counter",
    help: "Requests to all other endpoints, by status",
    labels: ["status"],
  },
  arborgate_model_requests_total: {
    type: "counter",
    help: "Gateway requests that were admitted, by model and Level",
    labels: MODEL,
  },
  arborgate_model_failures_total: {
    type: "counter",
    help: "Those of them that got no complete answer",
    labels: MODEL,
  },
  arborgate_level_refusals_total: {
    type: "counter",
    help: "Gateway requests that ended with no_available_key, by the Level that had their hold",
    labels: ["level"],
  },
  arborgate_tokens_total: {
    type: "counter",
    help: "Charged tokens; kind is prompt or completion",
    labels: [...MODEL, "kind"],
  },
  arborgate_cost_usd_total: { type: "counter", help: "Charges in US dollars", labels: MODEL },
  arborgate_upstream_first_seconds: {
    type: "histogram",
    help: "Time of the attempt that answered until the first content, of streams alone",
    labels: MODEL,
  },
  arborgate_upstream_seconds: {
    type: "histogram",
    help: "Time of the attempt that answered until its end",
    labels: MODEL,
  },
  arborgate_attempts_total: {
    type: "counter",
    help: "Attempts at providers by the Level of their key; result is ok or the kind of failure",
    labels: ["level", "result"],
  },
  arborgate_provider_keys: {
    type: "gauge",
    help: "Provider keys by Level and state, of the Levels whose actors this node owns, once a request has used them",
    labels: ["level", "state"],
  },
  arborgate_levels_down: {
    type: "gauge",
    help: "Levels of these without a usable key, where at least one sleeps: the others sleep or are disabled",
    labels: ["level"],
  },
  arborgate_levels_switched_over: {
    type: "gauge",
    help: "Levels of these whose requests go to their backup Level now",
    labels: ["level"],
  },
  arborgate_switch_overs_total: {
    type: "counter",
    help: "Times that a Level was switched over to its backup Level",
    labels: ["level"],
  },
  arborgate_key_sleeps_total: {
    type: "counter",
    help: "Times that a provider key was put to sleep",
    labels: ["level"],
  },
  arborgate_ready: { type: "gauge", help: "1 while /readyz says that the node is ready, else 0", labels: [] },
  arborgate_nodes: {
    type: "gauge",
    help: "Nodes of the cluster by state, as this node knows them",
    labels: ["state"],
  },
  ...RUNTIME_METRICS,
  arborgate_access_log_dropped_total: {
    type: "counter",
    help: "Lines that the access log dropped because its reader was slow",
    labels: [],
  },
  arborgate_build_info: {
    type: "gauge",
    help: "Always 1: the version of the program, of its runtime, and of the protocol between nodes",
    labels: ["version", "runtime", "protocol"],
  },
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricName = keyof typeof METRICS;
