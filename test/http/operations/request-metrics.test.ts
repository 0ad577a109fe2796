// Requests are counted as prom-client counts them, to the byte of what it writes.

import { expect, test } from "bun:test";
import { Counter, Histogram, Registry } from "prom-client";
import { RequestMetrics } from "../../../src/http/operations/request-metrics.ts";

const ASKED: readonly (readonly [path: string, status: number, stream: boolean, seconds: number])[] = [
  ["/v1/chat/completions", 200, false, 0.0123],
  ["/v1/messages", 200, true, 301],
  ["/v1/chat/completions", 200, true, 0.005],
  ["/v1/chat/completions", 429, false, 0.00017],
  ["/v1/responses/{id}", 404, false, 0.02],
  ["/v1/chat/completions", 200, false, 0.1 + 0.2],
  ["/v1/messages", 200, true, 300],
  ["/v1/chat/completions", 200, false, 0],
];

test.each([0, 1, ASKED.length])("after %d requests", async (length) => {
  const registers = [new Registry()];
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
  const metrics = new RequestMetrics();
  for (const [path, status, stream, seconds] of ASKED.slice(0, length)) {
    requests.inc({ path, status: String(status), stream: String(stream) });
    duration.observe({ path, stream: String(stream) }, seconds);
    metrics.add(path, status, stream, seconds);
  }
  expect(`${metrics.text()}\n`).toBe(await registers[0]!.metrics());
});
