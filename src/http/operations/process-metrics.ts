// The metrics of the process: CPU, memory, file descriptors, the delay of the event loop. prom-client measures them; this
// file says which of them are exported and what they mean here. Those that the runtime leaves empty are not.

import { collectDefaultMetrics, Registry } from "prom-client";
import type { Metric } from "./exposition.ts";

const gauge = (help: string): Metric => ({ type: "gauge", help, labels: [] });
const counter = (help: string): Metric => ({ type: "counter", help, labels: [] });

/** What is exported, in prom-client's order. */
export const PROCESS_METRICS: Readonly<Record<string, Metric>> = {
  process_cpu_user_seconds_total: counter("CPU time in user mode, in seconds"),
  process_cpu_system_seconds_total: counter("CPU time in the kernel, in seconds"),
  process_cpu_seconds_total: counter("CPU time, in seconds"),
  process_start_time_seconds: gauge("Start of the process, in seconds since 1970"),
  process_resident_memory_bytes: gauge("Memory in use (RSS)"),
  process_virtual_memory_bytes: gauge("Address space"),
  process_open_fds: gauge("Open file descriptors, connections included; Linux only"),
  process_max_fds: gauge("The most that may be open; Linux only"),
  nodejs_eventloop_lag_min_seconds: gauge("Shortest delay of the event loop since the last scrape"),
  nodejs_eventloop_lag_max_seconds: gauge("Longest delay of the event loop since the last scrape"),
  nodejs_eventloop_lag_mean_seconds: gauge("Mean delay of the event loop since the last scrape"),
  nodejs_eventloop_lag_p50_seconds: gauge("Median delay of the event loop since the last scrape"),
  nodejs_eventloop_lag_p90_seconds: gauge(
    "90th percentile of the delay of the event loop since the last scrape",
  ),
  nodejs_eventloop_lag_p99_seconds: gauge(
    "99th percentile of the delay of the event loop since the last scrape",
  ),
  nodejs_heap_size_total_bytes: gauge("Size of the heap"),
  nodejs_heap_size_used_bytes: gauge("The part of the heap that is in use"),
  nodejs_external_memory_bytes: gauge("Memory of buffers outside the heap"),
};

/** Starts to measure the process. Returns a function that resolves to its metrics in Prometheus' text format. */
export function measureProcess(): { readonly text: () => Promise<string>; readonly contentType: string } {
  const register = new Registry();
  collectDefaultMetrics({ register });
  for (const { name } of register.getMetricsAsArray()) {
    if (!Object.hasOwn(PROCESS_METRICS, name)) register.removeSingleMetric(name);
  }
  return { text: () => register.metrics(), contentType: register.contentType };
}
