// Why a request for a model goes where it goes, as things stand: the routing functions' own trace, the account's limits,
// every key that could serve it, and what would be tried when that fails. It decides nothing of its own.

import type { LimitRow } from "../../actors/account/rate-limits.ts";
import type { KeyId } from "../../actors/ids.ts";
import { healthOf, type Usability, usability } from "../../actors/level/view.ts";
import type { Refusal } from "../runtime/actor.ts";
import { type ForeseeParts, foresee, type Imagined } from "./foresee.ts";
import type { Size } from "./hold.ts";
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
  readonly steps: readonly Step[];
  readonly limits: readonly LimitRow[];
  /** In the order in which they come into question: model by model, Level by Level. */
  readonly candidates: readonly Candidate[];
  readonly decision: {
    readonly model: string;
    /** Where it would be tried first; null: it is not routed at all. */
    readonly level: number | null;
    /** null: it would be tried. */
    readonly refusal: Refusal | null;
  };
}

/** `surface`: the path on which the model would be asked for. Throws Refused only when the account is not there. */
export async function explain(
  parts: ForeseeParts,
  surface: Surface,
  who: Pick<Imagined, "caller" | "ip">,
  model: string,
): Promise<Explanation> {
  const seen = await foresee(parts, surface, { ...who, asked: { model, size: SMALLEST } });
  const now = parts.clock.wall();
  return {
    steps: seen.steps,
    limits: seen.preview.limits,
    candidates: seen.legs.flat().flatMap((leg) => candidatesOf(leg, surface, now)),
    decision: {
      model: seen.model ?? model,
      level: seen.at?.route.level ?? null,
      refusal: seen.refusal,
    },
  };
}

/** A request that asks for next to nothing: what refuses it refuses every other. */
const SMALLEST: Size = { promptTokens: 1, maxOutput: 1, n: 1, serviceTier: null, never: [] };

function candidatesOf({ model, level, view }: Leg, { dialect }: Surface, now: number): Candidate[] {
  const health = healthOf(view);
  return view.keys.map((key) => {
    const place = { model, level, key: key.id };
    const found = usability(key, health?.get(key.id), model, now);
    if (found.state !== "disabled" && !stylesOf(key, model).has(dialect.name)) {
      const reason = `it does not speak the ${dialect.name} style`;
      return { ...place, state: "other_style", reason, until: null };
    }
    return "until" in found
      ? { ...place, state: found.state, reason: found.reason, until: found.until || null }
      : { ...place, state: found.state, reason: null, until: null };
  });
}
