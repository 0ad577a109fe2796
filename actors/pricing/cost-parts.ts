// Charges of several parts. A part is usage that is not priced like the request's model, such as a
// compaction, an advisor's messages or the calls of a server tool. The usage of a charge includes its parts;
// the rest is priced like the model. The sum is rounded once.

import type { Nano } from "../money.ts";
import {
  type Charge,
  type ChargeTerms,
  cost,
  type Exact,
  exactCost,
  exactOf,
  type PriceNumbers,
  rounded,
} from "./cost.ts";
import type { Priced } from "./price.ts";
import { NO_USAGE, type Usage } from "./usage.ts";

/** A part as it is stored in the ledger. */
export interface ChargePart {
  /** The model of the part, or the name under which a server tool is priced. */
  readonly name: string;
  readonly usage: Usage;
  readonly price: PriceNumbers;
}

/** A part before it is priced; the highest of its prices is charged. */
export interface UsagePart {
  readonly name: string;
  readonly usage: Usage;
  readonly priced: readonly Priced[];
}

/** A charge with its priced parts. */
export interface ChargeOfParts extends Charge {
  readonly parts: readonly ChargePart[];
}

const COUNTS = Object.keys(NO_USAGE) as readonly (keyof Usage)[];

/** Returns the usage with that of its parts added. */
export const withParts = (usage: Usage, parts: readonly { readonly usage: Usage }[]): Usage =>
  parts.length === 0 ? usage : parts.reduce((sum, part) => combined(sum, part.usage, 1), usage);

/**
 * Returns the usage without that of its parts. The counts are negative if the parts exceed it; pricing then
 * throws.
 */
export const withoutParts = (usage: Usage, parts: readonly { readonly usage: Usage }[]): Usage =>
  parts.reduce((rest, part) => combined(rest, part.usage, -1), usage);

function combined(one: Usage, other: Usage, sign: 1 | -1): Usage {
  const sum: Record<keyof Usage, number> = { ...one };
  for (const count of COUNTS) sum[count] += sign * other[count];
  return sum;
}

const NO_PARTS: readonly ChargePart[] = [];

/** Returns the charge of a usage with its parts; `usage` must not include them. */
export function costOfParts(
  priced: Priced,
  usage: Usage,
  terms: ChargeTerms,
  parts: readonly UsagePart[],
): ChargeOfParts {
  if (parts.length === 0) {
    const { amount, numbers } = cost(priced, usage, terms);
    return { amount, numbers, parts: NO_PARTS };
  }
  const main = exactCost(priced, usage, terms);
  const exacts: Exact[] = [main.exact];
  const charged = parts.map((part): ChargePart => {
    const { exact, numbers } = dearestOf(part, terms);
    exacts.push(exact);
    return { name: part.name, usage: part.usage, price: numbers };
  });
  return { amount: rounded(exacts), numbers: main.numbers, parts: charged };
}

function dearestOf({ priced, usage }: UsagePart, terms: ChargeTerms): ReturnType<typeof exactCost> {
  const costs = priced.map((one) => exactCost(one, usage, terms));
  return costs.reduce((most, one) => (rounded([one.exact]) > rounded([most.exact]) ? one : most));
}

/**
 * Recomputes the amount of a charge, in nano-dollars, from recorded figures alone; `usage` includes the
 * parts.
 */
export const recompute = (usage: Usage, price: PriceNumbers, parts: readonly ChargePart[] = []): Nano =>
  rounded([
    exactOf(withoutParts(usage, parts), price),
    ...parts.map((part) => exactOf(part.usage, part.price)),
  ]);
