// Money as integer nano-dollars (1e-9 USD). Only this file converts dollars to nano-dollars and back. A
// number holds up to 9.0 million USD exactly, which every sum asserts. Sums across accounts must use bigint.

declare const nano: unique symbol;

/** An amount of money in nano-dollars. Always a safe integer; may be negative. */
export type Nano = number & { readonly [nano]: true };

/** No money. */
export const ZERO = 0 as Nano;
const NANO_PER_USD = 1_000_000_000;

/**
 * Brands an integer as nano-dollars. Throws RangeError if it is not a safe integer, which is always a bug.
 */
export function toNano(value: number): Nano {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not an exact amount of nano-dollars: ${value}`);
  return (value === 0 ? 0 : value) as Nano;
}

/** The largest exact amount. */
export const NANO_MAX = toNano(Number.MAX_SAFE_INTEGER);

/** Returns a + b. Throws RangeError if the sum is not an exact integer. */
export const plus = (a: Nano, b: Nano): Nano => toNano(a + b);
/**
 * Returns a + b, at most the largest exact amount. For sums that only limit or report what was spent, which must refuse no
 * charge; a balance is never such a sum.
 */
export const plusCapped = (a: Nano, b: Nano): Nano => toNano(Math.min(a + b, NANO_MAX));
/** Returns a − b. Throws RangeError if the difference is not an exact integer. */
export const minus = (a: Nano, b: Nano): Nano => toNano(a - b);
/** Returns −a. */
export const negate = (a: Nano): Nano => toNano(-a);
/** Returns the smaller amount. */
export const least = (a: Nano, b: Nano): Nano => (a < b ? a : b);
/** Returns the larger amount. */
export const most = (a: Nano, b: Nano): Nano => (a > b ? a : b);

/**
 * Converts US dollars, as a JSON number, to nano-dollars, rounded half away from zero. Returns null if the
 * amount is not finite or exceeds the range of exact integers.
 */
export function fromUsd(usd: number): Nano | null {
  if (!Number.isFinite(usd)) return null;
  // The shortest decimal form of the double is what the user typed; noise as of 0.1 + 0.2 vanishes at 9
  // places.
  const scaled = Number(`${Math.abs(usd)}e9`);
  const value = Number.isNaN(scaled) ? Math.abs(usd) * NANO_PER_USD : scaled;
  const rounded = Math.round(value);
  if (!Number.isSafeInteger(rounded)) return null;
  return toNano(usd < 0 ? -rounded : rounded);
}

/**
 * Converts nano-dollars to US dollars for a JSON answer, exact to 9 decimals for amounts below 9 million USD.
 */
export function toUsd(amount: Nano): number {
  return Number(formatUsd(amount));
}

/**
 * Formats nano-dollars as US dollars: a decimal with at most 9 places and no exponent, such as `0.0000125`.
 */
export function formatUsd(amount: Nano): string {
  const sign = amount < 0 ? "-" : "";
  const size = Math.abs(amount);
  let fraction = size % NANO_PER_USD;
  const whole = (size - fraction) / NANO_PER_USD;
  if (fraction === 0) return sign + whole;
  let places = 9;
  for (; fraction % 10 === 0; fraction /= 10) places--;
  return `${sign}${whole}.${String(fraction).padStart(places, "0")}`;
}
