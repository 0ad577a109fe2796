// Prices of server tools: tools that the provider runs itself and bills per call, whichever model called
// them. An Owner prices a tool in CallPricing under its name. Web searches may be priced by the model
// instead.

import type { UsagePart } from "./cost-parts.ts";
import type { Priced } from "./price.ts";
import type { PriceTable } from "./price-table.ts";
import { NO_USAGE } from "./usage.ts";

/** Name under which web searches are priced. */
export const WEB_SEARCH = "web_search";

/** The default price of a web search, which also applies to calls of tools that have no price. */
const SEARCH: Priced = { group: "CallPricing", name: WEB_SEARCH, price: { Call: 0.01 }, tiers: null };

/** Returns the price of a tool's call, or null if it has none. */
export const toolPrice = (prices: PriceTable, name: string): Priced | null =>
  prices.tool(name) ?? (name === WEB_SEARCH ? SEARCH : null);

/** Returns whether a model's own price includes a price for web searches. */
const paysForSearches = ({ group, tiers }: Priced): boolean =>
  group === "ChatPricing" && tiers?.WebSearchCall !== undefined;

const NO_PARTS: readonly UsagePart[] = [];

/** Number of calls of each tool, by the name of its price. */
export type ToolUses = Readonly<Record<string, number>>;

/** No calls of tools. */
export const NO_TOOL_USES: ToolUses = Object.freeze({});

/** Returns the tool calls as parts of a charge, without web searches that the model's own price covers. */
export function toolParts(
  priced: Priced,
  prices: PriceTable,
  webSearches: number,
  uses: ToolUses,
): readonly UsagePart[] {
  const searches = paysForSearches(priced) ? 0 : webSearches;
  if (searches === 0 && uses === NO_TOOL_USES) return NO_PARTS;
  return Object.entries({ ...uses, [WEB_SEARCH]: searches }).flatMap(([name, calls]): UsagePart[] => {
    const price = toolPrice(prices, name) ?? { ...SEARCH, name };
    return calls > 0 ? [{ name, usage: { ...NO_USAGE, calls }, priced: [price] }] : [];
  });
}
