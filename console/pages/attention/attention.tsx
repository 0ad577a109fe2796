// Attention: the accounts below the signed-in one that need somebody, why, and the next step for each.

import { Anchor, Badge, Button, Text } from "@mantine/core";
import { Link, useLocation } from "wouter";
import { countText } from "../../api/amount.ts";
import { useGet, useGetList } from "../../api/queries.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Empty } from "../../components/empty.tsx";
import { Page } from "../../components/page.tsx";
import { Pager } from "../../components/pager.tsx";
import { useUrlState } from "../../components/url-state.ts";
import { ATTENTION } from "../../i18n/attention.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { type AttentionRow, figureText, REASON_COLORS, stepAddress } from "./next-step.ts";

const VIEW = { page: "1" };
const ROWS = 100;

/** The page of who needs somebody. */
export default function Attention() {
  const { page: names } = useWords(SHELL);
  const words = useWords(ATTENTION);
  const [, navigate] = useLocation();
  const [{ page }, change] = useUrlState(VIEW);
  const asked = useGet("/x-attention", { page, size: ROWS });
  return (
    <Page title={names.attention} about={words.about}>
      <AskedState asked={asked} rows={8}>
        {({ accounts, ...list }) =>
          list.total === 0 ? (
            <Nobody />
          ) : (
            <div>
              <Text size="xs" c="dimmed" role="status">
                {words.count(countText(list.total))}
              </Text>
              <DataTable
                caption={names.attention}
                columns={columnsOf(words)}
                rows={accounts}
                keyOf={({ id, reason }) => `${id} ${reason}`}
                onOpen={(row) => navigate(stepAddress(row))}
              />
              <Pager list={list} shown={accounts.length} onPage={(next) => change({ page: String(next) })} />
            </div>
          )
        }
      </AskedState>
    </Page>
  );
}

/** The list is empty: because all is well, or because there is no account yet. */
function Nobody() {
  const words = useWords(ATTENTION);
  const below = useGetList("/x-dna", { page: 1, size: 1 });
  if (below.data?.total !== 0) return <Empty text={words.none} />;
  return (
    <Empty text={words.noAccounts}>
      <Button component={Link} href="/accounts/new">
        {words.add}
      </Button>
    </Empty>
  );
}

const columnsOf = (words: (typeof ATTENTION)["en"]): readonly Column<AttentionRow>[] => [
  {
    key: "account",
    title: words.account,
    cell: ({ id, name, dna }) => (
      <Anchor component={Link} href={`/accounts/${id}`} size="sm" className="cut" title={`${name} · ${dna}`}>
        {name}
      </Anchor>
    ),
  },
  {
    key: "reason",
    title: words.reason,
    cell: (row) => (
      <span className="attention-why">
        <Badge tt="none" color={REASON_COLORS[row.reason]} data-reason={row.reason}>
          {words.reasons[row.reason]}
        </Badge>
        <span className="figure">{figureText(row, words)}</span>
      </span>
    ),
  },
  {
    key: "step",
    title: words.step,
    cell: (row) => (
      <Anchor component={Link} href={stepAddress(row)} size="sm">
        {words.steps[row.reason]}
      </Anchor>
    ),
  },
  {
    key: "write",
    title: "",
    isMinor: true,
    cell: ({ id }) => (
      <Anchor component={Link} href={`/compose?to=${id}`} size="sm">
        {words.write}
      </Anchor>
    ),
  },
];
