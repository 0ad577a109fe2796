// Routes a model and finds its candidates with the cached views of Levels, and loads the views that are not
// cached. The decisions are those of `route` and `failoverCandidates`, which are pure; so a route is kept and found
// again for as long as all that it was made from is the same.

import type { AccountContext, RouteScope } from "../account/account-context.ts";
import type { ConfigCache } from "../account/config-cache.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import { failoverCandidates } from "./failover-candidates.ts";
import type { CandidateTable } from "./failover-plan.ts";
import { type NoRoute, type Route, type RoutingStep, route } from "./route.ts";

/** The part of an endpoint that routing and holds depend on. */
export type MeteredPath = Pick<GatewayEndpoint, "path" | "meter">;

/**
 * Returns all candidates of a route, its own first, and the trace. Loads the views of Levels that are not
 * cached.
 */
export async function planOf(
  configs: ConfigCache,
  accountContext: AccountContext,
  route: Route,
  { path, meter }: MeteredPath,
  model: string,
): Promise<{ readonly rows: CandidateTable; readonly steps: readonly RoutingStep[] }> {
  const level = (level: number) => configs.level(accountContext.account.owner, level);
  for (;;) {
    const found = failoverCandidates({ path, meter, model, accountContext, level }, route);
    if (!("ok" in found)) return found;
    await configs.loadLevel(accountContext.account.owner, found.level);
  }
}

/** Routes a model, at once if the views of its Levels are cached; otherwise loads them. */
export function routeOf(
  configs: ConfigCache,
  accountContext: AccountContext,
  { path, meter }: MeteredPath,
  model: string,
): Route | NoRoute | Promise<Route | NoRoute> {
  const { owner } = accountContext.account;
  const routes = keptRoutes(accountContext.scope);
  const kept = routes.get(model);
  if (kept !== undefined) {
    for (const { path: keptPath, meter: keptMeter, route } of kept) {
      if (keptPath !== path || keptMeter !== meter) continue;
      if (configs.level(owner, route.level) === route.view) return route;
    }
  }
  const level = (level: number) => configs.level(owner, level);
  const found = route({ path, meter, model, accountContext, level });
  if (found.ok === "needs_level") {
    return configs
      .loadLevel(owner, found.level)
      .then(() => routeOf(configs, accountContext, { path, meter }, model));
  }
  if (found.ok && model.length <= NAME_LENGTH_MAX) {
    const others = kept?.filter((one) => one.path !== path) ?? [];
    if (routes.size >= ROUTES_MAX) routes.clear();
    routes.set(model, [...others, { path, meter, route: found }]);
  }
  return found;
}

/** A route is the same as long as its Level has the view that is in it. */
interface KeptRoute {
  readonly path: string;
  readonly meter: MeteredPath["meter"];
  readonly route: Route;
}

/** The routes of a scope, by model; a model has one for each path. */
const known = new Map<RouteScope, Map<string, readonly KeptRoute[]>>();
/** Scopes whose routes are kept; the one that came first makes room. */
const SCOPES_MAX = 1_000;
/** Models of one scope with routes. The client chooses the model, so there is no end of them. */
const ROUTES_MAX = 20;
/** Routes of longer names are not kept. */
const NAME_LENGTH_MAX = 200;

function keptRoutes(scope: RouteScope): Map<string, readonly KeptRoute[]> {
  let routes = known.get(scope);
  if (routes === undefined) {
    if (known.size >= SCOPES_MAX) known.delete(known.keys().next().value!);
    routes = new Map();
    known.set(scope, routes);
  }
  return routes;
}
