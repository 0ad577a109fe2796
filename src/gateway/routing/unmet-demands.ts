// Whether the demands of a request beyond its model can be met at all. This is decided before admission, so
// that a request that cannot be served neither counts nor waits. Provider objects and routing are checked
// before tool prices.

import type { Refusal } from "../../base/errors.ts";
import type { Demands } from "../../dialect/request-demands.ts";
import type { Upstream } from "../../upstream/upstream.ts";
import { forbidden, forbids, unpricedTool } from "../codec/key-permits.ts";
import { codecFor } from "../codec/native-codec.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import { findEndpoint } from "../endpoints.ts";
import type { CandidateTable } from "./failover-plan.ts";
import type { RouteCandidate } from "./route.ts";

/**
 * Returns why no candidate can meet the demands, or null when one can. `candidates` returns all candidates, the
 * current one first; it is called only if the demands depend on the key.
 */
export function unmet(
  { path, meter }: Pick<GatewayEndpoint, "path" | "meter">,
  demands: Demands,
  candidate: RouteCandidate,
  candidates: () => Promise<CandidateTable>,
  upstream: Pick<Upstream, "lacks">,
): Refusal | null | Promise<Refusal | null> {
  const unpriced = meter.free ? null : unpricedTool(candidate, demands);
  if (demands.objects === null && demands.routing === null) return unpriced;
  return candidates().then(
    (all) => refusedEverywhere(findEndpoint(path), demands, all, upstream) ?? unpriced,
  );
}

function refusedEverywhere(
  endpoint: GatewayEndpoint,
  demands: Demands,
  candidates: CandidateTable,
  upstream: Pick<Upstream, "lacks">,
): Refusal | null {
  let isForbidden = false;
  for (const { view, model } of candidates.flat()) {
    for (const key of view.keys) {
      const codec = key.state === "disabled" ? null : codecFor(endpoint, key, model, upstream);
      if (codec === null) continue;
      if (forbids(key, demands, codec.translates) === null) return null;
      isForbidden = true;
    }
  }
  return isForbidden ? forbidden(demands) : null;
}
