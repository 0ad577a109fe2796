// Charged requests of all accounts below, hour by hour and by model.

import { SegmentedControl, Text } from "@mantine/core";
import { countText } from "../../../api/amount.ts";
import type { Answers } from "../../../api/answers.ts";
import { useGet } from "../../../api/queries.ts";
import { StackedBars } from "../../../charts/stacked-bars.tsx";
import { Amount } from "../../../components/amount.tsx";
import { AskedState } from "../../../components/asked-state.tsx";
import { Empty } from "../../../components/empty.tsx";
import { Section } from "../../../components/section.tsx";
import { utcText } from "../../../components/time.tsx";
import { useWords } from "../../../i18n/language.ts";
import { SHELL } from "../../../i18n/shell.ts";
import { TRAFFIC } from "../../../i18n/traffic.ts";
import { seriesOfHours } from "./hour-series.ts";
import type { TrafficProps } from "./traffic-view.ts";

const CHOICES = ["6", "24", "48"] as const;

/** The section with its choice of hours. */
export function Hours({ view, change }: TrafficProps) {
  const words = useWords(TRAFFIC);
  const bill = useGet("/x-bill", { hours: view.hours, group: "model" });
  return (
    <Section
      title={words.byHour}
      aside={
        <SegmentedControl
          value={view.hours}
          onChange={(hours) => change({ hours })}
          aria-label={words.period}
          data={CHOICES.map((value) => ({ value, label: words.hours(value) }))}
        />
      }
    >
      <AskedState asked={bill} rows={6}>
        {(answer) => <HourChart bill={answer} />}
      </AskedState>
    </Section>
  );
}

function HourChart({ bill }: { readonly bill: Answers["/x-bill"] }) {
  const words = useWords(TRAFFIC);
  const { noData } = useWords(SHELL);
  const { hourly = [], total_requests: requests, total_credit_used: cost } = bill;
  if (requests === 0) return <Empty text={words.noRequests} />;
  const { series, values, totals } = seriesOfHours(hourly);
  return (
    <>
      <StackedBars
        label={words.byHour}
        columns={hourly.map(({ hour }) => ({ key: hour, label: utcText(hour, true).slice(11) }))}
        series={series.map((model) => ({ key: model, label: model }))}
        values={values}
        totals={totals}
        text={(count) => words.requestsOf(countText(count))}
        tickText={(count) => countText(count)}
        noData={noData}
        height={170}
      />
      <Text size="sm" c="dimmed" component="div" mt="xs">
        {words.sumOfHours(countText(requests))} <Amount value={cost} to="/bill" /> USD
      </Text>
    </>
  );
}
