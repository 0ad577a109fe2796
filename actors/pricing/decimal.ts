// Exact decimals: a JSON number as an integer over a power of ten, and the only rounding that a charge may
// do. It is independent of money and models, and must not round anywhere except in `halfUp`.

/** The value `digits / 10^places`, never negative. */
export interface Decimal {
  readonly digits: bigint;
  readonly places: number;
}

const SHORTEST = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

// Parsed fractions are cached, since the same few multipliers and prices are used again and again.
const PARSED_MAX = 4096;
const parsed = new Map<number, Decimal>();

/**
 * Returns the decimal of a JSON number by its shortest text, which is what was typed, not by the double's
 * binary value. Throws RangeError on a negative or non-finite value; such numbers are refused at the edge.
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

/** Brings numbers to one power of ten, so that sums of products are sums of integers. */
export function align(values: readonly number[]): {
  readonly digits: readonly bigint[];
  readonly places: number;
} {
  const decimals = values.map(decimal);
  const places = decimals.reduce((most, { places }) => Math.max(most, places), 0);
  return { digits: decimals.map((each) => each.digits * tenTo(places - each.places)), places };
}

const POWERS: readonly bigint[] = Array.from({ length: 32 }, (_, exponent) => 10n ** BigInt(exponent));

/** Returns 10 to the power of `exponent`, which must not be negative. */
export const tenTo = (exponent: number): bigint => POWERS[exponent] ?? 10n ** BigInt(exponent);

/** Returns `numerator / denominator` rounded to an integer, half up. Neither may be negative. */
export function halfUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator + numerator + denominator) / (denominator + denominator);
}
