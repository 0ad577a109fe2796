// Activity: the operation log about an account, those below it, and what it did itself. Filters, page and the open line are in the
// address.

import { Stack } from "@mantine/core";
import { useAccountGet, useAccountView } from "../../api/account-view.ts";
import type { LogLine } from "../../api/log-details.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { DataTable } from "../../components/data-table.tsx";
import { Empty } from "../../components/empty.tsx";
import { ChoiceFilter, FilterBar, TextFilter } from "../../components/filter-bar.tsx";
import { DayFilter } from "../../components/ledger-filters.tsx";
import { loadLater } from "../../components/load-later.tsx";
import { Page } from "../../components/page.tsx";
import { Pager } from "../../components/pager.tsx";
import { useUrlState } from "../../components/url-state.ts";
import { useStatus } from "../../frame/status.ts";
import { ACTIVITY } from "../../i18n/activity.ts";
import { useWords } from "../../i18n/language.ts";
import { LINES } from "../../i18n/lines.ts";
import { SHELL } from "../../i18n/shell.ts";
import { logColumns } from "./log-columns.tsx";

const LogSheet = loadLater(() => import("./log-sheet.tsx"));

const FILTERS = { action: "", target: "", status: "", from: "", to: "" };
const VIEW = { ...FILTERS, page: "1", open: "" };
const ROWS = 25;

type View = typeof VIEW;
type Change = (changes: Partial<View>) => void;

/** The page of the operation log. */
export default function Activity() {
  const { page } = useWords(SHELL);
  const words = useWords(ACTIVITY);
  const me = useStatus();
  const { user } = useAccountView();
  const [view, change] = useUrlState(VIEW);
  const { action, target, status, from, to } = view;
  const isFiltered = Object.keys(FILTERS).some((name) => view[name as keyof typeof FILTERS] !== "");
  const asked = useAccountGet("logs", {
    ...{ action, target_id: target, status, from, to, page: view.page, size: ROWS },
  });
  const open = (id: number) => change({ open: String(id), page: view.page });
  return (
    <Page title={page.activity} about={user === null ? words.about : words.aboutOne}>
      <Stack gap="xs">
        <Filters view={view} change={change} isFiltered={isFiltered} />
        <AskedState asked={asked} rows={12}>
          {({ logs: all, ...list }) => {
            // A target is asked for by its number alone, which keys and news have too.
            const logs = user === null ? all : all.filter(({ target_type: type }) => type === "user");
            return (
              <>
                {logs.length === 0 ? (
                  <Empty text={isFiltered ? words.noneFound : words.none} />
                ) : (
                  <div className="log-list">
                    <DataTable
                      caption={page.activity}
                      columns={logColumns(words, me)}
                      rows={logs}
                      keyOf={({ id }) => id}
                      onOpen={({ id }) => open(id)}
                    />
                  </div>
                )}
                <Pager list={list} shown={all.length} onPage={(next) => change({ page: String(next) })} />
                <OpenLine
                  line={logs.find(({ id }) => String(id) === view.open) ?? null}
                  view={view}
                  change={change}
                />
              </>
            );
          }}
        </AskedState>
      </Stack>
    </Page>
  );
}

function Filters(props: { readonly view: View; readonly change: Change; readonly isFiltered: boolean }) {
  const { view, change, isFiltered } = props;
  const words = useWords(ACTIVITY);
  const lines = useWords(LINES);
  const { user } = useAccountView();
  const field = (name: keyof typeof FILTERS, label: string) => ({
    ...{ label, value: view[name] },
    onChange: (value: string) => change({ [name]: value }),
  });
  return (
    <FilterBar onClear={isFiltered ? () => change(FILTERS) : null}>
      <ChoiceFilter
        {...field("action", words.action)}
        width={190}
        choices={(Object.keys(words.actions) as LogLine["action"][]).map((value) => ({
          value,
          label: words.actions[value],
        }))}
      />
      {user === null && <TextFilter {...field("target", words.targetId)} width={90} />}
      <ChoiceFilter
        {...field("status", words.status)}
        width={110}
        choices={(["success", "failed"] as const).map((value) => ({ value, label: words.statuses[value] }))}
      />
      <DayFilter {...field("from", lines.from)} />
      <DayFilter {...field("to", lines.to)} />
    </FilterBar>
  );
}

/** The open line, where it is on this page. */
function OpenLine(props: { readonly line: LogLine | null; readonly view: View; readonly change: Change }) {
  const { line, view, change } = props;
  const { user } = useAccountView();
  if (line === null) return null;
  return (
    <LogSheet
      line={line}
      onClose={() => change({ open: "", page: view.page })}
      onTarget={
        user === null && line.target_id !== null
          ? () => change({ ...FILTERS, target: String(line.target_id), open: "" })
          : null
      }
    />
  );
}
