// The gate before a node's application: it answers 503 while the node cannot serve, which is before its start has ended and
// while it is isolated, and closes connections once the node leaves. Probes are answered in any case. It knows no other route.

import type { Random } from "../base/clock.ts";
import type { Fetch } from "./app.ts";
import { errorAt, httpError } from "./errors.ts";
import { textResponse } from "./operations/health.ts";
import { pathOf, requestIdOf } from "./request-head.ts";

/** What the gate needs. */
export interface ReadinessGateParts {
  readonly random: Random;
  /** Returns the application, or null before the start has ended. */
  readonly app: () => Fetch | null;
  /** Returns why no request can be served now, or null when it can. */
  readonly closed: () => string | null;
  /** Wraps all answers, the gate's own too; null for no wrapper. */
  readonly around: ((inside: Fetch) => Fetch) | null;
  /** Returns whether the node leaves: then a connection kept open would be closed under its client's next request. */
  readonly leaving: () => boolean;
}

/** Paths that are answered in any case, because they ask about the node itself. */
const PROBE_PATHS: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

/** Creates what a server calls in the application's place. */
export function createReadinessGate({ random, app, closed, around, leaving }: ReadinessGateParts): Fetch {
  const answered: Fetch = (request, server) => {
    const reason = closed();
    const inside = app();
    if (inside !== null && (reason === null || PROBE_PATHS.has(pathOf(request.url)))) {
      return inside(request, server);
    }
    return refused(request, random, reason ?? "the node is starting");
  };
  const answer = around === null ? answered : around(answered);
  // Asked after the answer, so that requests that ran when the node began to leave close their connections too.
  const closing = (response: Response): Response => {
    if (leaving()) response.headers.set("connection", "close");
    return response;
  };
  return (request, server) => {
    const answering = answer(request, server);
    return answering instanceof Promise ? answering.then(closing) : closing(answering);
  };
}

function refused(request: Request, random: Random, reason: string): Response {
  const path = pathOf(request.url);
  const requestId = requestIdOf(request, random);
  const probe = probeResponse(path, reason);
  if (probe !== null) {
    probe.headers.set("x-request-id", requestId);
    return probe;
  }
  const message = `This node cannot serve requests now (${reason}). Repeat it: nothing was done.`;
  const found = httpError({ code: "service_unavailable", message, retryAfterS: 1 });
  return errorAt(path, request.headers)(found, { "x-request-id": requestId });
}

/** Returns the response to a probe, or null for another path. */
function probeResponse(path: string, reason: string): Response | null {
  if (path === "/healthz") return textResponse("ok");
  return path === "/readyz" ? textResponse(reason, 503) : null;
}
