// The price of a model that a provider names in an answer instead of the one that was asked. Charges and previews of prices
// find it by the same rule.

import { isSameModel } from "../catalog/model-name.ts";
import type { Group, Priced } from "./price.ts";
import type { PriceTable } from "./price-table.ts";

/** The model that was asked, its price, and all prices of the Owner. */
export interface AskedModel {
  readonly model: string;
  readonly priced: Priced;
  readonly prices: PriceTable;
}

/**
 * Returns the price of a model other than the one that was asked, or null when it is the same model, has the same price, or
 * has no known price.
 */
export function findOtherPrice(
  { model, priced, prices }: AskedModel,
  named: string,
  groups: readonly Group[],
): Priced | null {
  if (isSameModel(named, model)) return null;
  const found = prices.known(named, groups);
  const isSame = found === null || (found.group === priced.group && found.name === priced.name);
  return isSame ? null : found;
}
