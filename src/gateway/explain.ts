// Why a request for a model goes where it goes, as things stand: the routing functions' own trace, the account's limits,
// every key that could serve it, and what would be tried when that fails. It decides nothing of its own.

import type { LimitRow } from "../../actors/account/rate-limits.ts";
import type { KeyId } from "../../actors/ids.ts";
import { type Usability, usability } from "../../actors/level/view.ts";
import type { Refusal } from "../runtime/actor.ts";
import { type AdmissionParts, planOf } from "./admission.ts";
import { foresee, SMALLEST } from "./foresee.ts";
import type { Caller } from "./identify.ts";
import { healthOf } from "./keys.ts";
import type { Leg, Step } from "./route.ts";
import { stylesOf } from "./styles.ts";
import type { Surface } from "./surfaces.ts";

export interface Candidate {
  readonly model: string;
  readonly level: number;
  readonly key: KeyId;
  readonly state: Usability["state"] | "other_style";
  /** Why it is not usable; null: it is. */
  readonly reason: string | null;
  /** Wall ms from which it may be used again; null: now, or by hand only. */
  readonly until: number | null;
}

export interface Explanation {
  readonly model: string;
  readonly steps: readonly Step[];
  readonly limits: readonly LimitRow[];
  /** In the order in which they come into question: model by model, Level by Level. */
  readonly candidates: readonly Candidate[];
  readonly decision: {
    readonly model: string;
    readonly level: number | null;
    readonly admitted: boolean;
    readonly refusal: Refusal | null;
  };
}

/** `surface`: the path on which the model would be asked for; `now`: wall ms. */
export async function explain(
  parts: AdmissionParts,
  surface: Surface,
  asking: { readonly caller: Caller; readonly ip: () => string; readonly model: string },
  now: number,
): Promise<Explanation> {
  const { caller, ip, model } = asking;
  const free = surface.meter === "free";
  const asked = { model, size: SMALLEST };
  const seen = await foresee(parts, { path: surface.path, free, caller, ip, asked, idempotency: null });
  const { routed, preview, lineage } = seen;
  const route = routed?.ok === true ? routed : null;
  const plan = route === null ? null : await planOf(parts.replicas, lineage, route, surface.path, model);
  const { refusal } = preview;
  return {
    model,
    steps: [...(routed?.steps ?? []), ...(plan?.steps ?? [])],
    limits: preview.limits,
    candidates: (plan?.rows ?? []).flat().flatMap((leg) => candidatesOf(leg, surface, now)),
    decision: {
      model: routed?.model ?? model,
      level: route?.level ?? null,
      admitted: refusal === null,
      refusal,
    },
  };
}

function candidatesOf({ model, level, view }: Leg, { dialect }: Surface, now: number): Candidate[] {
  const health = healthOf(view);
  return view.keys.map((key) => {
    const place = { model, level, key: key.id };
    if (!stylesOf(key).has(dialect.name)) {
      const reason = `it does not speak the ${dialect.name} style`;
      return { ...place, state: "other_style", reason, until: null };
    }
    const found = usability(key, health?.get(key.id), model, now);
    return "until" in found
      ? { ...place, state: found.state, reason: found.reason, until: found.until || null }
      : { ...place, state: found.state, reason: null, until: null };
  });
}
