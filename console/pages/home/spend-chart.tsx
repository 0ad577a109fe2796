// What the last thirty days cost, by day and model. A part of a day leads to its ledger lines.

import { Anchor } from "@mantine/core";
import { Link, useLocation } from "wouter";
import { useAccountGet, useAccountView } from "../../api/account-view.ts";
import { linesAddress } from "../../api/ledger-filter.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { CostChart } from "../../components/cost-chart.tsx";
import { columnsOfDays } from "../../components/cost-columns.ts";
import { Empty } from "../../components/empty.tsx";
import { Section } from "../../components/section.tsx";
import { HOME } from "../../i18n/home.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { dayBefore } from "./days.ts";

const DAYS = 30;

/** The chart; it asks for the same bill as the headline figures. */
export function SpendChart() {
  const words = useWords(HOME);
  const { page } = useWords(SHELL);
  const { base } = useAccountView();
  const [, navigate] = useLocation();
  const bill = useAccountGet("bill", { days: DAYS });
  const linesOf = (day: string, model: string) =>
    linesAddress(base, {
      ...{ type: "charge", from: day, to: day },
      ...(model.startsWith("(") ? {} : { model }),
    });
  return (
    <Section
      title={words.chart}
      aside={
        <Anchor component={Link} href={`${base}/usage`} size="xs">
          {page.usage}
        </Anchor>
      }
    >
      <AskedState asked={bill} rows={6}>
        {({ daily_costs, total_requests }) =>
          total_requests === 0 ? (
            <Empty text={words.noCosts} />
          ) : (
            <CostChart
              label={words.chart}
              height={150}
              columns={columnsOfDays(daily_costs, { from: dayBefore(Date.now(), DAYS - 1), count: DAYS })}
              onPick={(day, model) => navigate(linesOf(day, model))}
            />
          )
        }
      </AskedState>
    </Section>
  );
}
