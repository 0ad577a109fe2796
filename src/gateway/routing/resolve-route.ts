// Routes a model and finds its candidates with the cached views of Levels, and loads the views that are not
// cached. The decisions are those of `route` and `failoverCandidates`, which are pure.

import type { AccountContext, ConfigCache } from "../account/config-cache.ts";
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
  const level = (level: number) => configs.level(accountContext.owner, level);
  for (;;) {
    const found = failoverCandidates({ path, meter, model, accountContext, level }, route);
    if (!("ok" in found)) return found;
    await configs.loadLevel(accountContext.owner, found.level);
  }
}

/** Routes a model, at once if the views of its Levels are cached; otherwise loads them. */
export function routeOf(
  configs: ConfigCache,
  accountContext: AccountContext,
  { path, meter }: MeteredPath,
  model: string,
): Route | NoRoute | Promise<Route | NoRoute> {
  const { owner } = accountContext;
  const level = (level: number) => configs.level(owner, level);
  const found = route({ path, meter, model, accountContext, level });
  if (found.ok !== "needs_level") return found;
  return configs
    .loadLevel(owner, found.level)
    .then(() => routeOf(configs, accountContext, { path, meter }, model));
}
