// The prices in effect for one Owner: its PRICING over the built-in defaults, field by field, found by model
// name. A model without a price is null, never 0; the caller refuses it. This file also validates PRICING
// values.

import { ALIASES } from "../catalog/catalog.ts";
import builtInPrices from "../catalog/default-prices.json";
import { findName, fineTunedBase, indexNames, type NameIndex } from "../catalog/model-name.ts";
import builtInTiers from "../catalog/price-tiers.json";
import { isPlainName } from "../pattern.ts";
import {
  GROUP_FIELDS,
  GROUPS,
  type Group,
  isPriced,
  type Price,
  type Priced,
  type Pricing,
  type Tiers,
} from "./price.ts";

export type { Pricing } from "./price.ts";

/**
 * Groups in which a path's model is looked up, in order. Names of fine-tuned models try FineTuningPricing
 * first.
 */
export const GROUPS_OF = {
  tokens: ["ChatPricing", "CallPricing"],
  /** For an image path whose provider reported tokens; otherwise `images` applies. */
  imageTokens: ["ChatPricing", "ImgPricing", "CallPricing"],
  /**
   * A ChatPricing match needs tokens. The caller must count them if the provider did not, or the images are
   * free.
   */
  images: ["ImgPricing", "ChatPricing", "CallPricing"],
  audio: ["AudioPricing", "ChatPricing", "CallPricing"],
  rerank: ["RerankPricing", "ChatPricing", "CallPricing"],
  calls: ["CallPricing"],
} as const satisfies Record<string, readonly Group[]>;

/** The prices of one Owner. */
export interface PriceTable {
  /**
   * Returns a model's price, or null if it has none. Names precede any group's `"*"`. The object is always
   * the same.
   */
  find(model: string, groups: readonly Group[]): Priced | null;
  /** Returns the price of a server tool, the entry of CallPricing with exactly this name, or null. */
  tool(name: string): Priced | null;
  /**
   * Like `find`, but without `"*"`: for the model that a provider names in an answer. Returns null if
   * unknown.
   */
  known(model: string, groups: readonly Group[]): Priced | null;
  /** The models that the override names, without `"*"`; the Owner adds them to the catalog. */
  readonly named: readonly string[];
}

interface GroupTable {
  readonly entries: ReadonlyMap<string, Priced>;
  readonly index: NameIndex;
  readonly any: Priced | null;
}

const ANY = "*";
const TIERS: ReadonlyMap<string, Tiers> = new Map(Object.entries(builtInTiers as Record<string, Tiers>));

function tableOf(entries: ReadonlyMap<string, Priced>, any: Priced | null): GroupTable {
  return { entries, index: indexNames(entries.keys(), ALIASES), any };
}

function builtIn(group: Group): GroupTable {
  const entries = Object.entries(builtInPrices[group] as Record<string, Price>).map(([name, price]) => {
    const tiers = group === "ChatPricing" ? (TIERS.get(name) ?? null) : null;
    return [name, { group, name, price, tiers }] as const;
  });
  return tableOf(new Map(entries), null);
}

const BUILT_IN: ReadonlyMap<Group, GroupTable> = new Map(GROUPS.map((group) => [group, builtIn(group)]));

/** Returns the names that have a list price in a group. */
export const listedModels = (group: Group): Iterable<string> => BUILT_IN.get(group)!.entries.keys();

/**
 * Returns the table for a checked PRICING value; null means the defaults alone. Built once per configuration
 * version.
 */
export function priceTable(override: Pricing | null): PriceTable {
  const groups = new Map(BUILT_IN);
  const named = new Set<string>();
  for (const group of GROUPS) {
    const given = override && Object.hasOwn(override, group) ? override[group] : undefined;
    if (!given) continue;
    groups.set(group, overridden(BUILT_IN.get(group)!, group, given));
    for (const name of Object.keys(given)) if (name !== ANY) named.add(name);
  }
  return {
    find: (model, among) => byModel(groups, model, among) ?? byAny(groups, model, among),
    tool: (name) => groups.get("CallPricing")!.entries.get(name) ?? null,
    known: (model, among) => byModel(groups, model, among),
    named: [...named],
  };
}

function overridden(defaults: GroupTable, group: Group, given: Readonly<Record<string, Price>>): GroupTable {
  const entries = new Map(defaults.entries);
  let any: Priced | null = null;
  for (const [name, price] of Object.entries(given)) {
    // A snapshot or alias inherits from the default price that would apply to it.
    const base = name === ANY ? null : byName(defaults, name);
    const merged = merge(base?.price, price);
    if (!isPriced(merged)) continue;
    const own = Object.keys(price).some((field) => field !== "Rates");
    const priced: Priced = own
      ? { group, name, price: merged, tiers: null, byOwner: true }
      : { group, name, price: merged, tiers: base?.tiers ?? null };
    if (name === ANY) any = priced;
    else entries.set(name, priced);
  }
  return tableOf(entries, any);
}

function merge(base: Price | undefined, price: Price): Price {
  const merged = { ...base, ...price };
  return price.Sizes && base?.Sizes ? { ...merged, Sizes: { ...base.Sizes, ...price.Sizes } } : merged;
}

function byName({ entries, index }: GroupTable, model: string): Priced | null {
  const name = findName(model, index);
  return name === null ? null : entries.get(name)!;
}

type Tables = ReadonlyMap<Group, GroupTable>;

function byModel(tables: Tables, model: string, among: readonly Group[]): Priced | null {
  const tuned = tables.get("FineTuningPricing")!;
  const base = among.includes("ChatPricing") ? fineTunedBase(model) : null;
  if (base !== null) {
    // The full name is tried first, since an Owner may price one tuned model separately.
    const hit = tuned.entries.get(model) ?? byName(tuned, base);
    if (hit) return hit;
  }
  for (const group of among) {
    const hit = byName(tables.get(group)!, model);
    if (hit) return hit;
  }
  return null;
}

function byAny(tables: Tables, model: string, among: readonly Group[]): Priced | null {
  const isTuned = among.includes("ChatPricing") && fineTunedBase(model) !== null;
  const anys = isTuned ? [tables.get("FineTuningPricing")!.any] : [];
  for (const group of among) anys.push(tables.get(group)!.any);
  return anys.find((any) => any !== null) ?? null;
}

/** Bytes of PRICING as UTF-8 JSON (specification, "Limits"). */
export const PRICING_BYTES_MAX = 128 * 1024;
/** Models of PRICING, over all groups (specification, "Limits"). */
export const PRICING_ENTRIES_MAX = 1024;

/** Result of `checkPricing`. */
export type PricingCheck =
  | { readonly ok: true; readonly value: Pricing }
  | { readonly ok: false; readonly path: string; readonly message: string };

type Fault = Extract<PricingCheck, { ok: false }>;

/**
 * Validates a PRICING value, given as JSON text or as an object. Source: specification, "PRICING validation".
 * `path` names the offending value, as in `ChatPricing["gpt-4o"].InputText`; `value` is the object. Two names
 * that look the same are refused, because a reader could not see which of two prices is charged.
 */
export function checkPricing(value: unknown): PricingCheck {
  const parsed = typeof value === "string" ? parse(value) : value;
  if (parsed === undefined) return fault("PRICING", "must be a JSON object of at most 128 KB");
  if (!isObject(parsed)) return fault("PRICING", "must be an object of price groups");
  let entries = 0;
  for (const [group, models] of Object.entries(parsed)) {
    if (!isGroup(group)) return fault(shown(group), `is no price group; there are ${GROUPS.join(", ")}`);
    if (!isObject(models)) return fault(group, "must be an object of model name to price object");
    const looks = new Map<string, string>();
    for (const [model, price] of Object.entries(models)) {
      const path = `${group}${key(model)}`;
      if (!isModelName(model)) return fault(path, "is no name of a model");
      entries += 1;
      if (entries > PRICING_ENTRIES_MAX)
        return fault("PRICING", `has more than ${PRICING_ENTRIES_MAX} entries`);
      const look = model.normalize("NFKC").toLowerCase();
      const twin = looks.get(look);
      if (twin !== undefined) return fault(path, `looks like ${JSON.stringify(shown(twin))}: leave out one`);
      looks.set(look, model);
      const wrong = checkPrice(group, path, price);
      if (wrong) return wrong;
    }
  }
  // The value is serialized only after the checks, since its depth is unbounded before.
  if (tooLong(JSON.stringify(parsed))) return fault("PRICING", "is longer than 128 KB as JSON");
  return { ok: true, value: parsed as Pricing };
}

function checkPrice(group: Group, path: string, price: unknown): Fault | null {
  if (!isObject(price)) return fault(path, "must be a price object");
  const known: readonly string[] = GROUP_FIELDS[group];
  for (const [field, given] of Object.entries(price)) {
    const at = `${path}.${shown(field)}`;
    if (!known.includes(field)) return fault(at, `is no field of ${group}; there are ${known.join(", ")}`);
    if (field !== "Sizes") {
      if (!isAmount(given)) return fault(at, AMOUNT_RULE);
      continue;
    }
    if (!isObject(given)) return fault(at, "must be an object of size to price");
    for (const [size, usd] of Object.entries(given)) {
      if (!isAmount(usd)) return fault(`${at}${key(size)}`, AMOUNT_RULE);
    }
  }
  return null;
}

const AMOUNT_RULE = "must be a finite number, not negative";
const isAmount = (value: unknown): boolean =>
  typeof value === "number" && Number.isFinite(value) && value >= 0;
const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isGroup = (name: string): name is Group => Object.hasOwn(GROUP_FIELDS, name);
const tooLong = (text: string): boolean =>
  text.length > PRICING_BYTES_MAX || new TextEncoder().encode(text).length > PRICING_BYTES_MAX;

/**
 * Refuses names with surrounding spaces or invisible characters: they look like other names but never match a
 * request.
 */
const isModelName = (name: string): boolean =>
  isPlainName(name) && name !== "" && name === name.trim() && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name);

/** Formats a name inside a path, as in JavaScript. */
const key = (name: string): string => `[${JSON.stringify(shown(name).toWellFormed())}]`;

/** Shortens a name for a message, so that messages stay short whatever was sent. */
const shown = (name: string): string => (name.length > 100 ? `${name.slice(0, 100)}…` : name);

const fault = (path: string, rule: string): Fault => ({ ok: false, path, message: `${path} ${rule}` });

function parse(text: string): unknown {
  if (tooLong(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}
