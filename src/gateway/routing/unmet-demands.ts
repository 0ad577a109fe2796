// Whether what a request demands beyond its model can be met at all: judged before it is admitted, so that it neither
// counts nor waits for nothing. Things of the provider's account go before the prices of tools.

import type { Demands } from "../../dialect/request-demands.ts";
import type { Refusal } from "../../runtime/actor.ts";
import { forbidden, forbids, unpricedTool } from "../codec/key-permits.ts";
import { wireFor } from "../codec/native-codec.ts";
import type { Surface } from "../endpoints.ts";
import { surfaceAt } from "../endpoints.ts";
import type { Legs } from "./failover-plan.ts";
import type { Leg } from "./route.ts";

/** Why it cannot; null: it can. `legs`: everywhere it may go, its own leg first. */
export async function unmet(
  { path, meter }: Pick<Surface, "path" | "meter">,
  demands: Demands,
  leg: Leg,
  legs: () => Promise<Legs>,
): Promise<Refusal | null> {
  if (demands.objects !== null || demands.routing !== null) {
    const refusal = refusedEverywhere(surfaceAt(path), demands, await legs());
    if (refusal !== null) return refusal;
  }
  return meter.free ? null : unpricedTool(leg, demands);
}

function refusedEverywhere(surface: Surface, demands: Demands, legs: Legs): Refusal | null {
  let isForbidden = false;
  for (const { view, model } of legs.flat()) {
    for (const key of view.keys) {
      const wire = key.state === "disabled" ? null : wireFor(surface, key, model);
      if (wire === null) continue;
      if (forbids(key, demands, wire.translates) === null) return null;
      isForbidden = true;
    }
  }
  return isForbidden ? forbidden(demands) : null;
}
