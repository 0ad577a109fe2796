// All accounts of a bill by what they cost, in the order of the service, page by page.

import { Anchor } from "@mantine/core";
import { Link } from "wouter";
import { compareExact, countText, plainUsd } from "../../api/amount.ts";
import { linesAddress } from "../../api/ledger-filter.ts";
import { Amount } from "../../components/amount.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Empty } from "../../components/empty.tsx";
import { Pager } from "../../components/pager.tsx";
import { BILL } from "../../i18n/bill.ts";
import { useWords } from "../../i18n/language.ts";
import { type BillDays, type BillView, type ChangeBill, statementAddress } from "./bill-view.ts";
import type { BilledAccount, SubtreeBill } from "./branches.ts";
import { Share } from "./share.tsx";

const PAGE_SIZE = 50;

/** A page of the ranking. */
export function AccountRanking(props: {
  readonly bill: SubtreeBill;
  readonly days: BillDays;
  readonly view: BillView;
  readonly change: ChangeBill;
}) {
  const { bill, days, view, change } = props;
  const words = useWords(BILL);
  const page = Math.max(1, Number(view.page) || 1);
  const users = bill.usage_users.toSorted((one, other) =>
    compareExact(other.total_credit_used, one.total_credit_used),
  );
  if (users.length === 0) return <Empty text={words.empty} />;
  const from = (page - 1) * PAGE_SIZE;
  const rows = users.slice(from, from + PAGE_SIZE);
  const total = bill.total_credit_used;
  const list = { page, size: PAGE_SIZE, total: users.length, has_more: from + PAGE_SIZE < users.length };
  const figure = { isFigure: true };
  const columns: readonly Column<BilledAccount>[] = [
    { key: "rank", title: "#", ...figure, cell: (row) => countText(users.indexOf(row) + 1) },
    { key: "name", title: words.account, cell: (row) => <NameLink row={row} /> },
    {
      ...{ key: "model", title: words.topModel, isMinor: true },
      cell: ({ top_cost_model: model }) => <span className="cut short">{model}</span>,
    },
    {
      ...{ key: "requests", title: words.requests, ...figure, isMinor: true },
      cell: (row) => countText(row.total_requests),
    },
    { key: "in", title: words.input, ...figure, isMinor: true, cell: (row) => countText(row.total_prompt) },
    {
      ...{ key: "out", title: words.output, ...figure, isMinor: true },
      cell: (row) => countText(row.total_completion),
    },
    {
      ...{ key: "share", title: words.share, ...figure },
      cell: (row) => <Share part={row.total_credit_used} whole={total} />,
    },
    {
      ...{ key: "cost", title: words.costUsd, ...figure },
      cell: ({ id, total_credit_used: cost }) => (
        <Amount
          value={cost}
          to={linesAddress(
            `/accounts/${id}`,
            { type: "charge", from: days.from, to: days.to },
            plainUsd(cost),
          )}
        />
      ),
    },
    {
      ...{ key: "statement", title: "" },
      cell: ({ id }) => (
        <Anchor component={Link} href={statementAddress(view, id)} size="sm" className="no-print">
          {words.statement}
        </Anchor>
      ),
    },
  ];
  return (
    <div>
      <DataTable
        caption={words.byAccount}
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        footer={[
          "",
          words.total,
          "",
          countText(bill.total_requests),
          ...tokens(bill),
          "",
          totalCell(bill),
          "",
        ]}
      />
      <Pager list={list} shown={rows.length} onPage={(next) => change({ page: String(next) })} />
    </div>
  );
}

const tokens = (bill: SubtreeBill): readonly string[] => [
  countText(bill.total_prompt),
  countText(bill.total_completion),
];

const totalCell = (bill: SubtreeBill) => <Amount key="total" value={bill.total_credit_used} />;

function NameLink({ row }: { readonly row: BilledAccount }) {
  const { id, name, alias, email } = row;
  const others = [alias, email].filter((one) => one !== "" && one !== name);
  return (
    <Anchor
      component={Link}
      href={`/accounts/${id}`}
      size="sm"
      className="cut"
      title={[name, ...others].join(" · ")}
    >
      {name}
    </Anchor>
  );
}
