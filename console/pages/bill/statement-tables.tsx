// The tables of a statement: by model, by day, and by account below, each with the service's total.

import { compareExact, countText, plainUsd } from "../../api/amount.ts";
import { linesAddress } from "../../api/ledger-filter.ts";
import { Amount } from "../../components/amount.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Empty } from "../../components/empty.tsx";
import { Section } from "../../components/section.tsx";
import { BILL } from "../../i18n/bill.ts";
import { useWords } from "../../i18n/language.ts";
import type { BilledAccount, SubtreeBill } from "./branches.ts";

type Used = SubtreeBill["usage_summary"][string];
type Day = SubtreeBill["daily_costs"][number];

const figure = { isFigure: true };

/** What each model cost. */
export function ModelsTable({ bill }: { readonly bill: SubtreeBill }) {
  const words = useWords(BILL);
  const rows = Object.entries(bill.usage_summary).sort(([, one], [, other]) =>
    compareExact(other.cost, one.cost),
  );
  const tokens = (title: string, of: (used: Used) => number): Column<(typeof rows)[number]> => ({
    ...{ key: title, title, ...figure, isMinor: true },
    cell: ([, used]) => countText(of(used)),
  });
  const columns: readonly Column<(typeof rows)[number]>[] = [
    { key: "model", title: words.model, cell: ([model]) => model },
    { key: "requests", title: words.requests, ...figure, cell: ([, used]) => countText(used.requests) },
    tokens(words.input, ({ prompt }) => prompt),
    tokens(words.cached, ({ cached }) => cached),
    tokens(words.output, ({ completion }) => completion),
    { key: "cost", title: words.costUsd, ...figure, cell: ([, { cost }]) => <Amount value={cost} /> },
  ];
  const { token_summary: sums } = bill;
  return (
    <Section title={words.byModel}>
      {rows.length === 0 ? (
        <Empty text={words.nothing} />
      ) : (
        <DataTable
          caption={words.byModel}
          columns={columns}
          rows={rows}
          keyOf={([model]) => model}
          footer={[
            words.total,
            countText(bill.total_requests),
            countText(bill.total_prompt),
            countText(sums.input_cached_total),
            countText(bill.total_completion),
            <Amount key="cost" value={bill.total_credit_used} />,
          ]}
        />
      )}
    </Section>
  );
}

/** What each day cost; a day leads to its ledger lines. */
export function DaysTable({ bill, id }: { readonly bill: SubtreeBill; readonly id: number }) {
  const words = useWords(BILL);
  const columns: readonly Column<Day>[] = [
    { key: "day", title: words.day, cell: ({ date }) => date },
    { key: "requests", title: words.requests, ...figure, cell: (day) => countText(day.total_requests) },
    {
      ...{ key: "in", title: words.input, ...figure, isMinor: true },
      cell: (day) => countText(day.total_prompt),
    },
    {
      ...{ key: "out", title: words.output, ...figure, isMinor: true },
      cell: (day) => countText(day.total_completion),
    },
    {
      ...{ key: "cost", title: words.costUsd, ...figure },
      cell: ({ date, total_credit_used: cost }) => (
        <Amount
          value={cost}
          to={linesAddress(`/accounts/${id}`, { type: "charge", from: date, to: date }, plainUsd(cost))}
        />
      ),
    },
  ];
  const days = bill.daily_costs.filter((day) => day.total_requests > 0 || day.total_credit_used !== 0n);
  if (days.length === 0) return null;
  return (
    <Section title={words.byDay}>
      <DataTable
        caption={words.byDay}
        columns={columns}
        rows={days}
        keyOf={({ date }) => date}
        footer={[
          words.total,
          countText(bill.total_requests),
          countText(bill.total_prompt),
          countText(bill.total_completion),
          <Amount key="cost" value={bill.total_credit_used} />,
        ]}
      />
    </Section>
  );
}

/** What each account below cost. */
export function AccountsTable({ bill }: { readonly bill: SubtreeBill }) {
  const words = useWords(BILL);
  const columns: readonly Column<BilledAccount>[] = [
    {
      ...{ key: "account", title: words.account },
      cell: ({ name }) => (
        <span className="cut" title={name}>
          {name}
        </span>
      ),
    },
    { key: "id", title: words.number, ...figure, isMinor: true, cell: ({ id }) => id },
    { key: "requests", title: words.requests, ...figure, cell: (row) => countText(row.total_requests) },
    {
      ...{ key: "cost", title: words.costUsd, ...figure },
      cell: ({ total_credit_used }) => <Amount value={total_credit_used} />,
    },
  ];
  return (
    <Section title={words.belowIt}>
      <DataTable
        caption={words.belowIt}
        columns={columns}
        rows={bill.usage_users}
        keyOf={({ id }) => id}
        footer={[
          words.total,
          "",
          countText(bill.total_requests),
          <Amount key="cost" value={bill.total_credit_used} />,
        ]}
      />
    </Section>
  );
}
