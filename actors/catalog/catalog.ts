// What is known of models and providers from data/: windows, limits, abilities, hosts, dialects.
// Facts only: it neither prices nor routes, and an unknown name is null, never a guess.

import { findName, indexNames } from "./model-name.ts";
import modelList from "./models.json";
import providerList from "./providers.json";

/** A model as the catalogue knows it. Windows and limits in tokens; 0 where the maker states none. */
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
  /** Length of an embedding. */
  readonly dimensions?: number;
  /** What is counted where it is not tokens: `image`, `call`, `character`, `second`. */
  readonly billing_unit?: string;
  /** What the model refuses or does differently: `no_sampling_params`, `no_prefill`, … */
  readonly quirks?: readonly string[];
  readonly deprecation_date?: string;
  readonly legacy?: boolean;
}

/** A provider by its hosts. `prefixes` are model names that no other provider's models start with. */
export interface Provider {
  readonly provider: string;
  readonly hosts: readonly string[];
  readonly base: string | null;
  /** The dialect it speaks; `by-model`: messages for `claude-*`, chat for the rest. */
  readonly api_style: "chat" | "messages" | "by-model";
  readonly auth: string;
  readonly prefixes: readonly string[];
  /** Speaks `/v1/responses` too. */
  readonly responses?: boolean;
  /** Chooses the model itself where a request's `models`, `route` or `provider` says so. */
  readonly routes?: boolean;
  /** Base address of its messages dialect beside the chat one. */
  readonly messages_base?: string;
  /** Whole address of its rerank endpoint where that is no sibling of the others. */
  readonly rerank_url?: string;
}

/** Every model of the catalogue, by id. */
export const MODELS: ReadonlyMap<string, ModelEntry> = new Map(
  (modelList as readonly ModelEntry[]).map((model) => [model.id, model]),
);

/** Other names of the catalogue's models: alias to id. */
export const ALIASES: ReadonlyMap<string, string> = new Map(
  [...MODELS.values()].flatMap(({ id, aliases = [] }) =>
    aliases.map((alias): [string, string] => [alias, id]),
  ),
);

const names = indexNames(MODELS.keys(), ALIASES);

/** The catalogue's entry for a model name in any of its spellings, or null. */
export function findModel(name: string): ModelEntry | null {
  const id = findName(name, names);
  return id === null ? null : MODELS.get(id)!;
}

const isStyle = (style: string): style is "chat" | "messages" => style === "chat" || style === "messages";

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
 * The provider behind a host name (no port), or null. A listed `*.suffix` or `*-suffix` needs something before it.
 * Host names are the same in any case and with a closing dot.
 */
export function findProvider(host: string): Provider | null {
  const plain = host.toLowerCase().replace(/\.$/, "");
  const exact = byHost.get(plain);
  if (exact) return exact;
  const match = bySuffix.find(([suffix]) => plain.endsWith(suffix) && plain.length > suffix.length);
  return match ? match[1] : null;
}
