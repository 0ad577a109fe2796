// The charged requests of an account: lines of its ledger, with filters.

import { useAccountGet, useAccountView } from "../../api/account-view.ts";
import { countText, NO_NANOS, subtractNanos } from "../../api/amount.ts";
import type { Answers } from "../../api/answers.ts";
import { isFiltered, ledgerFilterOf, linesAddress } from "../../api/ledger-filter.ts";
import { isAllowed } from "../../api/role.ts";
import { Amount } from "../../components/amount.tsx";
import { AskedState } from "../../components/asked-state.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Empty } from "../../components/empty.tsx";
import { LedgerFilters } from "../../components/ledger-filters.tsx";
import { Pager } from "../../components/pager.tsx";
import { SumOfLines } from "../../components/sum-of-lines.tsx";
import { Time } from "../../components/time.tsx";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { REQUESTS } from "../../i18n/requests.ts";
import { TagList } from "./tag-list.tsx";
import type { ChangeView, RequestsView } from "./view.ts";

type Line = Answers["/dashboard/ledger"]["lines"][number];

const ROWS = 50;

/** The list of charged requests with its filters; `onOpen` shows one. */
export function ChargedRequests(props: {
  readonly view: RequestsView;
  readonly change: ChangeView;
  readonly onOpen: (request: string) => void;
}) {
  const { view, change, onOpen } = props;
  const words = useWords(REQUESTS);
  const { base } = useAccountView();
  const filter = { ...ledgerFilterOf(view), type: "charge" };
  const asked = useAccountGet("ledger", { ...filter, page: view.page, size: ROWS });
  return (
    <>
      <LedgerFilters filter={view} change={change} listsKeys={isAllowed(useStatus(), "manage_keys")} />
      <AskedState asked={asked} rows={12}>
        {({ lines, ...list }) => (
          <>
            {lines.length === 0 ? (
              <Empty text={words.empty} />
            ) : (
              <DataTable
                caption={words.charged}
                columns={columnsOf(words, base)}
                rows={lines}
                keyOf={({ id }) => id}
                onOpen={({ id }) => onOpen(id)}
              />
            )}
            <Pager list={list} shown={lines.length} onPage={(page) => change({ page: String(page) })} />
            {lines.length > 0 && isFiltered({ ...filter, type: "" }) && <SumOfLines filter={filter} />}
          </>
        )}
      </AskedState>
    </>
  );
}

const columnsOf = (words: (typeof REQUESTS)["en"], base: string): readonly Column<Line>[] => [
  { key: "at", title: words.at, cell: (line) => <Time at={line.created_at} /> },
  {
    key: "model",
    title: words.model,
    cell: ({ model, answered_model }) => (
      <span title={answered_model && `${words.answered} ${answered_model}`}>{model}</span>
    ),
  },
  {
    key: "tokens",
    title: words.tokens,
    isFigure: true,
    cell: (line) => `${countText(line.prompt_tokens ?? 0)} → ${countText(line.completion_tokens ?? 0)}`,
  },
  {
    ...{ key: "ms", title: words.took, isFigure: true, isMinor: true },
    cell: ({ ms }) => (ms === undefined ? "" : words.milliseconds(countText(ms))),
  },
  {
    ...{ key: "attempts", title: words.attempts, isFigure: true, isMinor: true },
    cell: ({ attempts }) => (attempts === undefined ? "" : countText(attempts)),
  },
  { key: "key", title: words.key, isMinor: true, cell: ({ api_key_name }) => api_key_name },
  { key: "tags", title: words.tags, isMinor: true, cell: ({ tags }) => <TagList tags={tags ?? {}} /> },
  {
    ...{ key: "cost", title: words.cost, isFigure: true },
    cell: ({ id, amount }) => (
      <Amount value={subtractNanos(NO_NANOS, amount)} to={linesAddress(base, { request: id })} />
    ),
  },
];
