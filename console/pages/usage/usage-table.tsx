// The table of usage: a row for each group with its tokens by kind, and the service's totals under them. Every cost leads to its
// ledger lines, where the two are compared.

import { useAccountView } from "../../api/account-view.ts";
import { countText, percentOf, plainUsd } from "../../api/amount.ts";
import { linesAddress } from "../../api/ledger-filter.ts";
import { Amount } from "../../components/amount.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Section } from "../../components/section.tsx";
import { useWords } from "../../i18n/language.ts";
import { USAGE } from "../../i18n/usage.ts";
import type { Bill } from "./bill.ts";
import type { Period } from "./period.ts";
import { type Grouping, linesOfBill, type UsageRow, usageRows } from "./usage-rows.ts";

type Words = (typeof USAGE)["en"];

/** What a grouping is called. */
export const groupingName = (grouping: Grouping, { days }: Period, { groups }: Words): string => {
  if (grouping.startsWith("tag:")) return groups.tag;
  if (grouping === "time") return days === null ? groups.hour : groups.day;
  return groups[grouping as "model" | "api_key"];
};

/** The rows of a bill, and its totals. */
export function UsageTable(props: {
  readonly bill: Bill;
  readonly period: Period;
  readonly grouping: Grouping;
}) {
  const { bill, period, grouping } = props;
  const words = useWords(USAGE);
  const { base } = useAccountView();
  const rows = usageRows(bill, period, grouping);
  const name = groupingName(grouping, period, words);
  return (
    <Section title={words.groupedBy(name)}>
      <DataTable
        caption={words.groupedBy(name)}
        columns={columnsOf(bill, name, words, base)}
        rows={rows}
        keyOf={({ key }) => key}
        footer={footerOf({ bill, period, rows, words, base })}
      />
    </Section>
  );
}

/** A column of counts of tokens. */
const tokens = (key: string, title: string, count: (row: UsageRow) => number): Column<UsageRow> => ({
  ...{ key, title, isFigure: true, isMinor: true },
  cell: (row) => countText(count(row)),
});

const columnsOf = (bill: Bill, name: string, words: Words, base: string): readonly Column<UsageRow>[] => [
  { key: "name", title: name, cell: (row) => <Name row={row} words={words} /> },
  { key: "requests", title: words.requests, isFigure: true, cell: (row) => countText(row.requests) },
  tokens("input", words.input, (row) => row.prompt - row.cached - row.cache_write),
  tokens("cached", words.cached, (row) => row.cached),
  tokens("write", words.cacheWrite, (row) => row.cache_write),
  tokens("output", words.output, (row) => row.completion - row.reasoning),
  tokens("reasoning", words.reasoning, (row) => row.reasoning),
  {
    ...{ key: "share", title: words.share, isFigure: true, isMinor: true },
    cell: (row) => percentOf(row.cost, bill.total_credit_used) ?? "",
  },
  {
    ...{ key: "cost", title: words.cost, isFigure: true },
    cell: ({ cost, lines }) => (
      <Amount value={cost} {...(lines && { to: linesAddress(base, lines, plainUsd(cost)) })} />
    ),
  },
];

/** The totals of the service, in the order of the columns. A bill states no total of cache writes, which are added up. */
function footerOf(given: {
  readonly bill: Bill;
  readonly period: Period;
  readonly rows: readonly UsageRow[];
  readonly words: Words;
  readonly base: string;
}) {
  const { bill, period, rows, words, base } = given;
  const { token_summary: summary, total_credit_used: total } = bill;
  const cacheWrite = rows.reduce((sum, row) => sum + row.cache_write, 0);
  return [
    words.total,
    countText(bill.total_requests),
    countText(summary.input_non_cached_total - cacheWrite),
    countText(summary.input_cached_total),
    countText(cacheWrite),
    countText(summary.output_total - bill.total_reasoning),
    countText(bill.total_reasoning),
    percentOf(total, total) ?? "",
    <Amount key="cost" value={total} to={linesAddress(base, linesOfBill(bill, period), plainUsd(total))} />,
  ];
}

/** The name of a group: its own, or what its id stands for. Names of any length are cut. */
function Name({ row: { key, name }, words }: { readonly row: UsageRow; readonly words: Words }) {
  const special = { "(none)": words.withoutTag, "(other)": words.others, "(all)": words.total }[key];
  const shown = special ?? (name === "" ? key : name);
  return (
    <span className="cut" title={shown}>
      {shown}
    </span>
  );
}
