// Whether a key may take a request that demands more than a model: things of the provider's account only where its Config
// says so, a host's own routing only where the host is known not to route. What is demanded is read in src/dialect/request.

import { findProvider } from "../../../actors/catalog/catalog.ts";
import type { LevelKey } from "../../../actors/level/view.ts";
import { toolPrice } from "../../../actors/pricing/tool-prices.ts";
import type { Refusal } from "../../base/errors.ts";
import type { Demands } from "../../dialect/request-demands.ts";
import type { Route } from "../routing/route.ts";

/** Why a key may not take it. Put into another style it would lose what it demands without a word. */
export function forbids(
  { config, provider }: Pick<LevelKey, "config" | "provider">,
  { objects, routing }: Pick<Demands, "objects" | "routing">,
  translates: boolean,
): "objects" | "routing" | null {
  if (objects !== null && (translates || config.allow_provider_objects !== true)) return "objects";
  if (routing !== null && (translates || mayRoute(config, provider))) return "routing";
  return null;
}

/** Hosts of the clouds, and those of the catalogue that serve what they are asked for. */
function mayRoute(config: LevelKey["config"], provider: string): boolean {
  if (config.provider_type === "cloud_a" || config.provider_type === "cloud_b") return false;
  const host = URL.parse(provider)?.hostname;
  const known = host === undefined ? null : findProvider(host);
  return known === null || known.routes === true;
}

/** What a request is told that no key may take. */
export function forbidden({ objects, routing }: Pick<Demands, "objects" | "routing">): Refusal {
  const message =
    objects !== null
      ? `${objects} names something of the provider's account, which no provider key offers here: one account's would be ` +
        "every account's of the key. Send the content itself, or have the Owner set Config.allow_provider_objects."
      : `${routing} is not offered here: it lets the provider answer with a model that was not asked for.`;
  return { code: "invalid_parameter", message };
}

/** Why the tools of a request cannot be charged; null: each has a price. */
export function unpricedTool(
  { prices }: Pick<Route, "prices">,
  { tools }: Pick<Demands, "tools">,
): Refusal | null {
  const name = Object.keys(tools).find((tool) => toolPrice(prices, tool) === null);
  if (name === undefined) return null;
  const message =
    `The tool ${name} is billed by the call and has no price. Its Owner can set one with PUT /x-config and ` +
    `{"PRICING":{"CallPricing":{${JSON.stringify(name)}:{"Call":0.03}}}} (USD per call; 0 is allowed).`;
  return { code: "model_not_priced", message };
}
