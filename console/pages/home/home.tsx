// Home: what an account has, what it spends, how long that lasts, what stands against it now.

import { SimpleGrid, Stack } from "@mantine/core";
import { useAccountGet } from "../../api/account-view.ts";
import { GAUGE_MS } from "../../api/queries.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { Page } from "../../components/page.tsx";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { Headlines } from "./headlines.tsx";
import { LimitGauges } from "./limit-gauges.tsx";
import { NewsList } from "./news-list.tsx";
import { NextSteps } from "./next-steps.tsx";
import { SpendChart } from "./spend-chart.tsx";
import { StateBanner } from "./state-banner.tsx";

/** The first page of an account. */
export default function Home() {
  const { page } = useWords(SHELL);
  const live = useAccountGet("live", {}, { everyMs: GAUGE_MS });
  return (
    <Page title={page.home}>
      <AskedState asked={live} rows={8}>
        {(figures) => (
          <Stack gap="sm">
            <StateBanner live={figures} />
            <NextSteps />
            <Headlines live={figures} />
            <SpendChart />
            <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
              <LimitGauges live={figures} />
              <NewsList />
            </SimpleGrid>
          </Stack>
        )}
      </AskedState>
    </Page>
  );
}
