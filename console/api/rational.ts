// Exact fractions, for equations of prices: prices per million tokens and per minute have no finite decimal in nano-dollars.
// Nothing here knows money.

/** The value `over / under`, in lowest terms; `under` is positive. */
export interface Rational {
  readonly over: bigint;
  readonly under: bigint;
}

const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? a : gcd(b, a % b));

/** Makes a fraction. Throws RangeError when `under` is 0. */
export function rational(over: bigint, under = 1n): Rational {
  if (under === 0n) throw new RangeError("a fraction of nothing");
  const sign = under < 0n ? -1n : 1n;
  const common = gcd(over < 0n ? -over : over, under * sign);
  return { over: (over * sign) / common, under: (under * sign) / common };
}

const SHORTEST = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

/**
 * Takes a JSON number by its shortest text, which is what was typed and what the service computes with: 0.1 is a tenth. Returns
 * null for what is not finite.
 */
export function rationalOf(value: number): Rational | null {
  const match = SHORTEST.exec(String(value));
  if (match === null) return null;
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  const places = fraction.length - Number(exponent);
  const digits = BigInt(`${sign}${whole}${fraction}`);
  return places > 0 ? rational(digits, 10n ** BigInt(places)) : rational(digits * 10n ** BigInt(-places));
}

const [ZERO, ONE] = [rational(0n), rational(1n)];

/** Returns the product of all these. */
export const product = (...factors: readonly Rational[]): Rational =>
  factors.reduce((all, one) => rational(all.over * one.over, all.under * one.under), ONE);

/** Returns the sum of all these. */
export const sumOf = (terms: readonly Rational[]): Rational =>
  terms.reduce(
    (sum, one) => rational(sum.over * one.under + one.over * sum.under, sum.under * one.under),
    ZERO,
  );

/** Rounds a fraction that is not negative to an integer, half up. */
export const roundHalfUp = ({ over, under }: Rational): bigint => (2n * over + under) / (2n * under);

/**
 * Writes a fraction as a decimal without needless zeros, such as `1234.5`. One that needs more than `placesMax` decimals, or has
 * no end, is cut off there and ends with `…`.
 */
export function decimalText({ over, under }: Rational, placesMax = 12): string {
  const size = over < 0n ? -over : over;
  const scale = 10n ** BigInt(placesMax);
  const cut = (size * scale) / under;
  const decimals = String(cut % scale).padStart(placesMax, "0");
  const isWhole = (size * scale) % under === 0n;
  const shown = isWhole ? decimals.replace(/0+$/, "") : `${decimals}…`;
  return `${over < 0n ? "-" : ""}${cut / scale}${shown === "" ? "" : `.${shown}`}`;
}
