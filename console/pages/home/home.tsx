// Home: what an account has, what it spends, how long that lasts, what stands against it now.

import { Alert, SimpleGrid, Stack } from "@mantine/core";
import { useAccountGet } from "../../api/account-view.ts";
import { usdText } from "../../api/amount.ts";
import { GAUGE_MS } from "../../api/queries.ts";
import { isRoot } from "../../api/role.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { Page } from "../../components/page.tsx";
import { utcText } from "../../components/time.tsx";
import { useStatus } from "../../frame/status.ts";
import { HOME } from "../../i18n/home.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { Headlines, type Live } from "./headlines.tsx";
import { LimitGauges } from "./limit-gauges.tsx";
import { NewsList } from "./news-list.tsx";
import { NextSteps } from "./next-steps.tsx";
import { SpendChart } from "./spend-chart.tsx";

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

/** What any request would be refused with now. */
function StateBanner({ live }: { readonly live: Live }) {
  const words = useWords(HOME);
  const status = useStatus();
  const threshold = status.user_api_balance;
  const { blocked } = live;
  if (blocked !== null) {
    const until = blocked.until === null ? words.blockedOpen : words.blocked(`${utcText(blocked.until)} UTC`);
    return (
      <Alert color="red" title={until} role="status" data-code={blocked.code}>
        {blocked.message}
      </Alert>
    );
  }
  if (live.balance.total > threshold || isRoot(status)) return null;
  return (
    <Alert color="yellow" role="status">
      {words.low(usdText(threshold))}
    </Alert>
  );
}
