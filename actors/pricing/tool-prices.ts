// What the calls of a server tool cost: tools that the provider runs itself and bills by the call, whatever model asked for
// them. An Owner prices one in CallPricing under its name. Searches of the web may have a price of the model's own.

import type { UsagePart } from "./cost-parts.ts";
import type { Priced } from "./price.ts";
import type { PriceTable } from "./price-table.ts";
import { NO_USAGE } from "./usage.ts";

export const WEB_SEARCH = "web_search";

/** What a search costs where neither the model nor the Owner has a price for it; and a call that nobody could foresee. */
const SEARCH: Priced = { group: "CallPricing", name: WEB_SEARCH, price: { Call: 0.01 }, tiers: null };

/** The price of a tool's call, or null when it has none. */
export const toolPrice = (prices: PriceTable, name: string): Priced | null =>
  prices.tool(name) ?? (name === WEB_SEARCH ? SEARCH : null);

/** Whether a model's own price pays for its searches. */
const paysForSearches = ({ group, tiers }: Priced): boolean =>
  group === "ChatPricing" && tiers?.WebSearchCall !== undefined;

/** How often each tool was called, by the name of its price. */
export type ToolUses = Readonly<Record<string, number>>;

/** The calls of tools as parts of a charge, but for searches that the model's own price pays for. */
export function toolParts(
  priced: Priced,
  prices: PriceTable,
  webSearches: number,
  uses: ToolUses,
): UsagePart[] {
  const searches = paysForSearches(priced) ? 0 : webSearches;
  return Object.entries({ ...uses, [WEB_SEARCH]: searches }).flatMap(([name, calls]): UsagePart[] => {
    const price = toolPrice(prices, name) ?? { ...SEARCH, name };
    return calls > 0 ? [{ name, usage: { ...NO_USAGE, calls }, priced: [price] }] : [];
  });
}
