// An Owner's prices: what the list says, what is set, what is charged. Changes go into a draft, whose effect on the last 30 days is
// shown before it is saved.

import { Button, Stack } from "@mantine/core";
import { useState } from "react";
import { type Configuration, useBasis, useConfiguration } from "../../../api/configuration.ts";
import { useGet } from "../../../api/queries.ts";
import { AskedState } from "../../../components/asked-state.tsx";
import { saveFile } from "../../../components/download.tsx";
import { Empty } from "../../../components/empty.tsx";
import { FilterBar, TextFilter } from "../../../components/filter-bar.tsx";
import { loadLater } from "../../../components/load-later.tsx";
import { Page } from "../../../components/page.tsx";
import { Pager } from "../../../components/pager.tsx";
import { useUrlState } from "../../../components/url-state.ts";
import { useWords } from "../../../i18n/language.ts";
import { PRICE_WORDS } from "../../../i18n/prices.ts";
import { SHELL } from "../../../i18n/shell.ts";
import type { PriceSubject } from "./price-form.tsx";
import { PriceList, type PriceRow } from "./price-list.tsx";
import type { Shown } from "./price-over.tsx";
import { entryEdits, type PriceEntry, type PricingMap, pricingFile, pricingOf, rebased } from "./pricing.ts";

// Both are needed after a first change, and would make the page too large.
const PriceDraft = loadLater(() => import("./price-draft.tsx"));
const PriceOver = loadLater(() => import("./price-over.tsx"));

const SIZE = 50;
const DEFAULTS = { q: "", page: "1" };
const NEW_PRICE: PriceSubject = { model: null, group: null, list: null };

const subjectOf = ({ model, group, list }: PriceRow): PriceSubject => ({
  ...{ model, group },
  list: list as PriceEntry | null,
});

/** The page of prices. */
export default function Prices() {
  const { page } = useWords(SHELL);
  const asked = useConfiguration();
  if (asked.data !== undefined) return <PricePage newest={asked.data} />;
  return (
    <Page title={page.prices}>
      <AskedState asked={asked} rows={12}>
        {() => null}
      </AskedState>
    </Page>
  );
}

function PricePage({ newest }: { readonly newest: Configuration }) {
  const { page } = useWords(SHELL);
  const words = useWords(PRICE_WORDS);
  const [shown, setShown] = useState<Shown | null>(null);
  const [draft, setDraft] = useState<PricingMap | null>(null);
  const basis = useBasis(newest, draft !== null);
  const former = pricingOf(basis.former.settings.PRICING);
  const present = draft ?? former;
  const close = () => setShown(null);
  const take = (pricing: PricingMap) => {
    setDraft(entryEdits(former, pricing).length === 0 ? null : pricing);
    close();
  };
  const takeNewer = () => {
    const saved = pricingOf(newest.settings.PRICING);
    const moved = rebased(former, present, saved);
    setDraft(entryEdits(saved, moved).length === 0 ? null : moved);
    basis.takeNewer();
  };
  return (
    <Page
      title={page.prices}
      about={words.about}
      actions={
        <>
          <Button variant="default" onClick={() => exportPrices(present)}>
            {words.exporting}
          </Button>
          <Button variant="default" onClick={() => setShown("import")}>
            {words.importing}
          </Button>
          <Button onClick={() => setShown(NEW_PRICE)}>{words.add}</Button>
        </>
      }
    >
      {draft !== null && (
        <PriceDraft
          basis={{ ...basis, takeNewer }}
          former={former}
          draft={draft}
          onDone={() => setDraft(null)}
        />
      )}
      <FoundPrices draft={draft} onOpen={(row) => setShown(subjectOf(row))} />
      {shown !== null && <PriceOver shown={shown} present={present} onPrices={take} onClose={close} />}
    </Page>
  );
}

const exportPrices = (pricing: PricingMap): void =>
  saveFile("prices.json", new Blob([pricingFile(pricing)], { type: "application/json" }));

/** The rows whose names contain what is searched. */
function FoundPrices(props: { readonly draft: PricingMap | null; readonly onOpen: (row: PriceRow) => void }) {
  const { draft, onOpen } = props;
  const words = useWords(PRICE_WORDS);
  const [{ q, page }, change] = useUrlState<keyof typeof DEFAULTS>(DEFAULTS);
  const asked = useGet("/x-prices", { q, page, size: SIZE });
  return (
    <Stack gap="xs">
      <FilterBar onClear={q === "" ? null : () => change({ q: "" })}>
        <TextFilter
          label={words.search}
          type="search"
          value={q}
          width={240}
          onChange={(text) => change({ q: text })}
        />
      </FilterBar>
      <AskedState asked={asked} rows={12}>
        {(list) => (
          <>
            {list.prices.length === 0 ? (
              <Empty text={words.nothingFound} />
            ) : (
              <PriceList rows={list.prices} draft={draft} onOpen={onOpen} />
            )}
            <Pager list={list} shown={list.prices.length} onPage={(to) => change({ page: String(to) })} />
          </>
        )}
      </AskedState>
    </Stack>
  );
}
