// A price in a cell: its fields in a few words each.

import { Text } from "@mantine/core";
import { useWords } from "../../../i18n/language.ts";
import { PRICE_WORDS } from "../../../i18n/prices.ts";
import { priceText } from "./price-texts.ts";
import { PRICE_GROUPS, type PriceEntry, type PriceFieldName } from "./pricing.ts";

/** All fields in the order in which they are shown. */
const FIELDS = [
  ...new Set(
    Object.values(PRICE_GROUPS)
      .flat()
      .filter((field) => field !== "Sizes"),
  ),
] as readonly PriceFieldName[];

/** The fields of a price; those that differ from `beside` are marked. Null is no price. */
export function PriceCell(props: { readonly price: PriceEntry | null; readonly beside?: PriceEntry | null }) {
  const { price, beside } = props;
  const words = useWords(PRICE_WORDS);
  if (price === null) {
    return (
      <Text span size="sm" c="dimmed">
        {words.noPrice}
      </Text>
    );
  }
  const shown = FIELDS.filter(
    (field) => price[field] !== undefined && !(field === "Rates" && price.Rates === 1),
  );
  const sizes = Object.entries(price.Sizes ?? {});
  const isOther = (field: PriceFieldName) => beside !== undefined && beside?.[field] !== price[field];
  return (
    <span className="price-fields">
      {shown.map((field) => (
        <span key={field} title={field} data-other={isOther(field) || undefined}>
          {words.short[field]} <b>{priceText(price[field]!)}</b>
        </span>
      ))}
      {sizes.length > 0 && (
        <span title={sizes.map(([size, usd]) => `${size}: ${priceText(usd)}`).join("\n")}>
          {words.sizes(sizes.length)}
        </span>
      )}
    </span>
  );
}
