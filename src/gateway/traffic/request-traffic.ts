// Counts the requests to models of a node as they end: by model and Level, refusals by code, and how long requests took
// in all and without their providers. Responses by path and status are counted at the edge, by `ResponseCounts`, because a
// failure that ended no request has a response too. It decides nothing, and no request waits for it.

import { Histogram } from "../../base/histogram.ts";
import type { EndedContext } from "../ended-context.ts";
import { ModelTraffic } from "./model-traffic.ts";
import { codeOf, REFUSAL_CODES } from "./outcome-code.ts";
import type { RequestObserver } from "./request-observer.ts";

/** Upper bounds, in seconds, of the time that the gateway adds, and of whole requests. */
const ADDED_BOUNDS_S = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const WHOLE_BOUNDS_S = [0.05, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600];

/** The times of requests of one kind, in seconds. */
class RequestTimes {
  /** From arrival to the beginning of the response, without the attempts at providers. */
  readonly added = new Histogram(ADDED_BOUNDS_S);
  /** From arrival to the end. */
  readonly whole = new Histogram(WHOLE_BOUNDS_S);
}

/** The counts of a node. */
export class RequestTraffic implements RequestObserver {
  readonly models = new ModelTraffic();
  /** The times of answered requests. */
  readonly streamed = new RequestTimes();
  readonly unstreamed = new RequestTimes();
  /**
   * Requests that ended with an error and without a charge, by code; each stands there from the start, so that its first time
   * is a growth. An answer that broke off is charged, and is a failure of its model alone.
   */
  readonly refusals = new Map(REFUSAL_CODES.map((code) => [code, 0]));

  ended(context: EndedContext, endedMs: number): void {
    const { charge, end, route, modelLabel, upstream, isStream } = context;
    const code = codeOf(context);
    if (end !== null && code !== null) this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
    if (route === null || modelLabel === null) return;
    const series = this.models.seriesOf(modelLabel, route.level);
    series.requests++;
    if (code !== null) series.failures++;
    if (code === "no_available_key") series.withoutKey++;
    if (charge !== null && end === null) series.charged(charge);
    if (upstream === null) return;
    const { firstMs, attemptsMs } = upstream;
    if (isStream) series.first.observe(firstMs / 1_000);
    const times = isStream ? this.streamed : this.unstreamed;
    times.whole.observe((endedMs - context.arrivedMs) / 1_000);
    const addedMs = (context.respondedMs || endedMs) - context.arrivedMs - attemptsMs;
    // A response that began with a keepalive began before its provider had answered.
    if (addedMs >= 0) times.added.observe(addedMs / 1_000);
  }
}
