// The lines of a ledger with the balance after each, under their filters. A charge opens the equation behind it; every other line
// opens what is known of it.

import { Stack } from "@mantine/core";
import { useState } from "react";
import { useAccountGet } from "../../api/account-view.ts";
import { isFiltered, type LedgerFilter, ledgerFilterOf } from "../../api/ledger-filter.ts";
import { isAllowed } from "../../api/role.ts";
import { Amount } from "../../components/amount.tsx";
import { AskedState } from "../../components/asked-state.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Sheet } from "../../components/dialog.tsx";
import { Empty } from "../../components/empty.tsx";
import { LedgerFilters } from "../../components/ledger-filters.tsx";
import { Pager } from "../../components/pager.tsx";
import { Section } from "../../components/section.tsx";
import { SumOfLines } from "../../components/sum-of-lines.tsx";
import { Time } from "../../components/time.tsx";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { LEDGER } from "../../i18n/ledger.ts";
import { LINES } from "../../i18n/lines.ts";
import { AboutLine, type Line, LineFacts } from "./line.tsx";
import type { LedgerView } from "./view.ts";

const ROWS = 50;

/** Whether a line is a charge for a request, which has an equation. */
const isCharge = ({ type }: Line): boolean => type === "charge" || type === "late_charge";

/** The lines; `onOpen` shows the request of one. */
export function LedgerLines(props: {
  readonly view: LedgerView;
  readonly onFilter: (changes: Partial<LedgerFilter>) => void;
  readonly onPage: (page: number) => void;
  readonly onOpen: (request: string) => void;
}) {
  const { view, onFilter, onPage, onOpen } = props;
  const words = useWords(LEDGER);
  const lineWords = useWords(LINES);
  const [fact, setFact] = useState<Line | null>(null);
  const filter = ledgerFilterOf(view);
  const asked = useAccountGet("ledger", { ...filter, page: view.page, size: ROWS });
  return (
    <Section title={words.lines}>
      <Stack gap="xs">
        <LedgerFilters
          filter={filter}
          change={onFilter}
          listsKeys={isAllowed(useStatus(), "manage_keys")}
          hasTypes
        />
        {isFiltered(filter) && <SumOfLines filter={filter} proves={view.proves} />}
        <AskedState asked={asked} rows={12}>
          {({ lines, ...list }) => (
            <>
              {lines.length === 0 ? (
                <Empty text={isFiltered(filter) ? words.noneMatch : words.noLines} />
              ) : (
                <DataTable
                  caption={words.lines}
                  columns={columnsOf(words, lineWords)}
                  rows={lines}
                  keyOf={({ id, type }) => `${type} ${id}`}
                  onOpen={(line) => (isCharge(line) ? onOpen(line.id) : setFact(line))}
                />
              )}
              <Pager list={list} shown={lines.length} onPage={onPage} />
            </>
          )}
        </AskedState>
      </Stack>
      {fact !== null && (
        <Sheet onClose={() => setFact(null)} title={lineWords.types[fact.type]}>
          <LineFacts line={fact} />
        </Sheet>
      )}
    </Section>
  );
}

const columnsOf = (
  words: (typeof LEDGER)["en"],
  { type, types }: (typeof LINES)["en"],
): readonly Column<Line>[] => [
  { key: "at", title: words.at, cell: (line) => <Time at={line.created_at} /> },
  { key: "type", title: type, cell: (line) => types[line.type] },
  { key: "about", title: words.about, isMinor: true, cell: (line) => <AboutLine line={line} /> },
  {
    ...{ key: "amount", title: words.amount, isFigure: true },
    cell: ({ amount }) => <Amount value={amount} isSigned />,
  },
  {
    ...{ key: "balance", title: words.balanceAfter, isFigure: true },
    cell: ({ balance_after: balance }) => <Amount value={balance} />,
  },
];
