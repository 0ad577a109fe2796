// A bill: its headline figures, its chart and its table.

import { Stack, Text } from "@mantine/core";
import { useLocation } from "wouter";
import { useAccountView } from "../../api/account-view.ts";
import { countText, percentOf, plainUsd } from "../../api/amount.ts";
import { linesAddress } from "../../api/ledger-filter.ts";
import { Amount } from "../../components/amount.tsx";
import { CostChart } from "../../components/cost-chart.tsx";
import { columnsOfDays, columnsOfHours } from "../../components/cost-columns.ts";
import { Empty } from "../../components/empty.tsx";
import { Section } from "../../components/section.tsx";
import { Stat, Stats } from "../../components/stat.tsx";
import { useWords } from "../../i18n/language.ts";
import { USAGE } from "../../i18n/usage.ts";
import type { Bill } from "./bill.ts";
import type { Period } from "./period.ts";
import { type Grouping, linesOfBill, linesOfPart } from "./usage-rows.ts";
import { UsageTable } from "./usage-table.tsx";

/** Shows a bill over a period, grouped as it was asked. */
export function BillReport(props: {
  readonly bill: Bill;
  readonly period: Period;
  readonly grouping: Grouping;
}) {
  const { bill, period, grouping } = props;
  const words = useWords(USAGE);
  const { base } = useAccountView();
  const [, navigate] = useLocation();
  if (bill.total_requests === 0) return <Empty text={words.empty} />;
  const { days } = period;
  const columns = days === null ? columnsOfHours(bill.hourly ?? []) : columnsOfDays(bill.daily_costs, days);
  const title = days === null ? words.byHour : words.byDay;
  return (
    <Stack gap="sm">
      <Totals bill={bill} period={period} />
      <Section title={title}>
        <CostChart
          label={title}
          columns={columns}
          onPick={(column, part) => navigate(linesAddress(base, linesOfPart(column, part, grouping)))}
        />
      </Section>
      <UsageTable bill={bill} period={period} grouping={grouping} />
      <Text size="xs" c="dimmed">
        {words.utc}
      </Text>
    </Stack>
  );
}

/** What was spent, for how many requests and tokens, and how much of the input came from a cache. */
function Totals({ bill, period }: { readonly bill: Bill; readonly period: Period }) {
  const words = useWords(USAGE);
  const { base } = useAccountView();
  const { total_credit_used: cost, token_summary: tokens } = bill;
  const cached = percentOf(BigInt(tokens.input_cached_total), BigInt(tokens.input_total));
  return (
    <Stats>
      <Stat label={words.cost} detail={words.isProved}>
        <Amount value={cost} size="lg" to={linesAddress(base, linesOfBill(bill, period), plainUsd(cost))} />
      </Stat>
      <Stat label={words.requests}>{countText(bill.total_requests)}</Stat>
      <Stat label={words.promptTokens} detail={cached === null ? undefined : words.fromCache(cached)}>
        {countText(tokens.input_total)}
      </Stat>
      <Stat
        label={words.completionTokens}
        detail={bill.total_reasoning > 0 ? words.ofReasoning(countText(bill.total_reasoning)) : undefined}
      >
        {countText(tokens.output_total)}
      </Stat>
    </Stats>
  );
}
