// Which models this account can really call now: every name that may be asked for, put through routing, and kept where a
// price and an enabled key are at the end, be it a key of a Level or model that stands in.

import { MODELS, type ModelEntry, modelNamed } from "../../actors/catalogue.ts";
import type { AccountId } from "../../actors/ids.ts";
import type { Priced } from "../../actors/price.ts";
import { MODEL } from "../dialect/rules.ts";
import { type Clock, sleep } from "../runtime/clock.ts";
import { planOf, routeOf } from "./admission.ts";
import type { Lineage, Replicas } from "./replicas.ts";
import type { Leg, Multipliers } from "./route.ts";
import { type Style, stylesOf } from "./styles.ts";
import { SURFACES } from "./surfaces.ts";

export interface CallableModel {
  readonly id: string;
  /** What the catalogue knows of it, or of the model that it is mapped to. */
  readonly entry: ModelEntry | null;
  /** What it costs this account. */
  readonly priced: Priced;
  readonly multipliers: Multipliers;
}

interface Parts {
  readonly replicas: Replicas;
  readonly clock: Clock;
}

/** Names are routed so long before others have a turn: with large mappers one name takes its time. */
const BUSY_MS = 2;

/** The paths on which a model answers. */
const PLACES = SURFACES.filter(({ meter }) => meter !== "free");

/** In order of name. */
export async function callableModels(parts: Parts, account: AccountId): Promise<CallableModel[]> {
  const { replicas, clock } = parts;
  const lineage = await replicas.lineage(account);
  const found: CallableModel[] = [];
  let sinceMs = clock.mono();
  for (const name of namesFor(lineage)) {
    const model = await callable(replicas, lineage, name);
    if (model !== null) found.push(model);
    if (clock.mono() - sinceMs < BUSY_MS) continue;
    await sleep(clock, 0);
    sinceMs = clock.mono();
  }
  return found;
}

/** One name, listed or not; null: this account cannot call it. */
export async function callableModel(
  replicas: Replicas,
  account: AccountId,
  name: string,
): Promise<CallableModel | null> {
  return callable(replicas, await replicas.lineage(account), name);
}

async function callable(replicas: Replicas, lineage: Lineage, name: string): Promise<CallableModel | null> {
  // Mappers and prices may lead further than any request does.
  if (!MODEL.holds(name)) return null;
  for (const { path, dialect } of PLACES) {
    const route = await routeOf(replicas, lineage, path, name);
    if (!route.ok) continue;
    const served =
      isServed(route, dialect.name) ||
      (await planOf(replicas, lineage, route, path, name)).rows
        .flat()
        .some((leg) => isServed(leg, dialect.name));
    if (!served) continue;
    const { priced, multipliers } = route;
    return { id: name, entry: modelNamed(name) ?? modelNamed(route.model), priced, multipliers };
  }
  return null;
}

/** Keys that sleep or rest count: they will be back. */
const isServed = ({ view, model }: Leg, style: Style): boolean =>
  view.keys.some((key) => key.state !== "disabled" && stylesOf(key, model).has(style));

/** The catalogue's names, those that the Owner priced, and those on the left side of mappers. Patterns name nobody. */
function namesFor({ account, maps, config: { config } }: Lineage): string[] {
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
