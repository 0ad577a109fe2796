// POST /v1/quote: what a request would cost, without making it.

import { Type } from "@sinclair/typebox";
import { toUsd } from "../../../actors/money.ts";
import { type Quote, type QuoteEndpointParts as Quoting, quote } from "../../gateway/dry-run/quote.ts";
import { findEndpoint } from "../../gateway/endpoints.ts";
import { answer, endpoint } from "../endpoint.ts";
import type { ManagementParts } from "../management.ts";
import { textSchema } from "../schemas.ts";

export interface QuoteParts extends ManagementParts, Quoting {}

/** Unknown fields pass, as on every path below /v1. */
const Question = Type.Object({
  path: textSchema(256, 1),
  body: Type.Object({}, { additionalProperties: true, description: "must be the request's body, an object" }),
});

/** POST /v1/quote: a refusal of the request asked about is part of the answer, not an error. */
export const postQuote = (parts: QuoteParts) =>
  endpoint(parts, { who: "any", body: Question, xApiKey: true }, async ({ caller, body, clientIp }) => {
    const who = { caller: { account: caller.profile.id, keyHash: caller.keyHash }, ip: clientIp };
    return answer(shapeOf(await quote(parts, findEndpoint(body.path), who, body.body)));
  });

function shapeOf({ route, refusal, ...found }: Quote) {
  return {
    object: "quote",
    admitted: refusal === null,
    refusal: refusal === null ? null : { code: refusal.code, message: refusal.message },
    model: found.model,
    level: route?.level ?? null,
    estimated: { prompt_tokens: found.promptTokens, max_completion_tokens: found.completionTokens },
    hold: toUsd(found.hold),
    cost: { min: toUsd(found.least), max: toUsd(found.most) },
    price: route?.priced.price ?? null,
    multipliers:
      route === null
        ? null
        : {
            model: route.priced.price.Rates ?? 1,
            rates: route.multipliers.rates,
            factor: route.multipliers.factor,
          },
  };
}
