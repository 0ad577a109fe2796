// What a request would cost, before it is made: no call, no charge, no hold.

import { cost } from "../../actors/cost.ts";
import { least, type Nano, ZERO } from "../../actors/money.ts";
import { NO_USAGE } from "../../actors/usage.ts";
import type { Refusal } from "../runtime/actor.ts";
import type { Asked } from "./admission.ts";
import { type ForeseeParts, foresee, type Imagined } from "./foresee.ts";
import { outputLimit } from "./hold.ts";
import { sizeOf } from "./request.ts";
import type { Route } from "./route.ts";
import type { Surface } from "./surfaces.ts";

export interface Quote {
  /** null: it would be tried. */
  readonly refusal: Refusal | null;
  /** As far as it was mapped; null: the request itself was at fault. */
  readonly model: string | null;
  /** Where it would be tried first; null: nowhere. */
  readonly route: Route | null;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** What it would hold, or what was refused to it. */
  readonly hold: Nano;
  /** The estimated prompt alone, and the worst case. */
  readonly least: Nano;
  readonly most: Nano;
}

/** `body`: the request's, as it would be sent to the surface's path. */
export async function quote(
  parts: ForeseeParts,
  surface: Surface,
  who: Pick<Imagined, "caller" | "ip">,
  body: unknown,
): Promise<Quote> {
  const parsed = surface.dialect.parse(body, JSON.stringify(body));
  const asked: Asked = parsed.ok
    ? { model: parsed.request.model, size: sizeOf(parsed.request) }
    : { refusal: { code: parsed.refusal.code, message: `${parsed.refusal.message}.` } };
  const size = "size" in asked ? asked.size : null;
  const { refusal, at, model } = await foresee(parts, surface, { ...who, asked });
  const promptTokens = size?.promptTokens ?? 0;
  if (at === null || size === null) return { ...NOTHING, refusal, model, promptTokens };
  const { route, worst } = at;
  const usage = { ...NO_USAGE, inText: worst.promptTokens };
  const prompt = cost(route.priced, usage, { ...route.multipliers, tier: size.serviceTier }).amount;
  return {
    refusal,
    model,
    route,
    promptTokens,
    completionTokens: size.n * outputLimit(route.model, size.maxOutput, parts.limits.holdOutputTokens),
    hold: at.preview.cost,
    least: least(prompt, worst.cost),
    most: worst.cost,
  };
}

const NOTHING = { route: null, completionTokens: 0, hold: ZERO, least: ZERO, most: ZERO };
