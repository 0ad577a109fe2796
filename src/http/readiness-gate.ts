// The door of a node: says 503 to everybody while the node can serve nobody, before its start has ended or when it is cut
// off from all others, and lets answers close their connections once the node leaves. Machines are told all the same.
// It knows no route but theirs.

import type { Random } from "../base/clock.ts";
import type { Fetch } from "./app.ts";
import { errorAt, httpError } from "./errors.ts";
import { textResponse } from "./operations/health.ts";
import { pathOf, requestIdOf } from "./request-head.ts";

export interface ReadinessGateParts {
  readonly random: Random;
  /** The application; null: the start has not ended. */
  readonly app: () => Fetch | null;
  /** Why nobody can be served now; null: come in. */
  readonly closed: () => string | null;
  /** Stands around all answers; null: nothing does. */
  readonly around: ((inside: Fetch) => Fetch) | null;
  /** A connection that stays open would be closed under its client's next request. */
  readonly leaving: () => boolean;
}

/** Told however it stands: they ask about the node itself. */
const MACHINES: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

/** What a server calls in the application's place. */
export function createReadinessGate({ random, app, closed, around, leaving }: ReadinessGateParts): Fetch {
  const answered: Fetch = (request, server) => {
    const reason = closed();
    const inside = app();
    if (inside !== null && (reason === null || MACHINES.has(pathOf(request.url)))) {
      return inside(request, server);
    }
    return refused(request, random, reason ?? "the node is starting");
  };
  const answer = around === null ? answered : around(answered);
  return async (request, server) => {
    const response = await answer(request, server);
    // Asked when it is answered: what was under way when the node began to leave has the word too.
    if (leaving()) response.headers.set("connection", "close");
    return response;
  };
}

function refused(request: Request, random: Random, reason: string): Response {
  const path = pathOf(request.url);
  const requestId = requestIdOf(request, random);
  const told = ofMachines(path, reason);
  if (told !== null) {
    told.headers.set("x-request-id", requestId);
    return told;
  }
  const message = `This node cannot serve requests now (${reason}). Repeat it: nothing was done.`;
  const found = httpError({ code: "service_unavailable", message, retryAfterS: 1 });
  return errorAt(path)(found, { "x-request-id": requestId });
}

/** What machines read of the node itself; null: another path. */
function ofMachines(path: string, reason: string): Response | null {
  if (path === "/healthz") return textResponse("ok");
  return path === "/readyz" ? textResponse(reason, 503) : null;
}
