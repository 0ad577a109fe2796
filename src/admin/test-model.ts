// Chooses the model for a key test when the caller names none: the cheapest model that the provider is known
// to have, by the catalog or the Owner's configuration, and that is mapped to the key's Level. It must not
// guess.

import { findModel, findProvider, MODELS, type ModelEntry } from "../../actors/catalog/catalog.ts";
import type { AccountId } from "../../actors/ids.ts";
import type { ProviderKey } from "../../actors/key-pool/provider-key.ts";
import { pick } from "../../actors/pattern.ts";
import type { Price } from "../../actors/pricing/price.ts";
import { GROUPS_OF } from "../../actors/pricing/price-table.ts";
import type { ConfigCache } from "../gateway/account/config-cache.ts";
import { typeOf } from "./key-config.ts";

interface Candidate {
  readonly name: string;
  readonly entry: ModelEntry | null;
  readonly price: Price;
}

/** Returns the model to test a key with; null when none is known. `now` is wall-clock milliseconds. */
export async function modelToTest(
  configs: Pick<ConfigCache, "config">,
  owner: AccountId,
  key: ProviderKey,
  now: number,
): Promise<string | null> {
  const deployed = typeOf(key.config) === "cloud_a" ? firstExact(key.config.model_mapping ?? {}) : null;
  if (deployed !== null) return deployed;
  const { config, prices } = await configs.config(owner);
  const prefixes = findProvider(new URL(key.provider).hostname)?.prefixes ?? [];
  const isItsOwn = (name: string) => prefixes.some((prefix) => name.startsWith(prefix));
  const written = [...Object.keys(config.levelMapper), ...prices.named].filter((name) => !name.includes("*"));
  const names = new Set([
    ...written.filter((name) => prefixes.length === 0 || isItsOwn(name)),
    ...[...MODELS.keys()].filter(isItsOwn),
  ]);
  const found = [...names].flatMap((name): Candidate[] => {
    if (pick(config.levelMapper, name)?.value !== key.level) return [];
    const entry = findModel(name);
    const price = prices.find(name, GROUPS_OF.tokens)?.price;
    return price === undefined || !chats(entry, now) ? [] : [{ name, entry, price }];
  });
  return found.sort(easier)[0]?.name ?? null;
}

const firstExact = (mapping: unknown): string | null =>
  Object.keys(mapping as object).find((pattern) => !pattern.includes("*")) ?? null;

/** Models that are not in the catalog are accepted, because the Owner named them. */
const chats = (entry: ModelEntry | null, now: number): boolean =>
  entry === null ||
  (entry.mode === "chat" &&
    entry.legacy !== true &&
    (entry.deprecation_date === undefined || Date.parse(entry.deprecation_date) > now));

/**
 * Reasoning models come last, because one token is too few for an answer of theirs; then the cheapest is
 * first.
 */
const easier = (a: Candidate, b: Candidate): number =>
  Number(reasons(a)) - Number(reasons(b)) || usd(a) - usd(b) || (a.name < b.name ? -1 : 1);

const reasons = ({ entry }: Candidate): boolean => entry?.capabilities.includes("reasoning") === true;

const usd = ({ price }: Candidate): number =>
  (price.InputText ?? 0) + (price.OutputText ?? 0) + (price.Call ?? 0);
