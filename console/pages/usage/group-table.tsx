// The groups of a bill with their tokens by kind, and the service's totals under them.

import { useAccountView } from "../../api/account-view.ts";
import { compareExact, countText, percentOf, plainUsd } from "../../api/amount.ts";
import { type LedgerFilter, linesAddress } from "../../api/ledger-filter.ts";
import { Amount } from "../../components/amount.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Section } from "../../components/section.tsx";
import { useWords } from "../../i18n/language.ts";
import { USAGE } from "../../i18n/usage.ts";
import type { Bill, UsageGroup } from "./bill.ts";
import type { Period } from "./period.ts";

/** The ids of groups that stand for several values or none: no filter selects their lines. */
const isSpecial = (id: UsageGroup["id"]): boolean => typeof id === "string" && /^\(.*\)$/.test(id);

/** Returns the filter of a group's charges in the period; null where no filter selects them. */
function filterOfGroup(
  group: string,
  { id }: UsageGroup,
  times: Partial<LedgerFilter>,
): Partial<LedgerFilter> | null {
  if (isSpecial(id)) return null;
  const charges = { type: "charge", ...times };
  if (group === "model") return { ...charges, model: String(id) };
  if (group === "api_key") return { ...charges, api_key: String(id) };
  return { ...charges, tag: `${group.slice("tag:".length)}:${id}` };
}

/** The table of groups, the dearest first. */
export function GroupTable(props: { readonly bill: Bill; readonly period: Period; readonly group: string }) {
  const { bill, period, group } = props;
  const words = useWords(USAGE);
  const { base } = useAccountView();
  const rows = (bill.groups ?? []).toSorted((one, other) => compareExact(other.cost, one.cost));
  const first = bill.hourly?.[0]?.hour;
  const times = period.days === null ? { from: first ?? "" } : { from: period.days.from, to: period.days.to };
  const { token_summary: tokens, total_credit_used: total } = bill;
  const cacheWrite = rows.reduce((sum, row) => sum + row.cache_write, 0);
  const name = words.groups[group.startsWith("tag:") ? "tag" : (group as "model" | "api_key")];
  const footer = [
    words.total,
    countText(bill.total_requests),
    countText(tokens.input_non_cached_total - cacheWrite),
    countText(tokens.input_cached_total),
    countText(cacheWrite),
    countText(tokens.output_total - bill.total_reasoning),
    countText(bill.total_reasoning),
    "100.0%",
    <Amount
      key="cost"
      value={total}
      to={linesAddress(base, { type: "charge", ...times }, plainUsd(total))}
    />,
  ];
  const costCell: Column<UsageGroup>["cell"] = (row) => {
    const filter = filterOfGroup(group, row, times);
    return (
      <Amount value={row.cost} {...(filter && { to: linesAddress(base, filter, plainUsd(row.cost)) })} />
    );
  };
  const figure = { isFigure: true };
  const columns: readonly Column<UsageGroup>[] = [
    { key: "name", title: name, cell: ({ id, name: shown }) => labelOf(id, shown, words) },
    { key: "requests", title: words.requests, ...figure, cell: (row) => countText(row.requests) },
    {
      ...{ key: "input", title: words.input, ...figure, isMinor: true },
      cell: (row) => countText(row.prompt - row.cached - row.cache_write),
    },
    { key: "cached", title: words.cached, ...figure, isMinor: true, cell: (row) => countText(row.cached) },
    {
      key: "write",
      title: words.cacheWrite,
      ...figure,
      isMinor: true,
      cell: (row) => countText(row.cache_write),
    },
    {
      ...{ key: "output", title: words.output, ...figure, isMinor: true },
      cell: (row) => countText(row.completion - row.reasoning),
    },
    {
      key: "reasoning",
      title: words.reasoning,
      ...figure,
      isMinor: true,
      cell: (row) => countText(row.reasoning),
    },
    { key: "share", title: words.share, ...figure, cell: (row) => percentOf(row.cost, total) ?? "" },
    { key: "cost", title: words.cost, ...figure, cell: costCell },
  ];
  return (
    <Section title={words.groupedBy(name)}>
      <DataTable
        caption={words.groupedBy(name)}
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        footer={footer}
      />
    </Section>
  );
}

/** The name of a group: its own, or what its id stands for. */
function labelOf(id: UsageGroup["id"], name: string, words: (typeof USAGE)["en"]): string {
  if (id === "(none)") return words.withoutTag;
  if (id === "(other)") return words.others;
  return name === "" ? String(id) : name;
}
