// A charge of several parts: what of a request's usage is not priced as its model is, such as a compaction, an advisor's
// messages or the calls of a server tool. The usage of a charge holds its parts; what they leave of it is priced as the
// model is. All of it is rounded once.

import type { Nano } from "../money.ts";
import {
  type Charge,
  type ChargeTerms,
  type Exact,
  exactCost,
  exactOf,
  type PriceNumbers,
  rounded,
} from "./cost.ts";
import type { Priced } from "./price.ts";
import { NO_USAGE, type Usage } from "./usage.ts";

/** A part as the ledger keeps it. */
export interface ChargePart {
  /** The model that used it, or the server tool by the name of its price. */
  readonly name: string;
  readonly usage: Usage;
  readonly price: PriceNumbers;
}

/** A part before it is priced; the dearest of its prices is charged. */
export interface UsagePart {
  readonly name: string;
  readonly usage: Usage;
  readonly priced: readonly Priced[];
}

export interface ChargeOfParts extends Charge {
  readonly parts: readonly ChargePart[];
}

const COUNTS = Object.keys(NO_USAGE) as readonly (keyof Usage)[];

/** The usage of a request with that of its parts. */
export const withParts = (usage: Usage, parts: readonly { readonly usage: Usage }[]): Usage =>
  parts.reduce((sum, part) => combined(sum, part.usage, 1), usage);

/** The usage that the parts leave to the model. Throws where they hold more than there is. */
export const withoutParts = (usage: Usage, parts: readonly { readonly usage: Usage }[]): Usage =>
  parts.reduce((rest, part) => combined(rest, part.usage, -1), usage);

function combined(one: Usage, other: Usage, sign: 1 | -1): Usage {
  const sum: Record<keyof Usage, number> = { ...one };
  for (const count of COUNTS) sum[count] += sign * other[count];
  return sum;
}

/** What a usage costs with its parts; `usage` is without them. */
export function costOfParts(
  priced: Priced,
  usage: Usage,
  terms: ChargeTerms,
  parts: readonly UsagePart[],
): ChargeOfParts {
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

/** The amount of a charge, from what was recorded alone; `usage` is with the parts. */
export const recompute = (usage: Usage, price: PriceNumbers, parts: readonly ChargePart[] = []): Nano =>
  rounded([
    exactOf(withoutParts(usage, parts), price),
    ...parts.map((part) => exactOf(part.usage, part.price)),
  ]);
