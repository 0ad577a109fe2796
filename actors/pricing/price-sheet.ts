// The prices of one tier of a price, as integers that are ready to multiply. A sheet is made once and kept as long as its
// price lives. It must not know accounts or usage: cost.ts multiplies.

import { align } from "./decimal.ts";
import {
  effectivePriceFields,
  FALLBACK_FIELDS,
  type Priced,
  type PriceField,
  type PriceFields,
  type Tiers,
} from "./price.ts";
import { LINES_OF, type Line } from "./price-lines.ts";
import { NO_USAGE, type Usage } from "./usage.ts";

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
export const tierOfCharge = ({ tier = "" }: { readonly tier?: string }): string | null =>
  Object.keys(SERVICE_TIERS).find((name) => tier.split("+").includes(SERVICE_TIERS[name]!)) ?? null;

/** Thirds of a nano-dollar per counted unit, times a power of ten, by count; 0 where a count has no price. */
export type CountWeights = Readonly<Record<keyof Usage, number>>;

/** The prices of one tier as integers, ready to multiply. */
export class Sheet {
  /** The lines whose field has a price. */
  readonly lines: readonly Line[];
  /** Thirds of a nano-dollar per counted unit times `10^places`, for each line. */
  readonly weights: readonly bigint[];
  readonly places: number;
  /** The weights as numbers; Infinity where one is no safe integer. */
  readonly byCount: CountWeights;
  /** The calls that a request counts as at least. */
  readonly callsMin: number;

  /** `tier` names the tiers that apply, joined by `+`; empty means the standard price. */
  constructor(
    lines: readonly Line[],
    readonly fields: PriceFields,
    readonly tier = "",
  ) {
    this.lines = lines.filter(({ field }) => fields[field] !== undefined);
    const { digits, places } = align(this.lines.map(({ field }) => fields[field]!));
    this.weights = this.lines.map(({ thirds }, i) => thirds * digits[i]!);
    this.places = places;
    const byCount: Record<keyof Usage, number> = { ...NO_USAGE };
    for (const [i, { count }] of this.lines.entries()) {
      const weight = Number(this.weights[i]!);
      byCount[count] = Number.isSafeInteger(weight) ? weight : Number.POSITIVE_INFINITY;
    }
    this.byCount = byCount;
    this.callsMin = this.lines.find(({ count }) => count === "calls")?.countMin ?? 0;
  }
}

/** A service tier that has prices of its own; empty means the standard price. */
export type ServiceTier = "Priority" | "Flex" | "";

interface TierSheet {
  readonly long: number;
  readonly service: ServiceTier;
  readonly sheet: Sheet;
}

// Sheets are kept as long as their price lives; a price has at most (long-context steps + 1) × 3 of them.
const sheets = new WeakMap<Priced, TierSheet[]>();

/** Returns the sheet of a price at a long-context step (see `longStep`) and a service tier. */
export function sheetAt(priced: Priced, long: number, service: ServiceTier): Sheet {
  let known = sheets.get(priced);
  if (known === undefined) {
    known = [];
    sheets.set(priced, known);
  }
  for (const kept of known) if (kept.long === long && kept.service === service) return kept.sheet;
  const sheet = makeSheet(priced, long, service);
  known.push({ long, service, sheet });
  return sheet;
}

function makeSheet(priced: Priced, long: number, service: ServiceTier): Sheet {
  const base = effectivePriceFields(priced);
  const step = priced.tiers?.LongContext?.[long];
  const named = service === "" ? undefined : priced.tiers?.[service];
  const stepped = step ? overlay(base, base, step) : base;
  const fields = named ? overlay(stepped, base, named) : stepped;
  const tier = [step && `LongContext>${step.AboveInputTokens}`, named && service].filter(Boolean).join("+");
  return new Sheet(LINES_OF[priced.group], fields, tier);
}

/**
 * Returns the index of the last long-context step whose threshold the input exceeds, or -1 if there is none.
 */
export const longStep = (tiers: Tiers | null, input: number): number =>
  tiers?.LongContext?.findLastIndex(({ AboveInputTokens }) => input > AboveInputTokens) ?? -1;

/** Returns the service tier of a name in a request or response, if the price has that tier. */
export function serviceOf({ tiers }: Priced, named: string | null | undefined): ServiceTier {
  if (tiers === null || !named || !Object.hasOwn(SERVICE_TIERS, named)) return "";
  const service = SERVICE_TIERS[named]!;
  return tiers[service] ? service : "";
}
