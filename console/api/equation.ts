// The equation behind a charge, computed in the page from what `/dashboard/explain?request=` says of it: each count times its
// price times the multipliers, all parts added up, rounded once. The arithmetic and the tables are this file's own, so that a
// result that equals the charge is a proof and no echo. It must not read prices from anywhere else.

import type { Static } from "@sinclair/typebox";
import type { ExplainSchema } from "../../src/http/dashboard/schemas.ts";
import { type Nanos, toNanos } from "./amount.ts";
import type { Exact } from "./exact-json.ts";
import { product, type Rational, rational, rationalOf, roundHalfUp, sumOf } from "./rational.ts";

/** The request of an explanation. */
export type ExplainedRequest = NonNullable<Exact<Static<typeof ExplainSchema>>["request"]>;

/** One product: `quantity` × `price` / `per` US dollars, before the multipliers. */
export interface EquationRow {
  /** What was counted, by its name in the usage. */
  readonly count: CountName;
  /** The field of the price. */
  readonly field: string;
  /** Tokens, characters, calls or seconds; seconds are exact to the millisecond. */
  readonly quantity: Rational;
  /** US dollars per `per` units. */
  readonly price: Rational;
  readonly per: bigint;
  readonly usd: Rational;
}

/** Usage with one price: that of the request's model, or of a part that is priced apart. */
export interface PricedUsage {
  /** The name under which its price stands. */
  readonly name: string;
  /** The price group, such as `ChatPricing`. */
  readonly group: string;
  /** Tiers of the provider that applied, such as `LongContext>200000+Priority`; null: the standard price. */
  readonly tier: string | null;
  /** Quality and size of images, as far as they are known. */
  readonly image: { readonly quality: string | null; readonly size: string | null } | null;
  readonly rows: readonly EquationRow[];
  readonly multipliers: { readonly model: Rational; readonly rates: Rational; readonly factor: Rational };
  /** The sum of the rows times the multipliers, in US dollars. */
  readonly usd: Rational;
}

/** Why a request has no equation. */
export type NoEquationReason =
  /** It ended without a charge. */
  | "not_charged"
  /** The ledger line has no counts or no price, or none that can be read. */
  | "not_recorded"
  /** The price is of a group that this page does not know: the service is newer than the page. */
  | "unknown_group";

/** The equation of a charge, or why it has none. */
export type Equation =
  | {
      readonly kind: "equation";
      /** What the model was charged for. */
      readonly main: PricedUsage;
      /** What was priced apart: calls of tools, turns of other models. */
      readonly parts: readonly PricedUsage[];
      /** US dollars before rounding. */
      readonly exact: Rational;
      /** The same, rounded half up to the nano-dollar, and at most a million dollars. */
      readonly total: Nanos;
      /** Whether the total is what was charged, to the nano-dollar. */
      readonly matches: boolean;
    }
  | { readonly kind: "none"; readonly reason: NoEquationReason };

/** The names of counts. */
export type CountName = (typeof COUNTS)[number];

const COUNTS = [
  ...["inText", "inCached", "inCacheWrite", "inCacheWrite1h", "inAudio", "inImage"],
  ...["outText", "outReason", "outAudio", "outImage", "calls", "seconds", "chars", "webSearches"],
] as const;

type Counts = Readonly<Record<CountName, number>>;

/** A count, the price that it is multiplied with, the units of that price, and what is counted at least. */
type RowRule = readonly [count: CountName, field: string, per: bigint, countMin?: number];

const MILLION = 1_000_000n;
/** A minute of sound counts as 1000 tokens, so a price per million tokens is one per 60,000 seconds. */
const SECONDS = 60_000n;

const PROMPT = ["inText", "inCached", "inCacheWrite", "inCacheWrite1h", "inAudio", "inImage"] as const;
const COMPLETION = ["outText", "outReason", "outAudio", "outImage"] as const;

const all = (counts: readonly CountName[], field: string): RowRule[] =>
  counts.map((count) => [count, field, MILLION]);

/** A request with a price per call is at least one call. */
const CALL: RowRule = ["calls", "Call", 1n, 1];

/** What is multiplied in each price group. Source: specification, "Pricing override structure". */
const RULES: Readonly<Record<string, readonly RowRule[]>> = {
  ChatPricing: [
    ["inText", "InputText", MILLION],
    ["inCached", "CachedText", MILLION],
    ["inCacheWrite", "CacheWrite", MILLION],
    ["inCacheWrite1h", "CacheWrite1h", MILLION],
    ["inAudio", "InputAudio", MILLION],
    ["inImage", "InputImage", MILLION],
    ["outText", "OutputText", MILLION],
    ["outReason", "ReasonText", MILLION],
    ["outAudio", "OutputAudio", MILLION],
    ["outImage", "OutputImage", MILLION],
    ["webSearches", "WebSearchCall", 1n],
  ],
  FineTuningPricing: [...all(PROMPT, "InputText"), ...all(COMPLETION, "OutputText")],
  ImgPricing: [["calls", "Call", 1n]],
  AudioPricing: [
    ...all(PROMPT, "Input"),
    ...all(COMPLETION, "Output"),
    ["chars", "Input", MILLION],
    ["seconds", "Input", SECONDS],
    CALL,
  ],
  RerankPricing: [...all(PROMPT, "Input"), CALL],
  CallPricing: [CALL],
};

/** A charge is at most a million dollars. */
const CHARGE_MAX = 1_000_000_000_000_000n;
const NANOS = rational(1_000_000_000n);

/** Recomputes a charge from its counts and prices, and compares. Never throws: what cannot be computed has a reason. */
export function equationOf(request: ExplainedRequest): Equation {
  if (request.price === undefined && request.cost === 0n) return none("not_charged");
  const counts = countsOf(request.usage);
  if (counts === null) return none("not_recorded");
  const parts: PricedUsage[] = [];
  const rest = { ...counts };
  for (const part of request.parts ?? []) {
    const used = countsOf(part.usage);
    const priced = used === null ? "not_recorded" : pricedUsage(part.name, used, part.price);
    if (used === null || typeof priced === "string") return none(priced as NoEquationReason);
    for (const count of COUNTS) rest[count] -= used[count];
    parts.push(priced);
  }
  if (COUNTS.some((count) => rest[count] < 0)) return none("not_recorded");
  const main = pricedUsage(null, rest, request.price);
  if (typeof main === "string") return none(main);
  const exact = sumOf([main, ...parts].map(({ usd }) => usd));
  const nanos = roundHalfUp(product(exact, NANOS));
  const total = toNanos(nanos > CHARGE_MAX ? CHARGE_MAX : nanos);
  return { kind: "equation", main, parts, exact, total, matches: total === request.cost };
}

const none = (reason: NoEquationReason): Equation => ({ kind: "none", reason });

/** Computes the rows of one price, or says why it cannot. `name` is null for the name that the price itself has. */
function pricedUsage(name: string | null, counts: Counts, price: unknown): PricedUsage | NoEquationReason {
  if (!isObject(price) || !isObject(price.prices) || !isObject(price.multipliers)) return "not_recorded";
  if (typeof price.group !== "string" || typeof price.name !== "string") return "not_recorded";
  if (!Object.hasOwn(RULES, price.group)) return "unknown_group";
  const [model, rates, factor] = [
    figureOf(price.multipliers.model),
    figureOf(price.multipliers.rates),
    figureOf(price.multipliers.factor),
  ];
  const rows = rowsOf(RULES[price.group]!, counts, price.prices);
  if (model === null || rates === null || factor === null || rows === null) return "not_recorded";
  const usd = product(sumOf(rows.map((row) => row.usd)), model, rates, factor);
  const { group, tier, image } = price;
  return {
    ...{ name: name ?? price.name, group, rows, multipliers: { model, rates, factor }, usd },
    tier: typeof tier === "string" ? tier : null,
    image: isObject(image) ? { quality: textOf(image.quality), size: textOf(image.size) } : null,
  };
}

/** Returns the products that are not nothing, or null for a price that cannot be read. A count without a price costs nothing. */
function rowsOf(
  rules: readonly RowRule[],
  counts: Counts,
  prices: Readonly<Record<string, unknown>>,
): EquationRow[] | null {
  const rows: EquationRow[] = [];
  for (const [count, field, per, countMin = 0] of rules) {
    if (prices[field] === undefined) continue;
    const price = figureOf(prices[field]);
    if (price === null) return null;
    const quantity = quantityOf(count, counts[count] || countMin);
    if (quantity.over === 0n) continue;
    const usd = product(quantity, price, rational(1n, per));
    rows.push({ count, field, quantity, price, per, usd });
  }
  return rows;
}

/** Seconds count in whole milliseconds. */
const quantityOf = (count: CountName, value: number): Rational =>
  count === "seconds" ? rational(BigInt(Math.round(value * 1_000)), 1_000n) : rational(BigInt(value));

/** Reads counts, or returns null for what is none. A count that an older line does not have is 0. */
function countsOf(usage: unknown): Record<CountName, number> | null {
  if (!isObject(usage)) return null;
  const counts = Object.fromEntries(COUNTS.map((count) => [count, usage[count] ?? 0]));
  const isCount = (count: CountName): boolean => {
    const value = counts[count];
    return typeof value === "number" && value >= 0 && (count === "seconds" || Number.isSafeInteger(value));
  };
  return COUNTS.every(isCount) ? (counts as Record<CountName, number>) : null;
}

/** Reads a price or multiplier; null for what is none. */
function figureOf(value: unknown): Rational | null {
  const figure = typeof value === "number" ? rationalOf(value) : null;
  return figure === null || figure.over < 0n ? null : figure;
}

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
