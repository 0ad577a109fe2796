// Traffic: how much goes to the provider keys and how much of it fails, when keys slept and Levels were switched over, and what is
// refused to one account.

import { Stack } from "@mantine/core";
import { AskedState } from "../../../components/asked-state.tsx";
import { Empty } from "../../../components/empty.tsx";
import { Page } from "../../../components/page.tsx";
import { Section } from "../../../components/section.tsx";
import { useUrlState } from "../../../components/url-state.ts";
import { useWords } from "../../../i18n/language.ts";
import { SHELL } from "../../../i18n/shell.ts";
import { TRAFFIC } from "../../../i18n/traffic.ts";
import { usePoolKeys } from "../pool/pool-keys.ts";
import { Events } from "./events.tsx";
import { Hours } from "./hours.tsx";
import { FailingKeys, HourFigures, Rate } from "./rate.tsx";
import { Refusals } from "./refusals.tsx";
import { TRAFFIC_VIEW } from "./traffic-view.ts";

/** The page. */
export default function Traffic() {
  const { page } = useWords(SHELL);
  const words = useWords(TRAFFIC);
  const [view, change] = useUrlState(TRAFFIC_VIEW);
  return (
    <Page title={page.traffic} about={words.about}>
      <Stack gap="sm">
        <LastHour />
        <Hours view={view} change={change} />
        <Events view={view} change={change} />
        <Refusals view={view} change={change} />
      </Stack>
    </Page>
  );
}

/** The last hour of all keys, as it is at this moment. */
function LastHour() {
  const words = useWords(TRAFFIC);
  const keys = usePoolKeys();
  return (
    <AskedState asked={keys} rows={10}>
      {({ rows: { keys: rows } }) => (
        <>
          <HourFigures keys={rows} />
          {rows.every(({ LastHour: { attempts } }) => attempts === 0) ? (
            <Section title={words.rate}>
              <Empty text={words.noAttempts} />
            </Section>
          ) : (
            <>
              <Section title={words.rate}>
                <Rate keys={rows} />
              </Section>
              <Section title={words.byKey}>
                <FailingKeys keys={rows} />
              </Section>
            </>
          )}
        </>
      )}
    </AskedState>
  );
}
