// Computes what a usage costs at a price: the charge, and its recomputation from recorded figures. Counts are disjoint
// (usage.ts), products are exact, and each charge is rounded once. Whole numbers below 2^53 are multiplied as numbers;
// larger ones as bigint, with the same result.

import { assert } from "../../src/base/errors.ts";
import { type Nano, toNano } from "../money.ts";
import { type Decimal, decimal, halfUp, tenTo } from "./decimal.ts";
import {
  effectivePriceFields,
  type Group,
  type ImageKind,
  type Priced,
  type PriceField,
  type PriceFields,
} from "./price.ts";
import { LINES_OF } from "./price-lines.ts";
import { longStep, Sheet, serviceOf, sheetAt } from "./price-sheet.ts";
import { promptTokens, type Usage } from "./usage.ts";

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
  readonly multipliers: PriceMultipliers;
}

/** The Rates of the model, and Rates and Factor of the account. */
export interface PriceMultipliers {
  readonly model: number;
  readonly rates: number;
  readonly factor: number;
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

/**
 * Returns what a usage costs, and the numbers from which it was computed. Throws if a count is negative.
 * Source: contract, "Metering and money": Σ count × price / 1e6 × model Rates × account Rates × account
 * Factor.
 */
export function cost(priced: Priced, usage: Usage, terms: ChargeTerms): Charge {
  const sheet = accountSheetFor(priced, usage, terms);
  return { amount: sheet.amount(usage), numbers: sheet.numbers(usage) };
}

/** Like `cost`, but before rounding, for a charge of several parts: see cost-parts.ts. */
export function exactCost(
  priced: Priced,
  usage: Usage,
  terms: ChargeTerms,
): { readonly exact: Exact; readonly numbers: PriceNumbers } {
  const sheet = accountSheetFor(priced, usage, terms);
  return { exact: sheet.exact(usage), numbers: sheet.numbers(usage) };
}

function accountSheetFor(priced: Priced, usage: Usage, terms: ChargeTerms): AccountSheet {
  if (priced.group === "ImgPricing") {
    const sheet = new Sheet(LINES_OF.ImgPricing, effectivePriceFields(priced, terms.image));
    return new AccountSheet(priced, sheet, terms, terms.image);
  }
  const sheet = sheetAt(priced, longStep(priced.tiers, promptTokens(usage)), serviceOf(priced, terms.tier));
  return accountSheet(priced, sheet, terms);
}

/** A sheet with the multipliers of an account: all of a charge that does not depend on the usage. */
class AccountSheet {
  private readonly multipliers: PriceMultipliers;
  /** The product of the multipliers without their decimal places; Infinity if it is no safe integer. */
  private readonly digits: number;
  /** Three nano-dollars' thirds with all decimal places; 0 if numbers cannot divide by it exactly. */
  private readonly divisor: number;
  /** The numbers of a charge by the counts that it has, see `countsIn`. */
  private readonly knownNumbers = new Map<number, PriceNumbers>();

  /** `image` is the kind of image that the sheet is for. */
  constructor(
    private readonly priced: Priced,
    private readonly sheet: Sheet,
    { rates, factor }: ChargeTerms,
    private readonly image?: ImageKind,
  ) {
    this.multipliers = { model: priced.price.Rates ?? 1, rates, factor };
    const { digits, places } = product(this.multipliers);
    this.digits = Number.isSafeInteger(Number(digits)) ? Number(digits) : Number.POSITIVE_INFINITY;
    const divisor = Number(3n * tenTo(sheet.places + places));
    this.divisor = divisor <= Number.MAX_SAFE_INTEGER / 2 ? divisor : 0;
  }

  get factor(): number {
    return this.multipliers.factor;
  }

  /** Returns the cost of a usage, rounded. */
  amount(usage: Usage): Nano {
    const thirds = this.divisor > 0 && isCountable(usage) ? this.thirds(usage) : Number.NaN;
    return thirds <= Number.MAX_SAFE_INTEGER ? halfUpOf(thirds, this.divisor) : rounded([this.exact(usage)]);
  }

  /** Returns the cost of a usage before rounding. */
  exact(usage: Usage): Exact {
    return total(this.sheet, usage, this.multipliers);
  }

  /** Returns the numbers from which the cost of a usage is computed. */
  numbers(usage: Usage): PriceNumbers {
    const counts = countsIn(usage);
    let numbers = this.knownNumbers.get(counts);
    if (numbers === undefined) {
      numbers = this.numbersOf(usage);
      if (this.knownNumbers.size >= NUMBERS_MAX) this.knownNumbers.clear();
      this.knownNumbers.set(counts, numbers);
    }
    return numbers;
  }

  /**
   * Returns Σ count × weight × multipliers. No term is negative, so a result below 2^53 is exact: rounding on the way
   * could only have happened at 2^53 or above.
   */
  private thirds(used: Usage): number {
    const { byCount: weight, callsMin } = this.sheet;
    const calls = used.calls === 0 ? callsMin : used.calls;
    const prompt =
      timesOf(used.inText, weight.inText) +
      timesOf(used.inCached, weight.inCached) +
      timesOf(used.inCacheWrite, weight.inCacheWrite) +
      timesOf(used.inCacheWrite1h, weight.inCacheWrite1h) +
      timesOf(used.inAudio, weight.inAudio) +
      timesOf(used.inImage, weight.inImage);
    const completion =
      timesOf(used.outText, weight.outText) +
      timesOf(used.outReason, weight.outReason) +
      timesOf(used.outAudio, weight.outAudio) +
      timesOf(used.outImage, weight.outImage);
    const rest =
      timesOf(calls, weight.calls) +
      timesOf(Math.round(used.seconds * 1000), weight.seconds) +
      timesOf(used.chars, weight.chars) +
      timesOf(used.webSearches, weight.webSearches);
    return timesOf(prompt + completion + rest, this.digits);
  }

  private numbersOf(usage: Usage): PriceNumbers {
    const { lines, fields, tier } = this.sheet;
    const { group, name } = this.priced;
    const prices: Partial<Record<PriceField, number>> = {};
    for (const { count, field, countMin } of lines) {
      if (usage[count] > 0 || countMin > 0) prices[field] = fields[field]!;
    }
    return {
      ...{ group, name, prices, multipliers: this.multipliers },
      ...(this.image === undefined ? {} : { image: this.image }),
      ...(tier === "" ? {} : { tier }),
    };
  }
}

/** Returns the product of two numbers of which neither is negative; 0 times Infinity is 0. */
const timesOf = (count: number, weight: number): number => (count === 0 || weight === 0 ? 0 : count * weight);

/** Numbers of charges that are kept per account sheet. Few counts occur together. */
const NUMBERS_MAX = 64;
/** Pairs of Rates and Factor that are kept per sheet. Owners choose them, so there is no end of them. */
const ACCOUNT_SHEETS_MAX = 256;

/** The sheets at the multipliers of accounts that were made from a sheet. */
class AccountSheets {
  /** By Rates, of which accounts have many; Factor has few values. */
  private readonly byRates = new Map<number, AccountSheet[]>();
  private size = 0;

  constructor(
    private readonly priced: Priced,
    private readonly sheet: Sheet,
  ) {}

  at(terms: ChargeTerms): AccountSheet {
    const { rates, factor } = terms;
    const known = this.byRates.get(rates);
    if (known !== undefined) {
      for (let i = 0; i < known.length; i++) if (known[i]!.factor === factor) return known[i]!;
    }
    return this.made(terms);
  }

  private made(terms: ChargeTerms): AccountSheet {
    const made = new AccountSheet(this.priced, this.sheet, terms);
    if (this.size++ >= ACCOUNT_SHEETS_MAX) {
      this.byRates.clear();
      this.size = 1;
    }
    const known = this.byRates.get(terms.rates);
    if (known === undefined) this.byRates.set(terms.rates, [made]);
    else known.push(made);
    return made;
  }
}

const accountSheets = new WeakMap<Sheet, AccountSheets>();

/** Returns a sheet at the multipliers of an account, which is kept. It is for no kind of image. */
export function accountSheet(priced: Priced, sheet: Sheet, terms: ChargeTerms): AccountSheet {
  let known = accountSheets.get(sheet);
  if (known === undefined) {
    known = new AccountSheets(priced, sheet);
    accountSheets.set(sheet, known);
  }
  return known.at(terms);
}

/** Returns one bit for each count that is not 0. */
const countsIn = (used: Usage): number =>
  (used.inText > 0 ? 1 : 0) |
  (used.inCached > 0 ? 2 : 0) |
  (used.inCacheWrite > 0 ? 4 : 0) |
  (used.inCacheWrite1h > 0 ? 8 : 0) |
  (used.inAudio > 0 ? 16 : 0) |
  (used.inImage > 0 ? 32 : 0) |
  (used.outText > 0 ? 64 : 0) |
  (used.outReason > 0 ? 128 : 0) |
  (used.outAudio > 0 ? 256 : 0) |
  (used.outImage > 0 ? 512 : 0) |
  (used.calls > 0 ? 1024 : 0) |
  (used.seconds > 0 ? 2048 : 0) |
  (used.chars > 0 ? 4096 : 0) |
  (used.webSearches > 0 ? 8192 : 0);

const isCount = (count: number): boolean => count >= 0 && Number.isInteger(count);

/** Whether every count is a whole number and none is negative; `total` says of the others what is wrong. */
const isCountable = (used: Usage): boolean =>
  isCount(used.inText) &&
  isCount(used.inCached) &&
  isCount(used.inCacheWrite) &&
  isCount(used.inCacheWrite1h) &&
  isCount(used.inAudio) &&
  isCount(used.inImage) &&
  isCount(used.outText) &&
  isCount(used.outReason) &&
  isCount(used.outAudio) &&
  isCount(used.outImage) &&
  isCount(used.calls) &&
  used.seconds >= 0 &&
  isCount(used.chars) &&
  isCount(used.webSearches);

/** Returns `thirds / divisor` rounded half up and capped. Both are safe integers, so the quotient is exact. */
function halfUpOf(thirds: number, divisor: number): Nano {
  const rest = thirds % divisor;
  const whole = (thirds - rest) / divisor;
  const amount = rest * 2 >= divisor ? whole + 1 : whole;
  return amount > CHARGE_MAX ? CHARGE_MAX : toNano(amount);
}

/** Returns what a recorded usage costs at its recorded numbers, before rounding. */
export const exactOf = (usage: Usage, { group, prices, multipliers }: PriceNumbers): Exact =>
  total(new Sheet(LINES_OF[group], prices), usage, multipliers);

function total({ lines, weights, places }: Sheet, usage: Usage, by: PriceMultipliers): Exact {
  let thirds = 0n;
  for (let i = 0; i < lines.length; i++) {
    const { count, countMin } = lines[i]!;
    const given = count === "seconds" ? Math.round(usage.seconds * 1000) : usage[count];
    const counted = given === 0 ? countMin : given;
    if (counted === 0) continue;
    assert(counted > 0, "a usage count is not a non-negative number");
    thirds += BigInt(counted) * weights[i]!;
  }
  const multiplied = product(by);
  return { thirds: thirds * multiplied.digits, places: places + multiplied.places };
}

function product({ model, rates, factor }: PriceMultipliers): Decimal {
  let digits = 1n;
  let places = 0;
  for (const multiplier of [model, rates, factor]) {
    if (multiplier === 1) continue;
    const exact = decimal(multiplier);
    digits *= exact.digits;
    places += exact.places;
  }
  return { digits, places };
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
