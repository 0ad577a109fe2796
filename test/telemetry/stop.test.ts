// The end of traces: the last export gets the time that the stop has for it, whatever one export may take, so that a collector
// that does not answer holds up no stop.

import { expect, test } from "bun:test";
import { silent } from "../../src/base/log.ts";
import { readTracing } from "../../src/settings/tracing-settings.ts";
import { createTracing } from "../../src/telemetry/open-telemetry.ts";
import { until } from "../e2e/harness.ts";
import { manualClock, settled } from "../runtime/manual-clock.ts";

test("a collector that does not answer is given up after the time of the stop", async () => {
  let asked = 0;
  const hanging = Promise.withResolvers<Response>();
  const collector = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      asked++;
      return hanging.promise;
    },
  });
  const clock = manualClock();
  const set = new Map([
    ["OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.origin],
    ["OTEL_EXPORTER_OTLP_TIMEOUT", "600000"],
  ]);
  const settings = readTracing((name) => set.get(name) ?? null)!;
  try {
    const { tracer, stop } = createTracing(settings, {
      ...{ clock, random: { below: () => 0 }, log: silent, node: "gw-1", version: "1.0.0" },
    });
    const request = {
      requestId: "request-1",
      startedAtMs: clock.wall(),
      arrivedMs: clock.mono(),
      modelLabel: null,
    };
    const endpoint = { path: "/v1/chat/completions" as const };
    const trace = tracer.begin({ ...request, endpoint, call: { headers: new Headers() } })!;
    const end = { status: 429, code: "rate_limit_exceeded" };
    trace.ended({ charge: null, end, isStream: false, upstream: null }, null);

    let isStopped = false;
    const stopped = stop(2_000).then(() => {
      isStopped = true;
    });
    await until("the last spans are on their way", () => asked === 1);
    await clock.advance(1_999);
    await settled();
    expect(isStopped).toBe(false);
    await clock.advance(1);
    await stopped;
  } finally {
    hanging.resolve(Response.json({}));
    await collector.stop(true);
  }
});
