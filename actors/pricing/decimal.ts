// Exact decimals: a JSON number as whole digits over a power of ten, and the one rounding that a charge may do.
// Knows nothing of money or models. Never rounds anywhere but in `halfUp`.

/** The value `digits / 10^places`, never negative. */
export interface Decimal {
  readonly digits: bigint;
  readonly places: number;
}

const SHORTEST = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

// Fractions are parsed from text; the few multipliers and prices in use come back again and again.
const PARSED_MAX = 4096;
const parsed = new Map<number, Decimal>();

/**
 * The decimal that a JSON number stands for: its shortest text, which is what was typed, not the double's binary value.
 * Throws on a negative or non-finite value: such numbers are refused where they enter.
 */
export function decimal(value: number): Decimal {
  if (Number.isSafeInteger(value) && value >= 0) return { digits: BigInt(value), places: 0 };
  const known = parsed.get(value);
  if (known) return known;
  const match = SHORTEST.exec(String(value));
  if (!match) throw new RangeError(`not a finite, non-negative number: ${value}`);
  const [, whole = "0", fraction = "", exponent = "0"] = match;
  const places = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  const result = places >= 0 ? { digits, places } : { digits: digits * tenTo(-places), places: 0 };
  if (parsed.size >= PARSED_MAX) parsed.clear();
  parsed.set(value, result);
  return result;
}

/** Numbers brought to one power of ten, so that sums of products are sums of whole numbers. */
export function align(values: readonly number[]): {
  readonly digits: readonly bigint[];
  readonly places: number;
} {
  const decimals = values.map(decimal);
  const places = decimals.reduce((most, { places }) => Math.max(most, places), 0);
  return { digits: decimals.map((each) => each.digits * tenTo(places - each.places)), places };
}

export const tenTo = (exponent: number): bigint => 10n ** BigInt(exponent);

/** `numerator / denominator` rounded to a whole number, a half upwards. Neither may be negative. */
export function halfUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator + numerator + denominator) / (denominator + denominator);
}
