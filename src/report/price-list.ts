// An Owner's prices model by model: the list price, the override in its PRICING, and what would be charged. Models that were used
// without a price of their own come first. It looks up what prices mean and never computes one.

import { GROUPS, type Group, type Price } from "../../actors/pricing/price.ts";
import { listedModels, type PriceTable, type Pricing, priceTable } from "../../actors/pricing/price-table.ts";

/** A model in a price group. A model that several groups price has a row in each of them. */
export interface PriceRow {
  readonly model: string;
  /** Null for a model that nothing prices. */
  readonly group: Group | null;
  /** The built-in price of the model, or of the model whose snapshot it is. */
  readonly list: Price | null;
  /** The entry of PRICING with exactly this name. */
  readonly override: Price | null;
  /** What a request would be charged by; null: it would be refused. */
  readonly effective: Price | null;
  /** The entry that `effective` comes from: the model itself, another spelling or snapshot of it, or `*`. */
  readonly pricedBy: string | null;
  /** A model's requests are counted in its first row. */
  readonly requests: number;
}

/** A row that is not looked up yet. */
interface NamedRow extends Pick<PriceRow, "model" | "requests"> {
  /** Null for a model without an entry of its own in any group. */
  readonly group: Group | null;
}

/** The groups in which a model is looked up whose path is not known. Fine-tuned models find theirs with the first. */
const ANY_PATH = [
  ...["ChatPricing", "ImgPricing", "AudioPricing", "RerankPricing", "CallPricing"],
] as readonly Group[];

const ANY = "*";
/** The sum of all models beyond the bound of a usage document. */
const OTHER_MODELS = "(other)";
const BUILT_IN = priceTable(null);

/** The prices of an Owner. */
export interface PriceListParts {
  readonly pricing: Pricing | null;
  /** The table of this PRICING. */
  readonly prices: PriceTable;
  /** Requests of the last days by model. */
  readonly used: ReadonlyMap<string, number>;
}

/** The rows of a price list whose names contain a text, without regard to case. */
export class PriceList {
  readonly #parts: PriceListParts;
  readonly #rows: readonly NamedRow[];

  constructor(parts: PriceListParts, part: string) {
    this.#parts = parts;
    const wanted = part.toLowerCase();
    this.#rows = namedRows(parts).filter(({ model }) => model.toLowerCase().includes(wanted));
  }

  /** How many rows there are. */
  get size(): number {
    return this.#rows.length;
  }

  /** Looks up some rows; each takes some ten microseconds. */
  slice(from: number, to: number): PriceRow[] {
    return this.#rows.slice(from, to).map((row) => this.#row(row));
  }

  #row({ model, group, requests }: NamedRow): PriceRow {
    const { pricing, prices } = this.#parts;
    const among = group === null ? ANY_PATH : [group];
    const priced = prices.find(model, among);
    const list = model === ANY ? null : BUILT_IN.known(model, among);
    const entries = group === null ? {} : entriesOf(pricing, group);
    return {
      model,
      group: group ?? priced?.group ?? null,
      list: list?.price ?? null,
      override: Object.hasOwn(entries, model) ? entries[model]! : null,
      effective: priced?.price ?? null,
      pricedBy: priced?.name ?? null,
      requests,
    };
  }
}

/** Models without an entry of their own by their requests, the most first; then all entries by name, then by group. */
function namedRows({ pricing, used }: PriceListParts): NamedRow[] {
  const rows: NamedRow[] = [];
  const counted = new Set<string>();
  for (const group of GROUPS) {
    const names = new Set([...listedModels(group), ...Object.keys(entriesOf(pricing, group))]);
    for (const model of names) {
      rows.push({ model, group, requests: counted.has(model) ? 0 : (used.get(model) ?? 0) });
      counted.add(model);
    }
  }
  // The groups stay in their order, because the sort is stable.
  rows.sort((a, b) => byText(a.model, b.model));
  const others = [...used]
    .filter(([model]) => !counted.has(model) && model !== OTHER_MODELS)
    .map(([model, requests]) => ({ model, group: null, requests }))
    .sort((a, b) => b.requests - a.requests || byText(a.model, b.model));
  return [...others, ...rows];
}

const entriesOf = (pricing: Pricing | null, group: Group): Readonly<Record<string, Price>> =>
  pricing !== null && Object.hasOwn(pricing, group) ? (pricing[group] ?? {}) : {};

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
