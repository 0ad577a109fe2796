// Responses are counted as prom-client counts them, to the byte of what it writes.

import { expect, test } from "bun:test";
import { Counter, Histogram, Registry } from "prom-client";
import { familyText } from "../../../src/http/operations/exposition.ts";
import { METRICS } from "../../../src/http/operations/metric-table.ts";
import { ResponseCounts } from "../../../src/http/operations/response-counts.ts";

const ASKED: readonly (readonly [path: string, status: number | null, stream: boolean, seconds: number])[] = [
  ["/v1/chat/completions", 200, false, 0.0123],
  ["/v1/messages", 200, true, 301],
  ["/v1/chat/completions", 200, true, 0.005],
  ["/v1/chat/completions", 429, false, 0.00017],
  ["/v1/responses/{id}", 404, false, 0.02],
  ["/v1/chat/completions", 200, false, 0.1 + 0.2],
  ["/v1/messages", 200, true, 300],
  ["/v1/messages", null, false, 0.15],
  ["/v1/chat/completions", 200, false, 0],
];

test.each([0, 1, ASKED.length])("after %d requests", async (length) => {
  const registers = [new Registry()];
  const requests = new Counter({
    name: "arborgate_requests_total",
    help: METRICS.arborgate_requests_total.help,
    labelNames: ["path", "status", "stream"],
    registers,
  });
  const duration = new Histogram({
    name: "arborgate_request_seconds",
    help: METRICS.arborgate_request_seconds.help,
    labelNames: ["path", "stream"],
    buckets: [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 15, 60, 300, 600],
    registers,
  });
  const counts = new ResponseCounts();
  for (const [path, status, stream, seconds] of ASKED.slice(0, length)) {
    requests.inc({ path, status: String(status ?? "client_gone"), stream: String(stream) });
    duration.observe({ path, stream: String(stream) }, seconds);
    counts.add(path, status, stream, seconds);
  }
  const families = [
    familyText("arborgate_requests_total", METRICS.arborgate_requests_total, counts.counts()),
    familyText("arborgate_request_seconds", METRICS.arborgate_request_seconds, counts.durations()),
  ];
  expect(`${families.join("\n\n")}\n`).toBe(await registers[0]!.metrics());
});
