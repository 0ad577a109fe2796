// Which models this account can really call now: every name that may be asked for, put through routing, and kept where a
// Level with an enabled key and a price are at its end.

import { MODELS, type ModelEntry, modelNamed } from "../../actors/catalogue.ts";
import type { AccountId } from "../../actors/ids.ts";
import { type Clock, sleep } from "../runtime/clock.ts";
import { routeOf } from "./admission.ts";
import type { Lineage, Replicas } from "./replicas.ts";
import type { Route } from "./route.ts";

export interface CallableModel {
  readonly id: string;
  /** The model finally used. */
  readonly route: Route;
  /** What the catalogue knows of it. */
  readonly entry: ModelEntry | null;
}

/** Names routed before others have a turn. */
const SLICE = 100;
const PATH = "/v1/chat/completions";

/** In order of name. */
export async function callableModels(
  parts: { readonly replicas: Replicas; readonly clock: Clock },
  account: AccountId,
): Promise<CallableModel[]> {
  const lineage = await parts.replicas.lineage(account);
  const found: CallableModel[] = [];
  let sinceTurn = 0;
  for (const name of namesFor(lineage)) {
    const model = await callable(parts.replicas, lineage, name);
    if (model !== null) found.push(model);
    if (++sinceTurn % SLICE === 0) await sleep(parts.clock, 0);
  }
  return found;
}

/** One name; null: this account cannot call it. */
export async function callableModel(
  replicas: Replicas,
  account: AccountId,
  name: string,
): Promise<CallableModel | null> {
  return callable(replicas, await replicas.lineage(account), name);
}

async function callable(replicas: Replicas, lineage: Lineage, name: string): Promise<CallableModel | null> {
  const route = await routeOf(replicas, lineage, PATH, name);
  if (!route.ok || route.view.keys.every((key) => key.state === "disabled")) return null;
  return { id: name, route, entry: modelNamed(name) ?? modelNamed(route.model) };
}

/** The catalogue's names, those that the Owner priced, and those on the left side of mappers. Patterns name nobody. */
function namesFor({ account, config: { config } }: Lineage): string[] {
  const mapped = [
    account.profile.modelMapper,
    config.modelMapper,
    account.profile.levelMapper,
    config.levelMapper,
  ];
  const priced = Object.values(config.pricing ?? {});
  const names = [...MODELS.keys(), ...[...mapped, ...priced].flatMap((map) => Object.keys(map))];
  return [...new Set(names.filter((name) => !name.includes("*")))].sort();
}
