// Reads PRICING that somebody pasted, and says everything that is wrong with it, by path. The service judges it again; it names
// the first fault only. Pure.

import { PRICE_GROUP_NAMES, PRICE_GROUPS, type PriceGroup, type PricingMap } from "./pricing.ts";

/** What can be wrong; the words are in i18n/prices.ts. */
export type PricingRule =
  | ("json" | "object" | "group" | "models" | "modelName" | "twin" | "price")
  | ("field" | "amount" | "sizes" | "entries" | "length");

/** A fault: where it is, which rule it breaks, and what the rule names. */
export interface PricingFault {
  readonly path: string;
  readonly rule: PricingRule;
  readonly detail: string;
}

/** Prices that were read, or what is wrong with their text. */
export type ReadPricing =
  | { readonly ok: true; readonly pricing: PricingMap }
  | { readonly ok: false; readonly faults: readonly PricingFault[] };

/** Bounds of PRICING (specification, "Limits"). */
const ENTRIES_MAX = 1_024;
const BYTES_MAX = 128 * 1_024;

type Entries = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Entries =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isGroup = (name: string): name is PriceGroup => Object.hasOwn(PRICE_GROUPS, name);
const isAmount = (value: unknown): boolean =>
  typeof value === "number" && Number.isFinite(value) && value >= 0;
/** A name within a path, as in JavaScript. */
const inPath = (name: string): string => `[${JSON.stringify(name)}]`;

/** Reads a text. An empty one is no prices at all. */
export function readPricingText(text: string): ReadPricing {
  const fault = (rule: PricingRule, detail = ""): ReadPricing => ({
    ok: false,
    faults: [{ path: "PRICING", rule, detail }],
  });
  if (text.trim() === "") return { ok: true, pricing: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return fault("json", error.message);
    throw error;
  }
  if (!isObject(value)) return fault("object");
  const faults = Object.entries(value).flatMap(([group, models]) => faultsOfGroup(group, models));
  const entries = Object.values(value).flatMap((models) => (isObject(models) ? Object.keys(models) : []));
  if (entries.length > ENTRIES_MAX) return fault("entries", String(ENTRIES_MAX));
  const bytes = new TextEncoder().encode(JSON.stringify(value)).length;
  if (bytes > BYTES_MAX) return fault("length", "128 KB");
  return faults.length > 0 ? { ok: false, faults } : { ok: true, pricing: value as PricingMap };
}

function faultsOfGroup(group: string, models: unknown): PricingFault[] {
  if (!isGroup(group)) return [{ path: group, rule: "group", detail: PRICE_GROUP_NAMES.join(", ") }];
  if (!isObject(models)) return [{ path: group, rule: "models", detail: "" }];
  const looks = new Map<string, string>();
  return Object.entries(models).flatMap(([model, price]) => {
    const path = `${group}${inPath(model)}`;
    if (!isModelName(model)) return [{ path, rule: "modelName" as const, detail: "" }];
    const look = model.normalize("NFKC").toLowerCase();
    const twin = looks.get(look);
    looks.set(look, model);
    const twins = twin === undefined ? [] : [{ path, rule: "twin" as const, detail: twin }];
    return [...twins, ...faultsOfPrice(group, path, price)];
  });
}

/** Whether a text can be the name of a model: without spaces around it, and without characters that nobody sees. */
export const isModelName = (name: string): boolean =>
  name !== "" &&
  name !== "__proto__" &&
  name === name.trim() &&
  name.isWellFormed() &&
  !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name);

function faultsOfPrice(group: PriceGroup, path: string, price: unknown): PricingFault[] {
  if (!isObject(price)) return [{ path, rule: "price", detail: "" }];
  const known: readonly string[] = PRICE_GROUPS[group];
  return Object.entries(price).flatMap(([field, value]): PricingFault[] => {
    const at = `${path}.${field}`;
    if (!known.includes(field)) return [{ path: at, rule: "field", detail: known.join(", ") }];
    if (field !== "Sizes") return isAmount(value) ? [] : [{ path: at, rule: "amount", detail: "" }];
    if (!isObject(value)) return [{ path: at, rule: "sizes", detail: "" }];
    return Object.entries(value)
      .filter(([, usd]) => !isAmount(usd))
      .map(([size]) => ({ path: `${at}${inPath(size)}`, rule: "amount", detail: "" }));
  });
}
