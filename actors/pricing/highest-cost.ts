// The highest cost that a request can have, which its hold reserves: every token at its most expensive kind and tier.

import type { Nano } from "../money.ts";
import { accountSheet, type ChargeTerms } from "./cost.ts";
import { type ImageKind, imagePriceMax, type Priced, type PriceField } from "./price.ts";
import { LINES_OF, type Line } from "./price-lines.ts";
import { longStep, type ServiceTier, Sheet, serviceOf, sheetAt } from "./price-sheet.ts";
import { type Usage, zeroUsage } from "./usage.ts";

/** The highest usage that a request can have. Counts that do not apply to its path are omitted. */
export interface WorstCase {
  readonly prompt?: number;
  readonly completion?: number;
  readonly calls?: number;
  readonly seconds?: number;
  readonly chars?: number;
  readonly webSearches?: number;
}

/**
 * Returns the highest cost of a request, in nano-dollars, for its hold: each prompt and completion token
 * counts at the most expensive kind and tier that can apply. A service tier counts only if `terms.tier` (the
 * request) asks for it. `never` are kinds of token that the request cannot have, such as `inAudio` for a text prompt.
 */
export function highestCost(
  priced: Priced,
  worst: WorstCase,
  never: readonly (keyof Usage)[],
  terms: ChargeTerms,
): Nano {
  const { prompt = 0, completion = 0, calls = 0, seconds = 0, chars = 0, webSearches = 0 } = worst;
  const { sheet, kinds } = dearestSheet(priced, prompt, never, terms);
  const usage = zeroUsage();
  usage.calls = calls;
  usage.seconds = seconds;
  usage.chars = chars;
  usage.webSearches = webSearches;
  if (kinds.prompt !== null) usage[kinds.prompt] = prompt;
  if (kinds.completion !== null) usage[kinds.completion] = completion;
  return accountSheet(priced, sheet, terms).amount(usage);
}

/** The prices of a request's worst case, and its most expensive token kinds. */
interface Dearest {
  readonly sheet: Sheet;
  readonly kinds: { readonly prompt: keyof Usage | null; readonly completion: keyof Usage | null };
}

/** A worst case with all that it depends on besides its price. */
interface KeptDearest extends Dearest {
  readonly long: number;
  readonly service: ServiceTier;
  readonly never: readonly (keyof Usage)[];
  readonly image: ImageKind | undefined;
}

// Kept like the sheets. A price has few entries, since kinds of request, tiers and steps are few.
const worst = new WeakMap<Priced, KeptDearest[]>();

/**
 * Kept worst cases per price. Clients choose image kinds freely, so further ones are computed each time.
 */
const DEAREST_MAX = 50;

function dearestSheet(
  priced: Priced,
  prompt: number,
  never: readonly (keyof Usage)[],
  terms: ChargeTerms,
): Dearest {
  const long = longStep(priced.tiers, prompt);
  const service = serviceOf(priced, terms.tier);
  let known = worst.get(priced);
  if (known === undefined) {
    known = [];
    worst.set(priced, known);
  }
  for (const kept of known) {
    if (kept.long !== long || kept.service !== service) continue;
    if (isSameList(kept.never, never) && isSameImage(kept.image, terms.image)) return kept;
  }
  const found = findDearest(priced, prompt, never, terms);
  if (known.length < DEAREST_MAX) known.push({ ...found, long, service, never, image: terms.image });
  return found;
}

const isSameList = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one === other || (one.length === other.length && one.every((each, i) => each === other[i]));

const isSameImage = (one: ImageKind | undefined, other: ImageKind | undefined): boolean =>
  one === other || (one?.quality === other?.quality && one?.size === other?.size);

function findDearest(
  priced: Priced,
  prompt: number,
  never: readonly (keyof Usage)[],
  terms: ChargeTerms,
): Dearest {
  const lines: Line[] = LINES_OF[priced.group].filter(({ side }) => side === "rest");
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
  return { sheet: new Sheet(lines, fields), kinds };
}

function possibleSheets(priced: Priced, prompt: number, terms: ChargeTerms): readonly Sheet[] {
  if (priced.group === "ImgPricing") {
    return [new Sheet(LINES_OF.ImgPricing, { Call: imagePriceMax(priced.price, terms.image) })];
  }
  const service = serviceOf(priced, terms.tier);
  const sheets: Sheet[] = [];
  for (let long = longStep(priced.tiers, prompt); long >= -1; long--) {
    sheets.push(sheetAt(priced, long, ""));
    if (service !== "") sheets.push(sheetAt(priced, long, service));
  }
  return sheets;
}
