// The list of prices: by list, set by the Owner, in effect. Models that are used without a price of their own come first.

import { Badge, Text } from "@mantine/core";
import { countText } from "../../../api/amount.ts";
import type { Answers } from "../../../api/answers.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { useWords } from "../../../i18n/language.ts";
import { PRICE_WORDS } from "../../../i18n/prices.ts";
import { SHELL } from "../../../i18n/shell.ts";
import { PriceCell } from "./price-cell.tsx";
import { entryIn, hasAmount, mergedPrice, type PriceEntry, type PricingMap } from "./pricing.ts";

/** A row of the list. */
export type PriceRow = Answers["/x-prices"]["prices"][number];

/** Returns the Owner's own price of a row as it is in a draft, and as it is saved. */
function ownOf({ model, group, override }: PriceRow, draft: PricingMap | null) {
  const saved = override as PriceEntry | null;
  const own = draft === null || group === null ? saved : entryIn(draft, group, model);
  return { own, isEdited: JSON.stringify(own) !== JSON.stringify(saved) };
}

/** Returns what a row would be charged by. Nobody but the service knows which other entry prices a model without a price. */
function effectiveOf(row: PriceRow, draft: PricingMap | null): PriceEntry | null {
  const { own, isEdited } = ownOf(row, draft);
  if (!isEdited) return row.effective as PriceEntry | null;
  const merged = mergedPrice(row.list as PriceEntry | null, own);
  return hasAmount(merged) ? merged : null;
}

/** The table of prices. `draft`: prices that are not saved yet; null: there are none. */
export function PriceList(props: {
  readonly rows: readonly PriceRow[];
  readonly draft: PricingMap | null;
  readonly onOpen: (row: PriceRow) => void;
}) {
  const { rows, draft, onOpen } = props;
  const { page } = useWords(SHELL);
  const words = useWords(PRICE_WORDS).column;
  const columns: readonly Column<PriceRow>[] = [
    { key: "model", title: words.model, isWrapping: true, cell: (row) => <Model row={row} draft={draft} /> },
    {
      key: "list",
      title: words.list,
      isWrapping: true,
      isMinor: true,
      cell: ({ list }) => <PriceCell price={list as PriceEntry | null} />,
    },
    {
      key: "override",
      title: words.override,
      isWrapping: true,
      isMinor: true,
      cell: (row) => <PriceCell price={ownOf(row, draft).own} />,
    },
    {
      key: "effective",
      title: words.effective,
      isWrapping: true,
      cell: (row) => <PriceCell price={effectiveOf(row, draft)} beside={row.list as PriceEntry | null} />,
    },
    {
      key: "requests",
      title: words.requests,
      isFigure: true,
      isMinor: true,
      cell: ({ requests_30d: requests }) =>
        requests === 0 ? (
          <Text span size="sm" c="dimmed">
            0
          </Text>
        ) : (
          countText(requests)
        ),
    },
  ];
  return (
    <DataTable
      caption={page.prices}
      columns={columns}
      rows={rows}
      keyOf={({ model, group }) => `${model} ${group}`}
      onOpen={onOpen}
    />
  );
}

function Model({ row, draft }: { readonly row: PriceRow; readonly draft: PricingMap | null }) {
  const words = useWords(PRICE_WORDS);
  const { model, group, priced_by: pricedBy, requests_30d: requests } = row;
  const isUsed = requests > 0;
  const { isEdited } = ownOf(row, draft);
  // Most models are priced by tokens.
  const notes = [
    ...(group === null || group === "ChatPricing" ? [] : [words.group[group]]),
    ...(pricedBy === null || pricedBy === model ? [] : [words.pricedBy(pricedBy)]),
  ];
  return (
    <span className="price-model">
      <span>{model}</span>
      {isUsed && pricedBy === null && (
        <Badge tt="none" color="red" title={words.refusedAbout}>
          {words.refused}
        </Badge>
      )}
      {isUsed && pricedBy !== null && pricedBy !== model && (
        <Badge tt="none" color="orange">
          {words.borrowed}
        </Badge>
      )}
      {isEdited && (
        <Badge tt="none" color="arbor" variant="outline">
          {words.edited}
        </Badge>
      )}
      <Text span size="xs" c="dimmed">
        {notes.join(" · ")}
      </Text>
    </span>
  );
}
