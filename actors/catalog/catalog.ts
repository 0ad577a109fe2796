// The catalog: facts about models and providers from the JSON files beside it, such as context windows,
// limits, capabilities, hosts and API styles. It must not price or route, and returns null for an unknown
// name instead of a guess.

import { findName, indexNames } from "./model-name.ts";
import modelList from "./models.json";
import providerList from "./providers.json";

/** A model of the catalog. Windows and limits are in tokens; 0 means that its maker states none. */
export interface ModelEntry {
  readonly id: string;
  readonly provider: string;
  readonly context_window: number;
  readonly max_output_tokens: number;
  readonly mode: string;
  readonly capabilities: readonly string[];
  readonly endpoints: readonly string[];
  readonly price_source: string;
  /** Other names of the same model at the same price. */
  readonly aliases?: readonly string[];
  /** Length of an embedding vector. */
  readonly dimensions?: number;
  /** The billed unit if it is not tokens: `image`, `call`, `character`, `second`. */
  readonly billing_unit?: string;
  /** What the model refuses or does differently: `no_sampling_params`, `no_prefill`, … */
  readonly quirks?: readonly string[];
  readonly deprecation_date?: string;
  readonly legacy?: boolean;
}

/** A provider. `prefixes` are beginnings of model names that no other provider's models have. */
export interface Provider {
  readonly provider: string;
  readonly hosts: readonly string[];
  readonly base: string | null;
  /** Its API style; `by-model` means `messages` for `claude-*` and `chat` for all other models. */
  readonly api_style: "chat" | "messages" | "by-model";
  readonly auth: string;
  readonly prefixes: readonly string[];
  /** It also serves `/v1/responses`. */
  readonly responses?: boolean;
  /** It chooses the model itself if a request has `models`, `route` or `provider`. */
  readonly routes?: boolean;
  /** Base URL of its `messages` API, if it has one beside its `chat` API. */
  readonly messages_base?: string;
  /** Full URL of its rerank endpoint, if that is not below `base`. */
  readonly rerank_url?: string;
}

/** All models of the catalog by id. */
export const MODELS: ReadonlyMap<string, ModelEntry> = new Map(
  (modelList as readonly ModelEntry[]).map((model) => [model.id, model]),
);

/** Other names of the catalog's models: alias to id. */
export const ALIASES: ReadonlyMap<string, string> = new Map(
  [...MODELS.values()].flatMap(({ id, aliases = [] }) =>
    aliases.map((alias): [string, string] => [alias, id]),
  ),
);

const names = indexNames(MODELS.keys(), ALIASES);

// What other names mean is kept, because requests ask for the same few again and again, and to find nothing takes the most
// time. Clients choose the names, so there is no end of them.
const FOUND_MAX = 2_000;
const FOUND_NAME_LENGTH_MAX = 200;
const found = new Map<string, ModelEntry | null>();

/** Returns the catalog's entry for a model name in any of its spellings, or null if the name is unknown. */
export function findModel(name: string): ModelEntry | null {
  const known = MODELS.get(name) ?? found.get(name);
  if (known !== undefined) return known;
  const id = findName(name, names);
  const entry = id === null ? null : MODELS.get(id)!;
  if (found.size >= FOUND_MAX) found.clear();
  if (name.length <= FOUND_NAME_LENGTH_MAX) found.set(name, entry);
  return entry;
}

const isStyle = (style: string): style is "chat" | "messages" => style === "chat" || style === "messages";

/** All providers of the catalog. */
export const PROVIDERS: readonly Provider[] = providerList.map((entry) => ({
  ...entry,
  api_style: isStyle(entry.api_style) ? entry.api_style : "by-model",
}));

const byHost = new Map<string, Provider>();
const bySuffix: (readonly [string, Provider])[] = [];
for (const provider of PROVIDERS) {
  for (const host of provider.hosts) {
    if (host.startsWith("*")) bySuffix.push([host.slice(1), provider]);
    else byHost.set(host, provider);
  }
}

/**
 * Returns the provider of a host name (without port), or null if it is unknown. A listed `*.suffix` or
 * `*-suffix` needs at least one character before it. Case and a closing dot do not matter.
 */
export function findProvider(host: string): Provider | null {
  const plain = host.toLowerCase().replace(/\.$/, "");
  const exact = byHost.get(plain);
  if (exact) return exact;
  const match = bySuffix.find(([suffix]) => plain.endsWith(suffix) && plain.length > suffix.length);
  return match ? match[1] : null;
}
