// POST /v1/quote: what a request would cost, without making it. A refusal of that request is part of the answer.

import { Elysia } from "elysia";
import { toUsd } from "../../../actors/money.ts";
import { readTagsHeader } from "../../gateway/account/request-tags.ts";
import { type Quote, type QuoteEndpointParts, quote } from "../../gateway/dry-run/quote.ts";
import { findEndpoint } from "../../gateway/endpoints.ts";
import { type ManagementParts, management } from "../management.ts";
import { operation } from "../operation.ts";
import { QuestionSchema, QuoteSchema } from "./schemas.ts";

/** What quotes need. */
export interface QuoteParts extends ManagementParts, QuoteEndpointParts {}

/** `POST /v1/quote`. Source: contract section 5. */
export const quotes = (parts: QuoteParts) =>
  new Elysia({ normalize: false }).use(management(parts)).post(
    "/v1/quote",
    async ({ body, request, call: { caller, clientIp } }) => {
      // A quote has no charge to carry tags, but what the request would be refused for is refused here too.
      readTagsHeader(request.headers);
      const asker = { caller: { account: caller.profile.id, keyHash: caller.keyHash }, ip: clientIp };
      return quoteShape(await quote(parts, findEndpoint(body.path), asker, body.body));
    },
    {
      access: { role: "any", scope: "invoke", audit: null },
      body: QuestionSchema,
      response: QuoteSchema,
      detail: operation({
        tag: "Gateway",
        operationId: "createQuote",
        summary: "Quote what a request would cost, without making it",
        description: "No call, no charge. A refusal of that request is part of the answer.",
        requestExample: {
          path: "/v1/chat/completions",
          body: { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hi" }], max_tokens: 100 },
        },
        answerExample: {
          object: "quote",
          admitted: true,
          refusal: null,
          model: "gpt-4o-mini",
          level: 1,
          estimated: { prompt_tokens: 8, max_completion_tokens: 100 },
          hold: 0.0000612,
          cost: { min: 0.0000012, max: 0.0000612 },
          price: { InputText: 0.15, OutputText: 0.6, CachedText: 0.075 },
          multipliers: { model: 1, rates: 1, factor: 1 },
        },
      }),
    },
  );

const quoteShape = ({ route, refusal, ...found }: Quote) => ({
  object: "quote" as const,
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
});
