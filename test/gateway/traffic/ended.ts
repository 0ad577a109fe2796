// Ended requests for tests of what watches them.

import type { ChargeFacts } from "../../../actors/account/state.ts";
import type { EndedContext } from "../../../src/gateway/ended-context.ts";

/** A request to `m` at Level 1 that was charged: it took 100 ms, of which its provider had 60, the first event after 20. */
export function endedRequest(over: Partial<EndedContext> = {}): EndedContext {
  const attempts = [{ key: 5, level: 1, model: "m", status: 200, signal: "ok", ms: 80 }];
  return {
    ...{ requestId: "r-1", startedAtMs: 0, admittedKey: null, end: null, identifiedAs: null },
    ...{ method: "POST", path: "/v1/chat/completions", arrivedMs: 1_000, respondedMs: 1_070 },
    charge: { prompt: 10, completion: 5, cost: 2_000_000_000, attempts } as unknown as ChargeFacts,
    route: { level: 1 },
    modelLabel: "m",
    answeredBy: null,
    isStream: false,
    upstream: { firstMs: 20, attemptsMs: 60 },
    bodyBytes: () => 300,
    ...over,
  };
}

/** The same, refused with a code before it was charged. */
export const refusedRequest = (code: string, over: Partial<EndedContext> = {}): EndedContext =>
  endedRequest({ end: { status: 429, code }, charge: null, upstream: null, ...over });
