// Amounts of money in the pages: bigint nano-dollars, their texts, and how a form's text becomes one. No float takes part; the
// only division is that of shares, which are drawn and never added up. Totals are the server's.

declare const nanos: unique symbol;
declare const billionths: unique symbol;

/** An amount of money in nano-dollars (1e-9 USD). May be negative, and above what a number holds exactly. */
export type Nanos = bigint & { readonly [nanos]: true };

/**
 * An exact figure in billionths of its unit, where the answer itself says which unit that is: US dollars in one row, requests,
 * tokens, days or percent in another. `nanosOf` takes it for dollars, `countText` and `countOf` for anything else.
 */
export type Billionths = bigint & { readonly [billionths]: true };

/** No money. */
export const NO_NANOS = 0n as Nanos;

const PER_UNIT = 1_000_000_000n;
const PLACES = 9;

/** Takes an integer for nano-dollars. */
export const toNanos = (value: bigint): Nanos => value as Nanos;

/** Takes a figure for US dollars; the caller has read its unit in the row. */
export const nanosOf = (figure: Billionths): Nanos => figure as bigint as Nanos;

/** Returns a figure that counts something as a number; fractions stay, as a double has them. */
export const countOf = (figure: Billionths): number => Number(figure) / Number(PER_UNIT);

/** Returns a + b. */
export const addNanos = (a: Nanos, b: Nanos): Nanos => toNanos(a + b);

/** Returns a − b. */
export const subtractNanos = (a: Nanos, b: Nanos): Nanos => toNanos(a - b);

/** Orders amounts or figures for a sort, the lower ones first. */
export const compareExact = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/** Groups of three digits with commas: English and Chinese write numbers alike. */
const grouped = (whole: bigint): string => String(whole).replace(/\B(?=(\d{3})+$)/g, ",");

/** Writes billionths with as many decimals as there are, but at least `placesMin`. */
function exactText(value: bigint, placesMin: number, group: (whole: bigint) => string = grouped): string {
  const size = value < 0n ? -value : value;
  const decimals = String(size % PER_UNIT).padStart(PLACES, "0");
  const shown = decimals.replace(/0+$/, "").padEnd(placesMin, "0");
  return `${value < 0n ? "-" : ""}${group(size / PER_UNIT)}${shown === "" ? "" : `.${shown}`}`;
}

/** Writes US dollars exactly, such as `1,234.5678`: at least two decimals, and never fewer than there are. */
export const usdText = (amount: Nanos): string => exactText(amount, 2);

/** Writes US dollars with all nine decimals, for titles, copies and proofs. */
export const fullUsd = (amount: Nanos): string => exactText(amount, PLACES);

/** Writes US dollars exactly as a JSON number or a command takes them: no group, no exponent, no needless zero. */
export const plainUsd = (amount: bigint): string => exactText(amount, 0, String);

/** Decimals of `shortUsd`. Smaller amounts keep all of theirs, since six would leave little or nothing of them. */
const SHORT_PLACES = 6;
const SHORT_FROM = 10_000_000n;

/**
 * Writes US dollars for a narrow column: from 0.01 on with at most six decimals, rounded half away from zero. A text that is not
 * the whole amount begins with `≈`; where it is shown, `fullUsd` is its title.
 */
export function shortUsd(amount: Nanos): string {
  const size = amount < 0n ? -amount : amount;
  const step = 10n ** BigInt(PLACES - SHORT_PLACES);
  if (size < SHORT_FROM || size % step === 0n) return usdText(amount);
  const rounded = ((size + step / 2n) / step) * step;
  return `≈${usdText(toNanos(amount < 0n ? -rounded : rounded))}`;
}

/** Writes a count such as `1,284`, with the decimals that a figure has. */
export const countText = (count: number | Billionths): string =>
  exactText(typeof count === "bigint" ? count : billionthsOf(decimalText(count))!, 0);

/** Writes a number without exponent: whole ones as they are, others with nine decimals. */
const decimalText = (value: number): string =>
  Number.isInteger(value) ? String(BigInt(value)) : value.toFixed(PLACES);

const JSON_NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/;

/**
 * Reads the text of a JSON number as billionths, exactly: `1e-9` is 1. Returns null for a text that is no number, or has more
 * than nine decimals.
 */
export function billionthsOf(text: string): Billionths | null {
  const match = JSON_NUMBER.exec(text);
  if (match === null) return null;
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  const shift = PLACES - fraction.length + Number(exponent);
  const digits = whole + fraction;
  const dropped = shift < 0 ? digits.slice(shift) : "";
  if (/[1-9]/.test(dropped)) return null;
  const size = shift < 0 ? BigInt(digits.slice(0, shift)) : BigInt(digits) * 10n ** BigInt(shift);
  return (sign === "-" ? -size : size) as Billionths;
}

const TYPED_AMOUNT = /^([+-]?)((?:\d{1,3}(?:,\d{3})+|\d*)(?:\.(\d{0,9}))?)$/;

/**
 * Reads what somebody typed as US dollars: groups of three with commas, at most nine decimals, a sign and a dollar sign if they
 * like, and full-width digits. Returns null for anything else, so that `1,5` is never taken for fifteen.
 */
export function parseUsd(text: string): Nanos | null {
  const plain = text.normalize("NFKC").replace(/[\s$]/g, "").replace("\u2212", "-");
  const match = TYPED_AMOUNT.exec(plain);
  if (match === null || !/\d/.test(plain)) return null;
  const [whole = "", fraction = ""] = match[2]!.replaceAll(",", "").split(".");
  const size = BigInt(whole === "" ? "0" : whole) * PER_UNIT + BigInt(fraction.padEnd(PLACES, "0"));
  return toNanos(match[1] === "-" ? -size : size);
}

/** Writes the share of a part in a whole with one decimal, half rounded up, such as `12.5%`; null where the whole is 0. */
export function percentOf(part: bigint, whole: bigint): string | null {
  if (whole === 0n) return null;
  const [of, size] = whole < 0n ? [-part, -whole] : [part, whole];
  const tenths = ((of < 0n ? -of : of) * 2_000n + size) / (2n * size);
  return `${of < 0n && tenths > 0n ? "-" : ""}${grouped(tenths / 10n)}.${tenths % 10n}%`;
}

/** Steps of a share of bigints: more than a screen has points. */
const SHARE_STEPS = 10_000_000n;

/**
 * Returns how much of a whole a part is, from 0 to 1, to draw it and for nothing else. Parts below 0 and wholes of 0 or below
 * give 0.
 */
export function shareOf(part: bigint | number, whole: bigint | number): number {
  const share =
    typeof part === "bigint" && typeof whole === "bigint"
      ? whole > 0n && Number((part * SHARE_STEPS) / whole) / Number(SHARE_STEPS)
      : Number(whole) > 0 && Number(part) / Number(whole);
  return share === false ? 0 : Math.min(1, Math.max(0, share));
}
