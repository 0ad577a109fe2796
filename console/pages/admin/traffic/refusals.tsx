// What is refused to one account, by code, out of its latest requests, which the service keeps in memory.

import { Anchor, Text } from "@mantine/core";
import { Link } from "wouter";
import { countText } from "../../../api/amount.ts";
import { useGet } from "../../../api/queries.ts";
import { AskedState } from "../../../components/asked-state.tsx";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Empty } from "../../../components/empty.tsx";
import { Advice } from "../../../components/failure-notice.tsx";
import { FilterBar, TextFilter } from "../../../components/filter-bar.tsx";
import { Section } from "../../../components/section.tsx";
import { Time, utcText } from "../../../components/time.tsx";
import { useStatus } from "../../../frame/status.ts";
import { useWords } from "../../../i18n/language.ts";
import { TRAFFIC } from "../../../i18n/traffic.ts";
import { isOwnAccount } from "../own-account.ts";
import { type RefusalsOfCode, refusalsOf } from "./refusal-codes.ts";
import type { TrafficProps } from "./traffic-view.ts";

/** All that the service keeps of an account. */
const ROWS = 200;

/** The section with its choice of an account. */
export function Refusals({ view, change }: TrafficProps) {
  const words = useWords(TRAFFIC);
  const { user } = view;
  return (
    <Section title={words.refusals}>
      <FilterBar onClear={user === "" ? null : () => change({ user: "" })}>
        <TextFilter
          label={words.account}
          placeholder={words.accountHint}
          value={user}
          onChange={(text) => change({ user: text })}
          type="search"
          width={280}
        />
      </FilterBar>
      {user === "" ? <Empty text={words.chooseAccount} /> : <RefusalsOf user={user} />}
    </Section>
  );
}

function RefusalsOf({ user }: { readonly user: string }) {
  const words = useWords(TRAFFIC);
  const isOwn = isOwnAccount(useStatus(), user);
  const asked = useGet(isOwn ? "/dashboard/requests" : "/x-requests", {
    ...(isOwn ? {} : { user }),
    size: ROWS,
  });
  return (
    <AskedState asked={asked} rows={4}>
      {({ requests, since }) => {
        const rows = refusalsOf(requests);
        return (
          <>
            <Text size="xs" c="dimmed" my="xs">
              {words.ofLatest(countText(requests.length), utcText(since))}
            </Text>
            {rows.length === 0 ? (
              <Empty text={words.noRefusals} />
            ) : (
              <div className="wrapped-cells">
                <DataTable
                  caption={words.refusals}
                  columns={columnsOf(words, baseOf(user, isOwn))}
                  rows={rows}
                  keyOf={({ code }) => code}
                />
              </div>
            )}
          </>
        );
      }}
    </AskedState>
  );
}

/** Where the account's own requests are shown; null where its id is not known. */
const baseOf = (user: string, isOwn: boolean): string | null =>
  isOwn ? "/requests" : /^\d+$/.test(user) ? `/accounts/${user}/requests` : null;

const columnsOf = (words: (typeof TRAFFIC)["en"], base: string | null): readonly Column<RefusalsOfCode>[] => [
  {
    key: "code",
    title: words.code,
    cell: ({ code, status }) => (
      <>
        <Text size="sm" fw={600}>
          {status ?? words.noAnswer} {code}
        </Text>
        <Advice code={code} />
      </>
    ),
  },
  { key: "count", title: words.count, isFigure: true, cell: ({ count }) => countText(count) },
  {
    key: "last",
    title: words.last,
    cell: ({ lastAt, lastId }) =>
      base === null ? (
        <Time at={lastAt} />
      ) : (
        <Anchor component={Link} href={`${base}?view=recent&open=${encodeURIComponent(lastId)}`} size="sm">
          <Time at={lastAt} />
        </Anchor>
      ),
  },
  {
    ...{ key: "models", title: words.models, isMinor: true },
    cell: ({ models }) => <span className="cut">{models.join(", ")}</span>,
  },
];
