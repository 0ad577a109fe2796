// The accounts directly below one, each with all that is below it: own cost, what is below, both together, and its share. An account
// that has subaccounts leads to its own level.

import { Anchor, Text } from "@mantine/core";
import { type UseQueryResult, useQueries } from "@tanstack/react-query";
import { Link } from "wouter";
import { type Account, dnaBelow } from "../../api/accounts.ts";
import { countText, type Nanos, plainUsd } from "../../api/amount.ts";
import { callApi } from "../../api/call.ts";
import type { CallFailed, Failure } from "../../api/failure.ts";
import { linesAddress } from "../../api/ledger-filter.ts";
import { useGetList } from "../../api/queries.ts";
import { Amount } from "../../components/amount.tsx";
import { AskedState } from "../../components/asked-state.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Empty } from "../../components/empty.tsx";
import { FailureNotice } from "../../components/failure-notice.tsx";
import { Pager } from "../../components/pager.tsx";
import { BILL } from "../../i18n/bill.ts";
import { useWords } from "../../i18n/language.ts";
import {
  type BillDays,
  type BillView,
  type ChangeBill,
  levelAddress,
  statementAddress,
} from "./bill-view.ts";
import { type Branch, branchesOf, restOf, type SubtreeBill } from "./branches.ts";
import { Share } from "./share.tsx";

/** So many branches a page; each that has subaccounts is a question. */
const PAGE_SIZE = 25;

interface Level {
  readonly bill: SubtreeBill;
  readonly days: BillDays;
  readonly view: BillView;
  readonly change: ChangeBill;
}

/** The branches below `top`; below the signed-in account where it is null. */
export function BranchRanking(props: Level & { readonly top: Account | null }) {
  const { top, view } = props;
  const words = useWords(BILL);
  const page = Math.max(1, Number(view.page) || 1);
  const asked = useGetList("/x-users", {
    ...{ parent: top?.ID, sort: "month_cost", order: "desc", with: "children", page, size: PAGE_SIZE },
  });
  return (
    <AskedState asked={asked} rows={8}>
      {({ rows, total }) =>
        total === 0 && props.bill.total_requests === 0 ? (
          <Empty text={words.nobody} />
        ) : (
          <BranchTable {...props} accounts={rows} total={total} page={page} />
        )
      }
    </AskedState>
  );
}

function BranchTable(
  props: Level & { readonly accounts: readonly Account[]; readonly total: number; readonly page: number },
) {
  const { bill, days, view, change, accounts, total, page } = props;
  const words = useWords(BILL);
  const below = useBillsBelow(accounts, days);
  const branches = branchesOf(accounts, bill.usage_users, below.bills);
  const isWhole = total <= PAGE_SIZE;
  const rest = isWhole ? restOf(bill.total_credit_used, branches) : null;
  const list = { page, size: PAGE_SIZE, total, has_more: page * PAGE_SIZE < total };
  return (
    <div>
      {below.failure !== null && <FailureNotice failure={below.failure} onRetry={below.retry} />}
      <DataTable
        caption={words.byBranch}
        columns={columnsOf(words, props)}
        rows={branches}
        keyOf={({ account }) => account.ID}
        footer={[
          words.total,
          "",
          "",
          countText(bill.total_requests),
          "",
          <Total key="total" bill={bill} />,
          "",
        ]}
      />
      {rest !== null && rest !== 0n && (
        <Text size="sm" component="div" mt={4}>
          {words.rest}{" "}
          <Amount value={rest} to={levelAddress(view, view.of === "" ? null : Number(view.of), "account")} />
        </Text>
      )}
      {!isWhole && (
        <Text size="xs" c="dimmed" mt={4}>
          {words.pageOnly}
        </Text>
      )}
      <Pager list={list} shown={branches.length} onPage={(next) => change({ page: String(next) })} />
    </div>
  );
}

const Total = ({ bill }: { readonly bill: SubtreeBill }) => <Amount value={bill.total_credit_used} />;

function columnsOf(words: (typeof BILL)["en"], { bill, days, view }: Level): readonly Column<Branch>[] {
  const figure = { isFigure: true };
  const times = { type: "charge", from: days.from, to: days.to };
  const linesOf = (id: number, cost: Nanos) => linesAddress(`/accounts/${id}`, times, plainUsd(cost));
  return [
    {
      key: "name",
      title: words.account,
      cell: ({ account }) => <BranchName account={account} view={view} />,
    },
    {
      ...{ key: "own", title: words.own, ...figure, isMinor: true },
      cell: ({ account, own }) => <Amount value={own} to={linesOf(account.ID, own)} />,
    },
    {
      ...{ key: "below", title: words.below, ...figure, isMinor: true },
      cell: ({ account, below }) =>
        below === null ? (
          "…"
        ) : (account.children ?? 0) === 0 && below === 0n ? (
          "–"
        ) : (
          <Amount value={below} to={levelAddress(view, account.ID)} />
        ),
    },
    {
      ...{ key: "requests", title: words.requests, ...figure, isMinor: true },
      cell: ({ requests }) => (requests === null ? "…" : countText(requests)),
    },
    {
      ...{ key: "share", title: words.share, ...figure },
      cell: ({ together }) => <Share part={together} whole={bill.total_credit_used} />,
    },
    {
      ...{ key: "together", title: words.together, ...figure },
      cell: ({ together }) => (together === null ? "…" : <Amount value={together} />),
    },
    {
      ...{ key: "statement", title: "" },
      cell: ({ account }) => (
        <Anchor component={Link} href={statementAddress(view, account.ID)} size="sm" className="no-print">
          {words.statement}
        </Anchor>
      ),
    },
  ];
}

function BranchName({ account, view }: { readonly account: Account; readonly view: BillView }) {
  const { ID, Name, children = 0 } = account;
  const words = useWords(BILL);
  return (
    <>
      <Anchor component={Link} href={`/accounts/${ID}`} size="sm" className="cut" title={Name}>
        {Name}
      </Anchor>
      {children > 0 && (
        <Anchor component={Link} href={levelAddress(view, ID)} size="xs" ml={6} className="no-print">
          {words.open(countText(children))}
        </Anchor>
      )}
    </>
  );
}

/** The bills below accounts by their ids, and the first failure to ask for one; `retry` asks again for all that failed. */
interface BillsBelow {
  readonly bills: ReadonlyMap<number, SubtreeBill | undefined>;
  readonly failure: Failure | null;
  readonly retry: () => void;
}

/** Asks for the bills below those accounts that have subaccounts. */
function useBillsBelow(accounts: readonly Account[], { query }: BillDays): BillsBelow {
  const parents = accounts.filter(({ children = 0 }) => children > 0);
  const asked = useQueries({
    queries: parents.map(({ DNA, ID }) => {
      const whole = { ...query, user: dnaBelow(DNA, ID) };
      return {
        queryKey: ["/x-bill", whole],
        queryFn: async ({ signal }: { readonly signal: AbortSignal }) =>
          (await callApi({ method: "GET", path: "/x-bill", query: whole, signal })) as SubtreeBill,
      };
    }),
  }) as readonly UseQueryResult<SubtreeBill, CallFailed>[];
  const failed = asked.filter(({ data, error }) => data === undefined && error !== null);
  return {
    bills: new Map(parents.map(({ ID }, at) => [ID, asked[at]?.data])),
    failure: failed[0]?.error?.failure ?? null,
    retry: () => failed.forEach(({ refetch }) => void refetch()),
  };
}
