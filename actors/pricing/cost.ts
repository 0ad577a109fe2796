// Computes what a usage costs at a price: the charge, its recomputation from recorded figures, and the
// highest cost for a hold. Counts are disjoint (usage.ts), products are exact, and each charge is rounded
// once.

import { assert } from "../../src/base/errors.ts";
import { type Nano, toNano } from "../money.ts";
import { align, decimal, halfUp, tenTo } from "./decimal.ts";
import {
  effectivePriceFields,
  FALLBACK_FIELDS,
  type Group,
  type ImageKind,
  imagePriceMax,
  type Priced,
  type PriceField,
  type PriceFields,
  type Tiers,
} from "./price.ts";
import { NO_USAGE, promptTokens, type Usage } from "./usage.ts";

/**
 * What a charge depends on besides price and usage: the account's effective Rates and Factor, and the service
 * tier.
 */
export interface ChargeTerms {
  readonly rates: number;
  readonly factor: number;
  /** `service_tier` as the response names it or, for a hold, as the request does. */
  readonly tier?: string | null | undefined;
  readonly image?: ImageKind | undefined;
}

/** Everything that a charge multiplied with its usage; `recompute` returns the same amount from both. */
export interface PriceNumbers {
  readonly group: Group;
  readonly name: string;
  readonly prices: PriceFields;
  /** Provider tiers that applied: `LongContext>200000`, `Priority`, `Flex`, joined by `+`. */
  readonly tier?: string;
  /** Quality and size that determined the price of an image. */
  readonly image?: ImageKind;
  readonly multipliers: { readonly model: number; readonly rates: number; readonly factor: number };
}

/** An amount in nano-dollars, with the numbers from which it was computed. */
export interface Charge {
  readonly amount: Nano;
  readonly numbers: PriceNumbers;
}

/** An amount before it is rounded: thirds of a nano-dollar with this many decimal places. */
export interface Exact {
  readonly thirds: bigint;
  readonly places: number;
}

/**
 * A charge is at most a million dollars (nano-dollars), so that even a mistyped price gives an exact number.
 */
export const CHARGE_MAX = toNano(1e15);

type Side = "prompt" | "completion" | "rest";

interface Line {
  readonly count: keyof Usage;
  readonly field: PriceField;
  readonly side: Side;
  /**
   * Thirds of a nano-dollar per counted unit and price of 1. Prices per minute have no finite decimal
   * otherwise.
   */
  readonly thirds: bigint;
  readonly countMin: number;
}

const PER_MILLION = 3_000n;
const PER_CALL = 3_000_000_000n;
// 1 minute = 1000 equivalent tokens, counted in whole milliseconds: price × 1000 / 1e6 / 60000 USD each.
const PER_MILLISECOND = 50n;

const TOKENS: readonly (readonly [keyof Usage, PriceField, Side])[] = [
  ["inText", "InputText", "prompt"],
  ["inCached", "CachedText", "prompt"],
  ["inCacheWrite", "CacheWrite", "prompt"],
  ["inCacheWrite1h", "CacheWrite1h", "prompt"],
  ["inAudio", "InputAudio", "prompt"],
  ["inImage", "InputImage", "prompt"],
  ["outText", "OutputText", "completion"],
  ["outReason", "ReasonText", "completion"],
  ["outAudio", "OutputAudio", "completion"],
  ["outImage", "OutputImage", "completion"],
];

/** Returns the lines of all token kinds; `fields` is given by groups that have one price per side. */
const tokens = (fields: Partial<Record<Side, PriceField>> = {}): readonly Line[] =>
  TOKENS.map(([count, own, side]) => {
    return { count, field: fields[side] ?? own, side, thirds: PER_MILLION, countMin: 0 };
  });

const each = (count: keyof Usage, field: PriceField, thirds: bigint, countMin = 0): Line => {
  return { count, field, side: "rest", thirds, countMin };
};

// A request with a price per call counts as at least one call, even if the provider reports no number.
const eachCall = each("calls", "Call", PER_CALL, 1);

/** For each group, which count is multiplied by which price field. */
const METERS: Readonly<Record<Group, readonly Line[]>> = {
  ChatPricing: [...tokens(), each("webSearches", "WebSearchCall", PER_CALL)],
  FineTuningPricing: tokens({ prompt: "InputText", completion: "OutputText" }),
  ImgPricing: [each("calls", "Call", PER_CALL)],
  AudioPricing: [
    ...tokens({ prompt: "Input", completion: "Output" }),
    each("chars", "Input", PER_MILLION),
    each("seconds", "Input", PER_MILLISECOND),
    eachCall,
  ],
  RerankPricing: [...tokens({ prompt: "Input" }).filter(({ side }) => side === "prompt"), eachCall],
  CallPricing: [eachCall],
};

/**
 * Returns the prices of another tier. A field that the tier omits keeps its ratio to the field that it falls
 * back to.
 */
function overlay(from: PriceFields, base: PriceFields, tier: PriceFields): PriceFields {
  const fields: Partial<Record<PriceField, number>> = { ...from };
  for (const [field, instead] of FALLBACK_FIELDS) {
    const named = tier[field];
    if (named !== undefined)
      fields[field] = from === base ? named : inRatio(from[field]!, named, base[field]!);
    else if (field !== "InputText" && field !== "OutputText") {
      fields[field] = inRatio(from[field]!, fields[instead]!, from[instead]!);
    }
  }
  return fields;
}

/**
 * Returns `price × to / from`, rounded to 9 places so that the recorded price is the one that was multiplied.
 */
const inRatio = (price: number, to: number, from: number): number =>
  from > 0 ? Number(((price * to) / from).toFixed(9)) : Math.max(price, to);

/** Service tiers by their name in responses; any other name means the standard price. */
const SERVICE_TIERS: Readonly<Record<string, "Priority" | "Flex">> = { priority: "Priority", flex: "Flex" };

/**
 * Returns the service tier of a recorded charge, as in `ChargeTerms`, or null if the standard price was
 * charged.
 */
export const tierOfCharge = ({ tier = "" }: PriceNumbers): string | null =>
  Object.keys(SERVICE_TIERS).find((name) => tier.split("+").includes(SERVICE_TIERS[name]!)) ?? null;

/** The prices of one tier as integers, ready to multiply. */
interface Sheet {
  readonly lines: readonly Line[];
  readonly fields: PriceFields;
  readonly tier: string;
  readonly weights: readonly bigint[];
  readonly places: number;
}

function sheetOf(lines: readonly Line[], fields: PriceFields, tier = ""): Sheet {
  const set = lines.filter(({ field }) => fields[field] !== undefined);
  const { digits, places } = align(set.map(({ field }) => fields[field]!));
  return { lines: set, fields, tier, weights: set.map(({ thirds }, i) => thirds * digits[i]!), places };
}

// Sheets are cached as long as their price lives; a price has at most (long-context steps + 1) × 3 of them.
const sheets = new WeakMap<Priced, Map<string, Sheet>>();

function sheetAt(priced: Priced, long: number, service: "Priority" | "Flex" | ""): Sheet {
  const known = sheets.get(priced) ?? new Map<string, Sheet>();
  const key = service + long;
  const sheet = known.get(key) ?? makeSheet(priced, long, service);
  if (known.size === 0) sheets.set(priced, known);
  known.set(key, sheet);
  return sheet;
}

function makeSheet(priced: Priced, long: number, service: "Priority" | "Flex" | ""): Sheet {
  const base = effectivePriceFields(priced);
  const step = priced.tiers?.LongContext?.[long];
  const named = service === "" ? undefined : priced.tiers?.[service];
  const stepped = step ? overlay(base, base, step) : base;
  const fields = named ? overlay(stepped, base, named) : stepped;
  const tier = [step && `LongContext>${step.AboveInputTokens}`, named && service].filter(Boolean).join("+");
  return sheetOf(METERS[priced.group], fields, tier);
}

/**
 * Returns the index of the last long-context step whose threshold the input exceeds, or -1 if there is none.
 */
const longStep = (tiers: Tiers | null, input: number): number =>
  tiers?.LongContext?.findLastIndex(({ AboveInputTokens }) => input > AboveInputTokens) ?? -1;

const serviceOf = ({ tiers }: Priced, named: string | null | undefined): "Priority" | "Flex" | "" => {
  const service = named && Object.hasOwn(SERVICE_TIERS, named) ? SERVICE_TIERS[named]! : "";
  return service !== "" && tiers?.[service] ? service : "";
};

/**
 * Returns what a usage costs, and the numbers from which it was computed. Throws if a count is negative.
 * Source: contract, "Metering and money": Σ count × price / 1e6 × model Rates × account Rates × account
 * Factor.
 */
export function cost(priced: Priced, usage: Usage, terms: ChargeTerms): Charge {
  const { exact, numbers } = exactCost(priced, usage, terms);
  return { amount: rounded([exact]), numbers };
}

/** Like `cost`, but before rounding, for a charge of several parts: see cost-parts.ts. */
export function exactCost(
  priced: Priced,
  usage: Usage,
  terms: ChargeTerms,
): { readonly exact: Exact; readonly numbers: PriceNumbers } {
  const sheet =
    priced.group === "ImgPricing"
      ? sheetOf(METERS.ImgPricing, effectivePriceFields(priced, terms.image))
      : sheetAt(priced, longStep(priced.tiers, promptTokens(usage)), serviceOf(priced, terms.tier));
  const prices: Partial<Record<PriceField, number>> = {};
  for (const { count, field, countMin } of sheet.lines) {
    if (usage[count] > 0 || countMin > 0) prices[field] = sheet.fields[field]!;
  }
  const multipliers = { model: priced.price.Rates ?? 1, rates: terms.rates, factor: terms.factor };
  const image = priced.group === "ImgPricing" && terms.image !== undefined ? { image: terms.image } : {};
  const numbers = { group: priced.group, name: priced.name, prices, multipliers, ...image };
  const exact = total(sheet, usage, multipliers);
  return { exact, numbers: sheet.tier === "" ? numbers : { ...numbers, tier: sheet.tier } };
}

/** Returns what a recorded usage costs at its recorded numbers, before rounding. */
export const exactOf = (usage: Usage, { group, prices, multipliers }: PriceNumbers): Exact =>
  total(sheetOf(METERS[group], prices), usage, multipliers);

function total({ lines, weights, places }: Sheet, usage: Usage, by: PriceNumbers["multipliers"]): Exact {
  let thirds = 0n;
  for (let i = 0; i < lines.length; i++) {
    const { count, countMin } = lines[i]!;
    const given = count === "seconds" ? Math.round(usage.seconds * 1000) : usage[count];
    const counted = given === 0 ? countMin : given;
    if (counted === 0) continue;
    assert(counted > 0, "a usage count is not a non-negative number");
    thirds += BigInt(counted) * weights[i]!;
  }
  let scale = places;
  for (const multiplier of [by.model, by.rates, by.factor]) {
    if (multiplier === 1) continue;
    const exact = decimal(multiplier);
    thirds *= exact.digits;
    scale += exact.places;
  }
  return { thirds, places: scale };
}

/** Returns the sum in nano-dollars, rounded once (half up) and capped at CHARGE_MAX. */
export function rounded(exacts: readonly Exact[]): Nano {
  const { thirds, places } = exacts.length === 1 ? exacts[0]! : sumOf(exacts);
  const amount = halfUp(thirds, 3n * tenTo(places));
  return amount > CHARGE_MAX ? CHARGE_MAX : toNano(Number(amount));
}

function sumOf(exacts: readonly Exact[]): Exact {
  const places = Math.max(0, ...exacts.map((one) => one.places));
  const thirds = exacts.reduce((sum, one) => sum + one.thirds * tenTo(places - one.places), 0n);
  return { thirds, places };
}

/** The highest usage that a request can have. Counts that do not apply to its path are omitted. */
export interface WorstCase {
  readonly prompt?: number;
  readonly completion?: number;
  readonly calls?: number;
  readonly seconds?: number;
  readonly chars?: number;
  readonly webSearches?: number;
  /**
   * Kinds of token that this request cannot have, such as `inAudio` for a text prompt or `inCacheWrite1h`.
   */
  readonly never?: readonly (keyof Usage)[];
}

/**
 * Returns the highest cost of a request, in nano-dollars, for its hold: each prompt and completion token
 * counts at the most expensive kind and tier that can apply. A service tier counts only if `terms.tier` (the
 * request) asks for it.
 */
export function highestCost(priced: Priced, worst: WorstCase, terms: ChargeTerms): Nano {
  const { prompt = 0, completion = 0, never = NOTHING, ...rest } = worst;
  const { sheet, kinds } = dearestSheet(priced, prompt, never, terms);
  const usage: Record<keyof Usage, number> = { ...NO_USAGE, ...rest };
  if (kinds.prompt !== null) usage[kinds.prompt] = prompt;
  if (kinds.completion !== null) usage[kinds.completion] = completion;
  const multipliers = { model: priced.price.Rates ?? 1, rates: terms.rates, factor: terms.factor };
  return rounded([total(sheet, usage, multipliers)]);
}

const NOTHING: readonly (keyof Usage)[] = [];

/** The prices of a request's worst case, and its most expensive token kinds. */
interface Dearest {
  readonly sheet: Sheet;
  readonly kinds: { readonly prompt: keyof Usage | null; readonly completion: keyof Usage | null };
}

// Cached like the sheets. A price has few entries, since kinds of request, tiers and steps are few.
const worst = new WeakMap<Priced, Map<string, Dearest>>();

function dearestSheet(
  priced: Priced,
  prompt: number,
  never: readonly (keyof Usage)[],
  terms: ChargeTerms,
): Dearest {
  const image = terms.image === undefined ? "" : `${terms.image.quality}/${terms.image.size}`;
  const key = `${longStep(priced.tiers, prompt)} ${serviceOf(priced, terms.tier)} ${never.join()} ${image}`;
  const known = worst.get(priced) ?? new Map<string, Dearest>();
  const found = known.get(key) ?? findDearest(priced, prompt, never, terms);
  if (known.size === 0) worst.set(priced, known);
  if (known.size < DEAREST_MAX) known.set(key, found);
  return found;
}

/**
 * Cached worst cases per price. Clients choose image kinds freely, so further ones are computed each time.
 */
const DEAREST_MAX = 100;

function findDearest(
  priced: Priced,
  prompt: number,
  never: readonly (keyof Usage)[],
  terms: ChargeTerms,
): Dearest {
  const lines: Line[] = METERS[priced.group].filter(({ side }) => side === "rest");
  const fields: Partial<Record<PriceField, number>> = {};
  const kinds: { prompt: keyof Usage | null; completion: keyof Usage | null } = {
    prompt: null,
    completion: null,
  };
  const possible = possibleSheets(priced, prompt, terms);
  for (const sheet of possible) Object.assign(fields, sheet.fields);
  for (const side of ["prompt", "completion"] as const) {
    let top: { line: Line; price: number } | null = null;
    for (const sheet of possible) {
      for (const line of sheet.lines) {
        const price = sheet.fields[line.field]!;
        if (line.side === side && !never.includes(line.count) && (!top || price > top.price))
          top = { line, price };
      }
    }
    if (!top) continue;
    lines.push(top.line);
    fields[top.line.field] = top.price;
    kinds[side] = top.line.count;
  }
  return { sheet: sheetOf(lines, fields), kinds };
}

function possibleSheets(priced: Priced, prompt: number, terms: ChargeTerms): readonly Sheet[] {
  if (priced.group === "ImgPricing") {
    return [sheetOf(METERS.ImgPricing, { Call: imagePriceMax(priced.price, terms.image) })];
  }
  const service = serviceOf(priced, terms.tier);
  const sheets: Sheet[] = [];
  for (let long = longStep(priced.tiers, prompt); long >= -1; long--) {
    sheets.push(sheetAt(priced, long, ""));
    if (service !== "") sheets.push(sheetAt(priced, long, service));
  }
  return sheets;
}
