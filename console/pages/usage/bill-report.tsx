// A bill: its chart, its groups with the service's totals, and its days.

import { Stack, Text } from "@mantine/core";
import { useLocation } from "wouter";
import { useAccountView } from "../../api/account-view.ts";
import { countText, plainUsd } from "../../api/amount.ts";
import { linesAddress } from "../../api/ledger-filter.ts";
import { Amount } from "../../components/amount.tsx";
import { CostChart } from "../../components/cost-chart.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Empty } from "../../components/empty.tsx";
import { Section } from "../../components/section.tsx";
import { useWords } from "../../i18n/language.ts";
import { USAGE } from "../../i18n/usage.ts";
import type { Bill } from "./bill.ts";
import { columnsOfDays, columnsOfHours } from "./chart-columns.ts";
import { GroupTable } from "./group-table.tsx";
import type { Period } from "./period.ts";

type BilledDay = Bill["daily_costs"][number];

/** Shows a bill over a period, grouped as it was asked. */
export function BillReport(props: { readonly bill: Bill; readonly period: Period; readonly group: string }) {
  const { bill, period, group } = props;
  const words = useWords(USAGE);
  const { base } = useAccountView();
  const [, navigate] = useLocation();
  if (bill.total_requests === 0) return <Empty text={words.empty} />;
  const { days } = period;
  const columns = days === null ? columnsOfHours(bill.hourly ?? []) : columnsOfDays(bill.daily_costs, days);
  const title = days === null ? words.byHour : words.byDay;
  return (
    <Stack gap="sm">
      <Section title={title}>
        <CostChart
          label={title}
          columns={columns}
          onPick={(column, model) =>
            navigate(linesAddress(base, linesOfMark(column, model, days !== null || group === "model")))
          }
        />
      </Section>
      <GroupTable bill={bill} period={period} group={group} />
      {days !== null && <DayTable days={bill.daily_costs} />}
      <Text size="xs" c="dimmed">
        {words.utc}
      </Text>
    </Stack>
  );
}

const HOUR_MS = 3_600_000;

/** The lines behind a part of a bar: a day, or an hour by its beginning; of a model where the parts are models. */
function linesOfMark(column: string, part: string, isByModel: boolean) {
  const isHour = column.includes("T");
  const to = isHour ? new Date(Date.parse(column) + HOUR_MS - 1).toISOString() : column;
  const isOne = isByModel && !part.startsWith("(");
  return { type: "charge", from: column, to, ...(isOne ? { model: part } : {}) };
}

/** The days that have charges, the latest one first. */
function DayTable({ days }: { readonly days: readonly BilledDay[] }) {
  const words = useWords(USAGE);
  const { base } = useAccountView();
  const figure = { isFigure: true };
  const columns: readonly Column<BilledDay>[] = [
    { key: "date", title: words.day, cell: ({ date }) => date },
    { key: "requests", title: words.requests, ...figure, cell: (day) => countText(day.total_requests) },
    { key: "prompt", title: words.promptTokens, ...figure, cell: (day) => countText(day.total_prompt) },
    {
      ...{ key: "completion", title: words.completionTokens, ...figure },
      cell: (day) => countText(day.total_completion),
    },
    {
      ...{ key: "cost", title: words.cost, ...figure },
      cell: ({ date, total_credit_used: cost }) => (
        <Amount
          value={cost}
          to={linesAddress(base, { type: "charge", from: date, to: date }, plainUsd(cost))}
        />
      ),
    },
  ];
  return (
    <Section title={words.days}>
      <DataTable
        caption={words.days}
        columns={columns}
        rows={days.toSorted((one, other) => other.date.localeCompare(one.date))}
        keyOf={({ date }) => date}
      />
    </Section>
  );
}
