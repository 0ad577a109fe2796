// Pool: an Owner's provider keys by Level, as they are at this moment.

import { Button } from "@mantine/core";
import { Link } from "wouter";
import { countText } from "../../../api/amount.ts";
import { useGet } from "../../../api/queries.ts";
import { useWrite } from "../../../api/writes.ts";
import { AskedState } from "../../../components/asked-state.tsx";
import { Empty } from "../../../components/empty.tsx";
import { FailureNotice } from "../../../components/failure-notice.tsx";
import { ChoiceFilter, FilterBar, TextFilter } from "../../../components/filter-bar.tsx";
import { Page } from "../../../components/page.tsx";
import { Pager } from "../../../components/pager.tsx";
import { useUrlState } from "../../../components/url-state.ts";
import { useWords } from "../../../i18n/language.ts";
import { POOL } from "../../../i18n/pool.ts";
import { SHELL } from "../../../i18n/shell.ts";
import { LevelColumn } from "./level-column.tsx";
import { isFound, isUsable, type KeyRow, levelsOf } from "./levels.ts";
import { KEYS_MAX, usePoolKeys } from "./pool-keys.ts";

/** How often events are asked for. */
const EVENTS_MS = 10_000;
const STATES: readonly KeyRow["State"][] = ["normal", "resting", "sleeping", "waking", "disabled"];
const FILTERS = { state: "", q: "", page: "" };

/** The pool. */
export default function Pool() {
  const { page: titles } = useWords(SHELL);
  const words = useWords(POOL);
  const [filters, change] = useUrlState(FILTERS);
  const page = Number(filters.page || 1);
  const keys = usePoolKeys(page);
  const total = keys.data?.total ?? 0;
  return (
    <Page
      title={titles.pool}
      about={keys.data && <Summary keys={keys.data.rows.keys} total={keys.data.total} />}
      actions={
        <>
          {keys.data?.rows.keys.some(({ State }) => State === "sleeping") && <WakeAll />}
          <Button component={Link} href="/admin/pool/new">
            {words.add}
          </Button>
        </>
      }
    >
      {total > 0 && (
        <FilterBar onClear={filters.state || filters.q ? () => change({ state: "", q: "" }) : null}>
          <TextFilter label={words.find} value={filters.q} onChange={(q) => change({ q })} type="search" />
          <ChoiceFilter
            label={words.state}
            value={filters.state}
            onChange={(state) => change({ state })}
            choices={STATES.map((value) => ({ value, label: words.states[value] ?? value }))}
          />
        </FilterBar>
      )}
      <AskedState asked={keys} rows={8}>
        {({ rows }) => (
          <>
            {total === 0 ? <Empty text={words.empty} /> : <Levels keys={rows.keys} filters={filters} />}
            <Pager
              list={{ page, size: KEYS_MAX, total, has_more: page * KEYS_MAX < total }}
              shown={rows.keys.length}
              onPage={(to) => change({ page: String(to) })}
            />
          </>
        )}
      </AskedState>
    </Page>
  );
}

function Levels(props: { readonly keys: readonly KeyRow[]; readonly filters: { state: string; q: string } }) {
  const { keys, filters } = props;
  const words = useWords(POOL);
  const conf = useGet("/x-conf");
  const events = useGet("/x-events", { page: 1, size: 50 }, { everyMs: EVENTS_MS });
  const isFiltered = filters.state !== "" || filters.q !== "";
  const passes = (row: KeyRow) =>
    (filters.state === "" || row.State === filters.state) && isFound(row, filters.q);
  return (
    <AskedState asked={conf}>
      {(known) => {
        const levels = levelsOf(keys, known, events.data?.events, Date.now())
          .map((level) => ({ level, found: level.keys.filter(passes) }))
          .filter(({ found }) => !isFiltered || found.length > 0);
        if (levels.length === 0) return <Empty text={words.noMatch} />;
        return (
          <div className="levels">
            {levels.map(({ level, found }) => (
              <LevelColumn key={level.level} level={level} keys={found} />
            ))}
          </div>
        );
      }}
    </AskedState>
  );
}

/** One line about the whole pool. */
function Summary({ keys, total }: { readonly keys: readonly KeyRow[]; readonly total: number }) {
  const words = useWords(POOL);
  const inFlight = keys.reduce((sum, { InFlight }) => sum + InFlight, 0);
  const out = keys.filter((key) => !isUsable(key)).length;
  const levels = new Set(keys.map(({ Level }) => Level)).size;
  const parts = [
    words.about(countText(total), countText(levels)),
    ...(out > 0 ? [words.outOfUse(countText(out))] : []),
    words.inUse(countText(inFlight)),
  ];
  return <>{parts.join(" · ")}</>;
}

/** Ends every sleep at once. Keys that still fail go back to sleep. */
function WakeAll() {
  const words = useWords(POOL);
  const writing = useWrite();
  const wake = () => void writing.send({ method: "POST", path: "/x-conf", body: { DelKeys: true } });
  return (
    <>
      <Button variant="default" onClick={wake} loading={writing.isRunning}>
        {words.wakeAll}
      </Button>
      {writing.failure !== null && (
        <FailureNotice failure={writing.failure} repeat={{ run: wake, isSafe: true }} />
      )}
    </>
  );
}
