// What browsers of other origins may read: preflights, and the headers that answers carry for them. CORS_ORIGINS lists the
// origins. There is no credentials mode: a page sends its API key itself, so what it may not know it cannot ask for.

import type { Random } from "../base/clock.ts";
import type { Fetch } from "./app.ts";
import { pathOf, requestIdOf } from "./request-head.ts";

/** In place of an origin: any. */
const ANY_ORIGIN = "*";

/** These manage keys of whole accounts, or are for machines: no page of another origin has business there. */
const CLOSED_PATHS: ReadonlySet<string> = new Set(["/metrics", "/x-root", "/x-self"]);

const METHODS = "GET, POST, PUT, DELETE";
const MAX_AGE_SECONDS = "600";

const EACH_LIMIT = ["requests", "tokens"].flatMap((what) =>
  ["limit", "remaining", "reset"].flatMap((figure) => [
    `x-ratelimit-${figure}-${what}`,
    `anthropic-ratelimit-${what}-${figure}`,
  ]),
);

/** Each by its name, since a browser reads no pattern there. */
const EXPOSED = [
  ...["x-request-id", "request-id", "retry-after", "x-should-retry"],
  ...["x-arbor-model", "x-arbor-level", "x-arbor-attempts", "x-arbor-cost"],
  ...EACH_LIMIT,
  ...["x-total-count", "x-page", "x-per-page", "x-total-pages"],
].join(", ");

/** Answers preflights of these origins before `inside` gets them, and lets their pages read its answers. */
export function allowOrigins(origins: readonly string[], random: Random): (inside: Fetch) => Fetch {
  const isAny = origins.includes(ANY_ORIGIN);
  const listed = new Set(origins);
  /** What `access-control-allow-origin` says to this request; null: nothing. */
  const allowedFor = (origin: string | null): string | null => {
    if (origin === null) return null;
    if (isAny) return ANY_ORIGIN;
    return listed.has(origin) ? origin : null;
  };

  return (inside) => async (request, server) => {
    if (isClosed(pathOf(request.url))) return inside(request, server);
    const allowed = allowedFor(request.headers.get("origin"));
    if (allowed !== null && isPreflight(request))
      return preflight(request, allowed, requestIdOf(request, random));
    const response = await inside(request, server);
    const { headers } = response;
    // The answer to another origin differs in these headers, so a cache must not give it to this one.
    headers.append("vary", "Origin");
    if (allowed !== null) {
      headers.set("access-control-allow-origin", allowed);
      headers.set("access-control-expose-headers", EXPOSED);
    }
    return response;
  };
}

/** As the application routes: with a slash behind it a path is the same. */
const isClosed = (path: string): boolean => CLOSED_PATHS.has(path.endsWith("/") ? path.slice(0, -1) : path);

const isPreflight = ({ method, headers }: Request): boolean =>
  method === "OPTIONS" && headers.has("access-control-request-method");

function preflight(request: Request, allowed: string, requestId: string): Response {
  const wanted = request.headers.get("access-control-request-headers");
  return new Response(null, {
    status: 204,
    headers: {
      "x-request-id": requestId,
      "access-control-allow-origin": allowed,
      "access-control-allow-methods": METHODS,
      ...(wanted === null ? {} : { "access-control-allow-headers": wanted }),
      "access-control-max-age": MAX_AGE_SECONDS,
      vary: "Origin",
    },
  });
}
