// Which models this account can really call now: every name that may be asked for, put through routing, and kept where a
// price and an enabled key are at the end, be it a key of a Level or model that stands in.

import { findModel, MODELS, type ModelEntry } from "../../../actors/catalog/catalog.ts";
import type { AccountId } from "../../../actors/ids.ts";
import type { Priced } from "../../../actors/pricing/price.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { MODEL_RULE } from "../../dialect/validation.ts";
import type { Upstream } from "../../upstream/upstream.ts";
import type { AccountContext, ConfigCache } from "../account/config-cache.ts";
import { planOf, routeOf } from "../admission/admission.ts";
import { keySupportFor, type Serves } from "../codec/key-support.ts";
import { GATEWAY_ENDPOINTS } from "../endpoints.ts";
import type { MeterKind } from "../metering/meter-kinds.ts";
import type { Multipliers, RouteCandidate } from "./route.ts";

export interface CallableModel {
  readonly id: string;
  /** What the catalogue knows of it, or of the model that it is mapped to. */
  readonly entry: ModelEntry | null;
  /** What it costs this account. */
  readonly priced: Priced;
  readonly multipliers: Multipliers;
}

/** What the list is made from. */
export interface CallableParts {
  readonly replicas: ConfigCache;
  readonly upstream: Pick<Upstream, "address">;
  readonly clock: Clock;
}

/** Names are routed so long before others have a turn: with large mappers one name takes its time. */
const BUSY_MS = 2;

/** The paths on which a model answers, the commonest first. */
const PLACES = GATEWAY_ENDPOINTS.filter(({ meter }) => !meter.free);

/** In order of name. */
export async function callableModels(parts: CallableParts, account: AccountId): Promise<CallableModel[]> {
  const { replicas, clock } = parts;
  const lineage = await replicas.lineage(account);
  const found: CallableModel[] = [];
  const turn = turnsOf(clock);
  for (const name of namesFor(lineage)) {
    const model = await callable(parts, lineage, name, turn);
    if (model !== null) found.push(model);
  }
  return found;
}

/** Lets others run when it is time; null: it is not. */
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

/** One name, listed or not; null: this account cannot call it. */
export async function callableModel(
  parts: Omit<CallableParts, "clock">,
  account: AccountId,
  name: string,
): Promise<CallableModel | null> {
  return callable(parts, await parts.replicas.lineage(account), name, () => null);
}

/** What a name is refused for but its path and its price, it is refused for everywhere. */
async function callable(
  { replicas, upstream }: Omit<CallableParts, "clock">,
  lineage: AccountContext,
  name: string,
  turn: Turn,
): Promise<CallableModel | null> {
  // Mappers and prices may lead further than any request does.
  if (!MODEL_RULE.holds(name)) return null;
  const unpriced = new Set<MeterKind["groups"]>();
  for (const surface of PLACES) {
    const { groups } = surface.meter;
    if (unpriced.has(groups)) continue;
    const route = await routeOf(replicas, lineage, surface, name);
    await turn();
    if (!route.ok) {
      const { code } = route.refusal;
      if (code === "model_not_priced") unpriced.add(groups);
      else if (code !== "path_not_allowed") return null;
      continue;
    }
    const serves = keySupportFor(surface, upstream);
    const served =
      isServed(route, serves) ||
      (await planOf(replicas, lineage, route, surface, name)).rows
        .flat()
        .some((leg) => isServed(leg, serves));
    if (!served) continue;
    const { priced, multipliers } = route;
    return { id: name, entry: findModel(name) ?? findModel(route.model), priced, multipliers };
  }
  return null;
}

/** Keys that sleep or rest count: they will be back. */
const isServed = ({ view, model }: RouteCandidate, serves: Serves): boolean =>
  view.keys.some((key) => key.state !== "disabled" && serves(key, model) === "served");

/** The catalogue's names, those that the Owner priced, and those on the left side of mappers. Patterns name nobody. */
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
