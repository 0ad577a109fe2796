// The price of one model as texts of a form, and back. A text becomes a number only when the number's own text is the same amount,
// so that nothing that is typed is rounded. Pure.

import { decimalText, rational, rationalOf } from "../../../api/rational.ts";
import { PRICE_GROUPS, type PriceEntry, type PriceFieldName, type PriceGroup } from "./pricing.ts";

/** No price has more decimals. */
const PLACES_MAX = 40;

/** The texts of a form: fields of the price, and sizes of images by their names. */
export interface PriceTexts {
  readonly fields: Readonly<Partial<Record<PriceFieldName, string>>>;
  readonly sizes: Readonly<Record<string, string>>;
}

/** The form of a price that nobody has set. */
export const NO_PRICE_TEXTS: PriceTexts = { fields: {}, sizes: {} };

/** The fields of a group but its sizes. */
export const amountFields = (group: PriceGroup): readonly PriceFieldName[] =>
  PRICE_GROUPS[group].filter((field) => field !== "Sizes");

/** Whether a group has prices by size. */
export const hasSizes = (group: PriceGroup): boolean =>
  (PRICE_GROUPS[group] as readonly string[]).includes("Sizes");

/** Writes a price as it is typed: `0.0000001`, never `1e-7`. */
export const priceText = (price: number): string => {
  const exact = rationalOf(price);
  return exact === null ? String(price) : decimalText(exact, PLACES_MAX);
};

/** Returns the form of what an Owner set. */
export const textsOf = (entry: PriceEntry | null): PriceTexts => {
  const { Sizes = {}, ...fields } = entry ?? {};
  const texts = (prices: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(prices).map(([name, price]) => [name, priceText(price)]));
  return { fields: texts(fields), sizes: texts(Sizes) };
};

/** Reads a typed price; undefined: none is typed; null: the text is no price, or has more digits than can be kept exactly. */
export function readPrice(text: string): number | undefined | null {
  const plain = text.normalize("NFKC").replace(/[\s$]/g, "");
  if (plain === "") return undefined;
  const match = /^(\d{1,3}(?:,\d{3})+|\d*)(?:\.(\d*))?$/.exec(plain);
  if (match === null || !/\d/.test(plain)) return null;
  const [, whole = "", decimals = ""] = match;
  const digits = `${whole.replaceAll(",", "")}${decimals}`;
  const typed = rational(BigInt(digits), 10n ** BigInt(decimals.length));
  const price = Number(`${digits}e-${decimals.length}`);
  const kept = rationalOf(price);
  return kept !== null && kept.over === typed.over && kept.under === typed.under ? price : null;
}

/** What a form says: the entry to keep, or which of its texts are no prices. */
export interface TypedPrice {
  /** What differs from the list price; null: nothing does. */
  readonly entry: PriceEntry | null;
  readonly unreadable: readonly string[];
}

/** Reads a form. What equals the list price is left out: then the model goes on following the list. */
export function typedPrice(texts: PriceTexts, group: PriceGroup, list: PriceEntry | null): TypedPrice {
  const unreadable: string[] = [];
  const read = (name: string, text: string, listed: number | undefined): [string, number][] => {
    const price = readPrice(text);
    if (price === null) unreadable.push(name);
    return price === null || price === undefined || price === listed ? [] : [[name, price]];
  };
  const fields = amountFields(group).flatMap((field) =>
    read(field, texts.fields[field] ?? "", field === "Rates" ? (list?.Rates ?? 1) : list?.[field]),
  );
  const sizes = hasSizes(group)
    ? Object.entries(texts.sizes).flatMap(([size, text]) => read(size, text, list?.Sizes?.[size]))
    : [];
  const entry: PriceEntry = {
    ...Object.fromEntries(fields),
    ...(sizes.length > 0 ? { Sizes: Object.fromEntries(sizes) } : {}),
  };
  return { entry: Object.keys(entry).length > 0 ? entry : null, unreadable };
}
