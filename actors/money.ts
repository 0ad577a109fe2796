// Money: integer nano-dollars (1e-9 USD). The only file that knows how dollars become nano-dollars and back.
// A number holds up to 9.0 million USD exactly; every sum asserts it. Sums across accounts are made in bigint.

declare const nano: unique symbol;

/** An amount of money in nano-dollars. Always a safe integer; may be negative. */
export type Nano = number & { readonly [nano]: true };

export const ZERO = 0 as Nano;
const NANO_PER_USD = 1_000_000_000;

/** Brands an integer as nano-dollars. Throws when it is not a safe integer: a bug, never a user's mistake. */
export function toNano(value: number): Nano {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not an exact amount of nano-dollars: ${value}`);
  return (value === 0 ? 0 : value) as Nano;
}

export const plus = (a: Nano, b: Nano): Nano => toNano(a + b);
export const minus = (a: Nano, b: Nano): Nano => toNano(a - b);
export const negate = (a: Nano): Nano => toNano(-a);
export const least = (a: Nano, b: Nano): Nano => (a < b ? a : b);
export const most = (a: Nano, b: Nano): Nano => (a > b ? a : b);

/**
 * US dollars, as a JSON number gives them, to nano-dollars, rounded half up (away from zero).
 * Returns null when the amount is not finite or beyond what an exact integer holds.
 */
export function fromUsd(usd: number): Nano | null {
  if (!Number.isFinite(usd)) return null;
  // The shortest decimal form of the double is what the user typed; 0.1 + 0.2 style noise rounds away at 9 places.
  const scaled = Number(`${Math.abs(usd)}e9`);
  const value = Number.isNaN(scaled) ? Math.abs(usd) * NANO_PER_USD : scaled;
  const rounded = Math.floor(value + 0.5);
  if (!Number.isSafeInteger(rounded)) return null;
  return toNano(usd < 0 ? -rounded : rounded);
}

/** Nano-dollars as US dollars for a JSON answer. Exact to the last of 9 decimals for amounts below 9 million USD. */
export function toUsd(amount: Nano): number {
  return Number(formatUsd(amount));
}

/** Nano-dollars as a plain decimal with at most 9 places and no exponent: `0.0000125`. */
export function formatUsd(amount: Nano): string {
  const digits = Math.abs(amount).toString().padStart(10, "0");
  const whole = digits.slice(0, -9);
  const fraction = digits.slice(-9).replace(/0+$/, "");
  return `${amount < 0 ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`;
}
