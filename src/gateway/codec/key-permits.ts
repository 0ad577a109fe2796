// Whether a provider key may take a request that demands more than a model: objects of the provider's account
// only if the key's Config allows it, the host's own routing only if the host is known not to route. The
// demands are read by `demandsOf` in src/dialect/request-demands.ts.

import { findProvider } from "../../../actors/catalog/catalog.ts";
import type { LevelKey } from "../../../actors/level/view.ts";
import type { PriceTable } from "../../../actors/pricing/price-table.ts";
import { toolPrice } from "../../../actors/pricing/tool-prices.ts";
import type { Refusal } from "../../base/errors.ts";
import type { Demands } from "../../dialect/request-demands.ts";
import { isCloud } from "../../upstream/upstream.ts";

/**
 * Returns why a key may not take a request, or null when it may. A request that is translated would silently
 * lose these demands, so it is refused.
 */
export function forbids(
  { config, provider }: Pick<LevelKey, "config" | "provider">,
  { objects, routing }: Pick<Demands, "objects" | "routing">,
  translates: boolean,
): "objects" | "routing" | null {
  if (objects !== null && (translates || config.allow_provider_objects !== true)) return "objects";
  if (routing !== null && (translates || mayRoute(config, provider))) return "routing";
  return null;
}

/**
 * Returns whether a host may answer with another model than the requested one. Clouds and known hosts without
 * routing do not.
 */
function mayRoute(config: LevelKey["config"], provider: string): boolean {
  if (isCloud(config.provider_type)) return false;
  const host = URL.parse(provider)?.hostname;
  const known = host === undefined ? null : findProvider(host);
  return known === null || known.routes === true;
}

/** The refusal of a request that no key may take. */
export function forbidden({ objects, routing }: Pick<Demands, "objects" | "routing">): Refusal {
  const message =
    objects !== null
      ? `${objects} names something of the provider's account, or a server that the provider calls from it (MCP). No ` +
        "provider key offers that here: one account's would be every account's of the key. Send the content itself, run " +
        "the tool yourself, or have the Owner set Config.allow_provider_objects."
      : `${routing} is not offered here: it lets the provider answer with a model that was not asked for.`;
  return { code: "invalid_parameter", message };
}

/** Returns why the tools of a request cannot be charged, or null when each has a price. */
export function unpricedTool(
  { prices }: { readonly prices: PriceTable },
  { tools }: Pick<Demands, "tools">,
): Refusal | null {
  const name = Object.keys(tools).find((tool) => toolPrice(prices, tool) === null);
  if (name === undefined) return null;
  const message =
    `The tool ${name} is billed by the call and has no price. Its Owner can set one with PUT /x-config and ` +
    `{"PRICING":{"CallPricing":{${JSON.stringify(name)}:{"Call":0.03}}}} (USD per call; 0 is allowed).`;
  return { code: "model_not_priced", message };
}
