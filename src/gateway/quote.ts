// What a request would cost, before it is made: no call, no charge, no hold.

import { cost } from "../../actors/cost.ts";
import { type Nano, ZERO } from "../../actors/money.ts";
import { NO_USAGE } from "../../actors/usage.ts";
import type { Refusal } from "../runtime/actor.ts";
import type { AdmissionParts, Asked } from "./admission.ts";
import { foresee } from "./foresee.ts";
import { outputLimit } from "./hold.ts";
import type { Caller } from "./identify.ts";
import { sizeOf } from "./request.ts";
import type { Multipliers, Route } from "./route.ts";
import type { Surface } from "./surfaces.ts";

export interface Quote {
  readonly refusal: Refusal | null;
  /** As far as it was mapped. */
  readonly model: string;
  readonly route: Route | null;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly hold: Nano;
  /** The estimated prompt alone, and the worst case. */
  readonly least: Nano;
  readonly most: Nano;
  readonly multipliers: Multipliers | null;
}

/** `body`: the request's, as it would be sent to the surface's path. */
export async function quote(
  parts: AdmissionParts,
  surface: Surface,
  caller: Caller,
  ip: () => string,
  body: unknown,
): Promise<Quote> {
  const parsed = surface.dialect.parse(body, JSON.stringify(body) ?? "");
  const asked: Asked = parsed.ok
    ? { model: parsed.request.model, size: sizeOf(parsed.request) }
    : { refusal: { code: parsed.refusal.code, message: `${parsed.refusal.message}.` } };
  const free = surface.meter === "free";
  const seen = await foresee(parts, { path: surface.path, free, caller, ip, asked, idempotency: null });
  const route = seen.routed?.ok === true ? seen.routed : null;
  const model = seen.routed?.model ?? "";
  const { worst, size, preview } = seen;
  if (route === null || worst === null || size === null) {
    return { ...NOTHING, refusal: preview.refusal, model };
  }
  const usage = { ...NO_USAGE, inText: worst.promptTokens };
  return {
    refusal: preview.refusal,
    model,
    route,
    promptTokens: size.promptTokens,
    completionTokens: size.n * outputLimit(route.model, size.maxOutput, parts.limits.holdOutputTokens),
    hold: preview.cost,
    least: cost(route.priced, usage, { ...route.multipliers, tier: size.serviceTier }).amount,
    most: worst.cost,
    multipliers: route.multipliers,
  };
}

const NOTHING = {
  route: null,
  promptTokens: 0,
  completionTokens: 0,
  hold: ZERO,
  least: ZERO,
  most: ZERO,
  multipliers: null,
};
