// The gate before a node's application: it answers 503 while the node cannot serve, which is before its start has ended and
// while it is isolated, and closes connections once the node leaves. Probes are answered in any case. It knows no other route.

import type { Random } from "../base/clock.ts";
import { errorAt, httpError } from "./errors.ts";
import { textResponse } from "./operations/health.ts";
import { requestIdOf } from "./request-head.ts";
import type { Handler } from "./server/http-server.ts";
import type { ServerRequest } from "./server/server-request.ts";
import type { ServerResponse } from "./server/server-response.ts";

/** What the gate needs. */
export interface ReadinessGateParts {
  readonly random: Random;
  /** Returns the application, or null before the start has ended. */
  readonly app: () => Handler | null;
  /** Returns why no request can be served now, or null when it can. */
  readonly closed: () => string | null;
  /** Wraps all answers, the gate's own too; null for no wrapper. */
  readonly around: ((inside: Handler) => Handler) | null;
  /** Returns whether the node leaves: then a connection kept open would be closed under its client's next request. */
  readonly leaving: () => boolean;
}

/** Paths that are answered in any case, because they ask about the node itself. */
export const PROBE_PATHS: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

/** Creates what a server calls in the application's place. */
export function createReadinessGate({ random, app, closed, around, leaving }: ReadinessGateParts): Handler {
  const answered: Handler = (request) => {
    const reason = closed();
    const inside = app();
    if (inside !== null && (reason === null || PROBE_PATHS.has(request.path))) {
      return inside(request);
    }
    return refused(request, random, reason ?? "the node is starting");
  };
  const answer = around === null ? answered : around(answered);
  // Asked after the answer, so that requests that ran when the node began to leave close their connections too.
  const closing = (response: ServerResponse): ServerResponse => {
    if (leaving()) response.headers.connection = "close";
    return response;
  };
  return (request) => {
    const answering = answer(request);
    return answering instanceof Promise ? answering.then(closing) : closing(answering);
  };
}

function refused(request: ServerRequest, random: Random, reason: string): ServerResponse {
  const { path } = request;
  const requestId = requestIdOf(request, random);
  const probe = probeResponse(path, reason);
  if (probe !== null) {
    probe.headers["x-request-id"] = requestId;
    return probe;
  }
  const message = `This node cannot serve requests now (${reason}). Repeat it: nothing was done.`;
  const found = httpError({ code: "service_unavailable", message, retryAfterS: 1 });
  return errorAt(path, request.headers)(found, { "x-request-id": requestId });
}

/** Returns the response to a probe, or null for another path. */
function probeResponse(path: string, reason: string): ServerResponse | null {
  if (path === "/healthz") return textResponse("ok");
  return path === "/readyz" ? textResponse(reason, 503) : null;
}
