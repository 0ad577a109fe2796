// Determines what a translation must know about a model, from the catalog, its provider and its name. For
// unknown facts it assumes what makes the provider accept the request: a field is omitted rather than
// refused.

import { findModel, findProvider, type ModelEntry } from "../../../actors/catalog/catalog.ts";
import { EFFORTS, type Effort, type ModelFacts } from "./translation.ts";

/**
 * Returns the facts of a model. `name` is the provider's name of it; `providerHost` is a host name without
 * port.
 */
export function modelFacts(name: string, providerHost: string): ModelFacts {
  const entry = findModel(name);
  const id = entry?.id ?? name.slice(name.lastIndexOf("/") + 1);
  // At an unknown host a model is assumed to accept the same as at its own provider.
  const host = findProvider(providerHost)?.provider;
  const provider = host ?? entry?.provider ?? "";
  return {
    name,
    maxOutputTokens: entry?.max_output_tokens ?? 0,
    contextWindow: entry?.context_window ?? 0,
    quirks: new Set(entry?.quirks),
    reasoning: REASONING.test(id),
    readsReasoning: READS_REASONING.has(provider),
    signsCalls: signsCalls(name, providerHost),
    efforts: effortsOf(id, entry),
    structured: entry === null || entry.capabilities.includes("json_schema"),
    lateSystem: LATE_SYSTEM.has(provider) || (provider === "anthropic" && LATE_SYSTEM_MODELS.test(id)),
    topK: TOP_K.has(provider),
    verbosity: VERBOSITY.test(id),
    cacheKey: host !== undefined && CACHE_KEY.has(host),
    cacheMarks: CLAUDE.test(id),
    provider: CLAUDE.test(id) ? "anthropic" : provider || unnamed(providerHost),
  };
}

/**
 * Returns whether a model at a host refuses function calls that have no signature. Hosts that are known to serve models of
 * many makers sign and check nothing, or sign in their own way.
 */
export function signsCalls(name: string, providerHost: string): boolean {
  if (!SIGNS_CALLS.test(name)) return false;
  const host = findProvider(providerHost)?.provider;
  return host === undefined || GOOGLE.has(host);
}

/** Gemini from version 3 on, and names without a version, which mean the latest; the path before the name is any. */
const SIGNS_CALLS = /(?:^|\/)gemini-(?![12][.-])[^/]*$/;

/** The providers in the catalog that are Google's own. */
const GOOGLE: ReadonlySet<string> = new Set(["google", "cloud_b"]);

/** Returns the name of an unknown host's provider. It goes to clients, who must not learn the host. */
const unnamed = (host: string): string => Bun.SHA256.hash(host, "hex").slice(0, 16);

/** Names of the gpt series from 5 on, which read `verbosity`. */
const VERBOSITY = /^gpt-(?:[5-9]|1\d)(?=[.-]|$)/;

/** Known hosts that read `prompt_cache_key`. Others may refuse it. */
const CACHE_KEY: ReadonlySet<string> = new Set(["openai", "cloud_a", "moonshot"]);

/** Wherever Claude is served, its prompt cache keeps what is marked, and signatures of its thinking are valid. */
const CLAUDE = /^claude-/;

/** Names of the o-series, and of the gpt series from 5 on. */
const REASONING = /^(?:o[1-9]|gpt-(?:[5-9]|1\d)|codex|computer-use)(?=[.-]|$)/;

const READS_REASONING: ReadonlySet<string> = new Set(["deepseek", "moonshot", "zhipu", "qwen", "minimax"]);

/** Chat providers that accept late system messages. Others may require a single one at the beginning. */
const LATE_SYSTEM: ReadonlySet<string> = new Set([
  "openai",
  "cloud_a",
  "deepseek",
  "google",
  "openrouter",
  "xai",
]);
const LATE_SYSTEM_MODELS = /^claude-(?:opus-4-8|(?:opus|haiku|fable|mythos)-5|sonnet-5-5)(?=-|$)/;

const TOP_K: ReadonlySet<string> = new Set(["fireworks", "openrouter", "qwen", "together"]);

const from = (weakest: Effort, strongest: Effort): readonly Effort[] =>
  EFFORTS.slice(EFFORTS.indexOf(weakest), EFFORTS.indexOf(strongest) + 1);
const ORDINARY = from("low", "high");

/** The efforts of models by name; the first row that matches counts. */
const NAMED_EFFORTS: readonly (readonly [name: RegExp, efforts: readonly Effort[]])[] = [
  [/^claude-(?:opus|sonnet)-4-6(?=-|$)/, [...ORDINARY, "max"]],
  [/^claude-/, from("low", "max")],
  [/^(?:gpt-.*-chat|o1-preview|o1-mini|codex|computer-use)(?=-|$)/, []],
  [/^gpt-5-pro(?=-|$)/, ["high"]],
  [/^gpt-[\d.]+-pro(?=-|$)/, from("medium", "xhigh")],
  [/^gpt-5(?=-|$)/, from("minimal", "high")],
  [/^gpt-5\.1-codex-max(?=-|$)/, ["none", ...from("low", "xhigh")]],
  [/^gpt-5\.1(?=-|$)/, ["none", ...ORDINARY]],
  [/^gpt-(?:[5-9]|1\d)(?=[.-]|$)/, ["none", ...from("low", "xhigh")]],
  [/^o[1-9](?=-|$)/, ORDINARY],
  [/^grok-3-mini(?=-|$)/, ["low", "high"]],
  // For these the model's name decides whether it thinks.
  [/^(?:grok|mistral|magistral|ministral|devstral|sonar)(?=-|$)/, []],
];

/** Returns the efforts of a model; a model that is not known to think has none. */
function effortsOf(id: string, entry: ModelEntry | null): readonly Effort[] {
  if (entry !== null && !entry.capabilities.includes("reasoning")) return [];
  const named = NAMED_EFFORTS.find(([name]) => name.test(id));
  if (named !== undefined) return named[1];
  return entry === null ? [] : ORDINARY;
}
