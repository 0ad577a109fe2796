// Counts and logs the requests that Elysia serves: management, pages, and what there is not. Requests to models count and
// log themselves (src/gateway/traffic), and do not come here. It changes no response.

import type { Clock } from "../base/clock.ts";
import { type AccessLog, plainLineOf } from "../gateway/traffic/access-line.ts";
import { matchesPath, type ServedRoute } from "./error-handler.ts";
import type { Metrics } from "./operations/metrics.ts";
import { PROBE_PATHS } from "./readiness-gate.ts";
import type { RoutedCall } from "./routed-requests.ts";
import type { ServerRequest } from "./server/server-request.ts";
import type { ServerResponse } from "./server/server-response.ts";

/** What the log needs. */
export interface EdgeLogParts {
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Null while ACCESS_LOG is not set. */
  readonly accessLog: AccessLog | null;
}

/** Returns what is called with every response of Elysia. `routes`: all that the listener serves. */
export function edgeLog(
  { clock, metrics, accessLog }: EdgeLogParts,
  routes: () => readonly ServedRoute[],
): (
  request: ServerRequest,
  call: RoutedCall | undefined,
  response: ServerResponse,
  arrivedMs: number,
) => void {
  let patterns: readonly ServedRoute[] | null = null;
  return (request, call, response, arrivedMs) => {
    const { path } = request;
    // Probes are too many and say too little.
    if (PROBE_PATHS.has(path)) return;
    const { status } = response;
    metrics.managementRequest(status);
    if (accessLog === null) return;
    patterns ??= byPrecision(routes());
    const ms = clock.mono() - arrivedMs;
    const line = plainLineOf({
      time: new Date(clock.wall() - ms).toISOString(),
      request_id: response.headers["x-request-id"] ?? "",
      method: request.method,
      path: patternOf(patterns, request.method, path),
      status,
      code: call?.refusedWith ?? null,
      account: call?.knownCaller?.profile.id ?? null,
      api_key: call?.knownCaller?.key.apiKey ?? null,
      ms,
    });
    accessLog.write(line);
  };
}

/** Routes with the fewest open parts first: they win where several match. */
const byPrecision = (routes: readonly ServedRoute[]): readonly ServedRoute[] => {
  const open = ({ path }: ServedRoute): number => path.split(/[:*]/).length;
  return [...routes].sort((a, b) => open(a) - open(b));
};

/** Returns the pattern of a path in the form of the API's documents; null when no route has it. */
function patternOf(routes: readonly ServedRoute[], method: string, path: string): string | null {
  const found = routes.find((route) => route.method === method && matchesPath(route.path, path));
  return found === undefined ? null : found.path.replaceAll(/:(\w+)/g, "{$1}");
}
