// POST /v1/quote: what a request would cost, without making it.

import { Type } from "@sinclair/typebox";
import { type Nano, toUsd } from "../../actors/money.ts";
import type { AdmissionParts } from "../gateway/admission.ts";
import { type Quote, quote } from "../gateway/quote.ts";
import { SURFACES } from "../gateway/surfaces.ts";
import { Refused } from "../runtime/system.ts";
import { answer, type Edge, endpoint } from "./endpoint.ts";
import { text } from "./shapes.ts";

export interface QuoteParts extends Edge, AdmissionParts {}

/** Unknown fields pass, as on every path below /v1. */
const Question = Type.Object({
  path: text(256, 1),
  body: Type.Object({}, { additionalProperties: true, description: "must be the request's body, an object" }),
});

/** contract section 4: POST /v1/quote. */
export const postQuote = (parts: QuoteParts) =>
  endpoint(parts, { who: "any", body: Question, xApiKey: true }, async ({ caller, body, clientIp }) => {
    const surface = SURFACES.find((one) => one.path === body.path);
    if (surface === undefined) {
      const paths = SURFACES.map((one) => one.path).join(", ");
      throw new Refused({ code: "invalid_parameter", message: `"path" must be one of ${paths}.` });
    }
    const who = { account: caller.profile.id, keyHash: caller.keyHash };
    return answer(shapeOf(await quote(parts, surface, who, clientIp, body.body)));
  });

function shapeOf(found: Quote) {
  const { route, refusal, multipliers } = found;
  return {
    object: "quote",
    admitted: refusal === null,
    refusal: refusal === null ? null : { code: refusal.code, message: refusal.message },
    model: found.model,
    level: route?.level ?? null,
    estimated: { prompt_tokens: found.promptTokens, max_completion_tokens: found.completionTokens },
    hold: toUsd(found.hold),
    cost: { min: toUsd(least(found.least, found.most)), max: toUsd(found.most) },
    price: route?.priced.price ?? null,
    multipliers:
      multipliers === null || route === null
        ? null
        : { model: route.priced.price.Rates ?? 1, rates: multipliers.rates, factor: multipliers.factor },
  };
}

const least = (a: Nano, b: Nano): Nano => (a < b ? a : b);
