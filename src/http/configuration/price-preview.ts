// POST /x-config/preview: what the last 30 days would have cost under a PRICING. Changes nothing and writes no line of
// the operation log. It reads much, so an Owner has one at a time and a node two.

import { Type } from "@sinclair/typebox";
import type { AccountId } from "../../../actors/ids.ts";
import { RefusedError } from "../../base/errors.ts";
import { PREVIEW_DAYS, type PricePreview, previewPrices } from "../../report/price-preview.ts";
import { exactUsd } from "../../report/verify/conservation.ts";
import type { Store } from "../../store/store.ts";
import { answer, endpoint } from "../endpoint.ts";
import type { ManagementParts } from "../management.ts";
import { textOrObject } from "../schemas.ts";
import { readPricing } from "./config-fields.ts";

export interface PreviewParts extends ManagementParts {
  readonly store: Store;
}

const Asked = Type.Object(
  { PRICING: textOrObject("must be a JSON object, or the text of one") },
  { additionalProperties: false },
);

/** On one node. */
const AT_ONCE = 2;
const RETRY_AFTER_S = 5;

/** POST /x-config/preview. Whoever goes away ends it. */
export const postPreview = (parts: PreviewParts) => {
  /** Owners whose preview runs now. */
  const running = new Set<AccountId>();
  return endpoint(parts, { who: "owner", body: Asked }, async ({ caller, body, request }) => {
    const { id, dna } = caller.profile;
    const pricing = readPricing(body.PRICING);
    if (running.has(id)) throw busy("Your last preview is still being made.");
    if (running.size >= AT_ONCE) throw busy("Other previews are being made.");
    running.add(id);
    try {
      const asked = { of: { id, dna }, pricing, now: parts.clock.wall() };
      return answer(shapeOf(await previewPrices(parts.store, asked, request.signal)));
    } finally {
      running.delete(id);
    }
  });
};

const busy = (why: string): RefusedError =>
  new RefusedError({
    code: "service_unavailable",
    message: `${why} Nothing was done: ask again in a moment.`,
    retryAfterS: RETRY_AFTER_S,
  });

const shapeOf = ({ models, total }: PricePreview) => ({
  success: true,
  days: PREVIEW_DAYS,
  models: models.map(({ model, requests, costNow, costPreview }) => ({
    model,
    requests,
    cost_now: dollars(costNow),
    cost_preview: costPreview === null ? null : dollars(costPreview),
  })),
  total: { cost_now: dollars(total.costNow), cost_preview: dollars(total.costPreview) },
});

const dollars = (cost: bigint): number => Number(exactUsd(cost));
