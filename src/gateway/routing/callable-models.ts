// Which models an account can call now: every name that can be requested is routed, and listed if the result
// has a price and an enabled key, at its own Level or at a failover candidate.

import type { CallingKey } from "../../../actors/api-key/api-key.ts";
import { findModel, MODELS, type ModelEntry } from "../../../actors/catalog/catalog.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { allows } from "../../../actors/pattern.ts";
import type { Priced } from "../../../actors/pricing/price.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { MODEL_RULE } from "../../dialect/validation.ts";
import type { Upstream } from "../../upstream/upstream.ts";
import type { AccountContext } from "../account/account-context.ts";
import type { ConfigCache } from "../account/config-cache.ts";
import { keySupportFor, type Serves } from "../codec/key-support.ts";
import { GATEWAY_ENDPOINTS } from "../endpoints.ts";
import type { Multipliers } from "../metering/hold-estimate.ts";
import type { MeterKind } from "../metering/meter-kinds.ts";
import { planOf, routeOf } from "./resolve-route.ts";
import type { RouteCandidate } from "./route.ts";

/** A model that an account can call. */
export interface CallableModel {
  readonly id: string;
  /** The catalog entry of the model that the name is mapped to, or of the name; null when the catalog knows neither. */
  readonly entry: ModelEntry | null;
  /** Its price for this account, before `multipliers`. */
  readonly priced: Priced;
  readonly multipliers: Multipliers;
}

/** The lists of the key that asks, which narrow those of its account; empty ones allow everything. */
type KeyLists = Pick<CallingKey, "allowModels" | "resources">;
const NO_LISTS: KeyLists = { allowModels: [], resources: [] };

/** The services that the list needs. */
export interface CallableParts {
  readonly configs: ConfigCache;
  readonly upstream: Pick<Upstream, "address" | "lacks">;
  readonly clock: Clock;
}

/**
 * Milliseconds of routing after which the event loop gets a turn: with large mappers one name can take long.
 */
const BUSY_MS = 2;

/** The endpoints on which a model can be called, the commonest first. */
const PLACES = GATEWAY_ENDPOINTS.filter(({ meter }) => !meter.free);

/**
 * Returns the models that an account can call, sorted by name. Yields to the event loop every `BUSY_MS`.
 * Throws `RefusedError` when the account does not exist.
 */
export async function callableModels(
  parts: CallableParts,
  account: AccountId,
  lists: KeyLists = NO_LISTS,
): Promise<CallableModel[]> {
  const { configs, clock } = parts;
  const accountContext = await configs.accountContext(account);
  const found: CallableModel[] = [];
  const turn = turnsOf(clock);
  for (const name of namesFor(accountContext)) {
    const model = await callable(parts, accountContext, name, lists, turn);
    if (model !== null) found.push(model);
  }
  return found;
}

/** Yields to the event loop when the time slice is over; returns null when it is not. */
type Turn = () => Promise<void> | null;

function turnsOf(clock: Clock): Turn {
  let sinceMs = clock.mono();
  return () => {
    if (clock.mono() - sinceMs < BUSY_MS) return null;
    return sleep(clock, 0).then(() => {
      sinceMs = clock.mono();
    });
  };
}

/**
 * Returns one model by name, whether listed or not, or null when this account cannot call it. Throws
 * `RefusedError` when the account does not exist.
 */
export async function callableModel(
  parts: Omit<CallableParts, "clock">,
  account: AccountId,
  name: string,
  lists: KeyLists = NO_LISTS,
): Promise<CallableModel | null> {
  return callable(parts, await parts.configs.accountContext(account), name, lists, () => null);
}

/** A refusal other than for the path or the price is the same at every endpoint, so it ends the search. */
async function callable(
  { configs, upstream }: Omit<CallableParts, "clock">,
  accountContext: AccountContext,
  name: string,
  lists: KeyLists,
  turn: Turn,
): Promise<CallableModel | null> {
  // Mappers and prices may contain names that no request can have.
  if (!MODEL_RULE.holds(name)) return null;
  const unpriced = new Set<MeterKind["groups"]>();
  for (const endpoint of PLACES) {
    const { groups } = endpoint.meter;
    if (unpriced.has(groups) || !allows(lists.resources, endpoint.path)) continue;
    const route = await routeOf(configs, accountContext, endpoint, name);
    await turn();
    if (!route.ok) {
      const { code } = route.refusal;
      if (code === "model_not_priced") unpriced.add(groups);
      else if (code !== "path_not_allowed") return null;
      continue;
    }
    if (!allows(lists.allowModels, route.model)) return null;
    const serves = keySupportFor(endpoint, upstream);
    const served =
      isServed(route, serves) ||
      (await planOf(configs, accountContext, route, endpoint, name)).rows
        .flat()
        .some((candidate) => isServed(candidate, serves));
    if (!served) continue;
    const { priced, multipliers } = route;
    return { id: name, entry: findModel(route.model) ?? findModel(name), priced, multipliers };
  }
  return null;
}

/** Sleeping and resting keys count, because they will be usable again. */
const isServed = ({ view, model }: RouteCandidate, serves: Serves): boolean =>
  view.keys.some((key) => key.state !== "disabled" && serves(key, model) === "served");

/**
 * Returns the names of the catalog, those with an Owner's price, and those on the left side of mappers.
 * Patterns are not names.
 */
function namesFor({ account, maps, config: { config } }: AccountContext): string[] {
  const mapped = [
    maps.modelMapper.all(),
    config.modelMapper,
    account.profile.levelMapper,
    config.levelMapper,
  ];
  const priced = Object.values(config.pricing ?? {});
  const names = [...MODELS.keys(), ...[...mapped, ...priced].flatMap((map) => Object.keys(map))];
  return [...new Set(names.filter((name) => !name.includes("*")))].sort();
}
