// Price previews: what the last 30 days would have cost under a PRICING. It changes nothing and writes no line of the
// operation log. It reads much, so an Owner has one at a time and a node two.

import type { Profile } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { RefusedError } from "../../base/errors.ts";
import { PREVIEW_DAYS, type PricePreview, previewPrices } from "../../report/price-preview.ts";
import { exactUsd } from "../../report/verify/conservation.ts";
import type { ConfigurationParts } from "./config-changes.ts";
import { readPricing } from "./config-fields.ts";

/** Previews that one node makes at once. */
const PREVIEWS_MAX = 2;
const RETRY_AFTER_S = 5;

/**
 * Returns a function that computes the last 30 days of an Owner's tree under another PRICING. It rejects with
 * `service_unavailable` while the Owner's last one, or too many, are being made, and ends when `signal` aborts.
 */
export function createPricePreviews({ store, clock }: Pick<ConfigurationParts, "store" | "clock">) {
  /** Owners whose preview runs now. */
  const running = new Set<AccountId>();
  return async ({ id, dna }: Pick<Profile, "id" | "dna">, pricingText: unknown, signal: AbortSignal) => {
    const pricing = readPricing(pricingText);
    if (running.has(id)) throw busy("Your last preview is still being made.");
    if (running.size >= PREVIEWS_MAX) throw busy("Other previews are being made.");
    running.add(id);
    try {
      return previewShape(
        await previewPrices(store, { of: { id, dna }, pricing, now: clock.wall() }, signal),
      );
    } finally {
      running.delete(id);
    }
  };
}

const busy = (why: string): RefusedError =>
  new RefusedError({
    code: "service_unavailable",
    message: `${why} Nothing was done: ask again in a moment.`,
    retryAfterS: RETRY_AFTER_S,
  });

const previewShape = ({ models, total }: PricePreview) => ({
  success: true as const,
  days: PREVIEW_DAYS as typeof PREVIEW_DAYS,
  models: models.map(({ model, requests, costNow, costPreview }) => ({
    model,
    requests,
    cost_now: dollars(costNow),
    cost_preview: costPreview === null ? null : dollars(costPreview),
  })),
  total: { cost_now: dollars(total.costNow), cost_preview: dollars(total.costPreview) },
});

const dollars = (cost: bigint): number => Number(exactUsd(cost));
