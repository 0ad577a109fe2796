// Explains why a request for a model is routed as it is at this moment: the trace of routing, the account's
// limits, every key that could serve it, and the failover candidates. It decides nothing itself.

import type { LimitRow } from "../../../actors/account/rate-limits.ts";
import type { ProviderKeyId } from "../../../actors/ids.ts";
import { healthOf, type Usability, usability } from "../../../actors/level/view.ts";
import type { Refusal } from "../../base/errors.ts";
import { type KeySupport, keySupportFor, type Serves } from "../codec/key-support.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import type { RequestSize } from "../metering/request-size.ts";
import type { RouteCandidate, RoutingStep } from "../routing/route.ts";
import { type DryRunParts, dryRun, type SampleRequest } from "./dry-run.ts";

/** A provider key that could serve the request, and its state. */
export interface KeyCandidate {
  readonly model: string;
  readonly level: number;
  readonly key: ProviderKeyId;
  readonly state: Usability["state"] | Exclude<KeySupport, "served">;
  /** Why the key is not usable; null when it is. */
  readonly reason: string | null;
  /**
   * Wall-clock ms from which the key may be used again; null when it is usable now or must be enabled by
   * hand.
   */
  readonly until: number | null;
}

/** The explanation of one routing decision. */
export interface Explanation {
  readonly steps: readonly RoutingStep[];
  readonly limits: readonly LimitRow[];
  /** In the order in which they would be tried: model by model, Level by Level. */
  readonly candidates: readonly KeyCandidate[];
  readonly decision: {
    readonly model: string;
    /** The Level where it would be tried first; null when it has no route. */
    readonly level: number | null;
    /** Why it would be refused; null when it would be tried. */
    readonly refusal: Refusal | null;
  };
}

/**
 * Explains a request for `model` at the endpoint `endpoint`. Throws `RefusedError` only when the account does
 * not exist.
 */
export async function explain(
  parts: DryRunParts,
  endpoint: GatewayEndpoint,
  who: Pick<SampleRequest, "caller" | "ip">,
  model: string,
): Promise<Explanation> {
  const seen = await dryRun(parts, endpoint, { ...who, requested: { model, size: SMALLEST } });
  const now = parts.clock.wall();
  const serves = keySupportFor(endpoint, parts.upstream);
  return {
    steps: seen.steps,
    limits: seen.preview.limits,
    candidates: seen.candidates
      .flat()
      .flatMap((candidate) => candidatesOf(candidate, { endpoint, serves, now })),
    decision: {
      model: seen.model ?? model,
      level: seen.at?.route.level ?? null,
      refusal: seen.refusal,
    },
  };
}

/** A minimal request: what refuses it refuses every other request. */
const SMALLEST: RequestSize = {
  promptTokens: 1,
  maxOutput: 1,
  n: 1,
  inputs: 1,
  serviceTier: null,
  never: [],
  measured: {},
};

interface Seen {
  readonly endpoint: GatewayEndpoint;
  readonly serves: Serves;
  /** Wall-clock milliseconds. */
  readonly now: number;
}

function candidatesOf(
  { model, level, view }: RouteCandidate,
  { endpoint, serves, now }: Seen,
): KeyCandidate[] {
  const health = healthOf(view);
  return view.keys.map((key) => {
    const place = { model, level, key: key.id };
    const found = usability(key, health?.get(key.id), model, now);
    const serving = serves(key, model);
    if (found.state !== "disabled" && serving !== "served") {
      return { ...place, state: serving, reason: WHY[serving](endpoint), until: null };
    }
    return "until" in found
      ? { ...place, state: found.state, reason: found.reason, until: found.until || null }
      : { ...place, state: found.state, reason: null, until: null };
  });
}

const WHY: Readonly<Record<Exclude<KeySupport, "served">, (endpoint: GatewayEndpoint) => string>> = {
  other_style: ({ path }) => `it does not take requests at ${path}, and they are not translated`,
  other_path: ({ path }) => `its provider does not serve ${path}`,
  forbidden: () => "it may not take what the request demands",
};
