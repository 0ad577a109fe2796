// CORS: answers preflights, and adds the headers by which pages of other origins may read responses. CORS_ORIGINS lists the
// origins. There is no credentials mode: a page sends its API key itself.

import type { Random } from "../base/clock.ts";
import { requestIdOf } from "./request-head.ts";
import type { Handler } from "./server/http-server.ts";
import type { ServerRequest } from "./server/server-request.ts";
import type { ServerResponse } from "./server/server-response.ts";

/** The entry of CORS_ORIGINS that allows every origin. */
const ANY_ORIGIN = "*";

/** Paths without CORS: they replace keys of whole accounts, or are for machines (contract section 2). */
const CLOSED_PATHS: ReadonlySet<string> = new Set(["/metrics", "/x-root", "/x-self"]);

const METHODS = "GET, POST, PUT, DELETE";
const MAX_AGE_SECONDS = "600";

const EACH_LIMIT = ["requests", "tokens"].flatMap((what) =>
  ["limit", "remaining", "reset"].flatMap((figure) => [
    `x-ratelimit-${figure}-${what}`,
    `anthropic-ratelimit-${what}-${figure}`,
  ]),
);

/** Each header by name, because browsers accept no patterns here. */
const EXPOSED = [
  ...["x-request-id", "request-id", "retry-after", "x-should-retry"],
  ...["x-arbor-model", "x-arbor-level", "x-arbor-attempts", "x-arbor-cost"],
  ...EACH_LIMIT,
  ...["x-total-count", "x-page", "x-per-page", "x-total-pages"],
].join(", ");

/**
 * Wraps an application: preflights of these origins are answered before it, and their pages may read its responses.
 */
export function allowOrigins(origins: readonly string[], random: Random): (inside: Handler) => Handler {
  const isAny = origins.includes(ANY_ORIGIN);
  const listed = new Set(origins);
  /** Returns the value of `access-control-allow-origin` for an origin, or null for none. */
  const allowedFor = (origin: string | null): string | null => {
    if (origin === null) return null;
    if (isAny) return ANY_ORIGIN;
    return listed.has(origin) ? origin : null;
  };

  return (inside) => async (request) => {
    if (isClosed(request.path)) return inside(request);
    const allowed = allowedFor(request.headers.get("origin"));
    if (allowed !== null && isPreflight(request))
      return preflight(request, allowed, requestIdOf(request, random));
    const response = await inside(request);
    const { headers } = response;
    // The response to another origin differs in these headers, so that a cache must not serve it to this one.
    headers.vary = headers.vary === undefined ? "Origin" : `${headers.vary}, Origin`;
    if (allowed !== null) {
      headers["access-control-allow-origin"] = allowed;
      headers["access-control-expose-headers"] = EXPOSED;
    }
    return response;
  };
}

/** The application ignores a slash at the end of a path, so this does too. */
const isClosed = (path: string): boolean => CLOSED_PATHS.has(path.endsWith("/") ? path.slice(0, -1) : path);

const isPreflight = ({ method, headers }: ServerRequest): boolean =>
  method === "OPTIONS" && headers.has("access-control-request-method");

function preflight(request: ServerRequest, allowed: string, requestId: string): ServerResponse {
  const wanted = request.headers.get("access-control-request-headers");
  return {
    status: 204,
    headers: {
      "x-request-id": requestId,
      "access-control-allow-origin": allowed,
      "access-control-allow-methods": METHODS,
      ...(wanted === null ? {} : { "access-control-allow-headers": wanted }),
      "access-control-max-age": MAX_AGE_SECONDS,
      vary: "Origin",
    },
    body: null,
  };
}
