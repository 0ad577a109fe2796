// Limits and access of an account: how far each limit is used now, which limits of models hold for it, what its lists allow, and a
// tester that says what would be allowed and why not.

import { SimpleGrid, Stack } from "@mantine/core";
import { useAccountGet } from "../../api/account-view.ts";
import { GAUGE_MS } from "../../api/queries.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { Page } from "../../components/page.tsx";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { AccessLists } from "./access-lists.tsx";
import { LimitsOfModels } from "./limits-of-models.tsx";
import { OwnLimits } from "./own-limits.tsx";
import { AccessTester } from "./tester.tsx";

/** The page of an account's limits and access. */
export default function Limits() {
  const { page } = useWords(SHELL);
  const live = useAccountGet("live", {}, { everyMs: GAUGE_MS });
  return (
    <Page title={page.limits}>
      <AskedState asked={live} rows={12}>
        {(figures) => (
          <Stack gap="sm">
            <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
              <OwnLimits live={figures} />
              <AccessLists live={figures} />
            </SimpleGrid>
            <AccessTester />
            <LimitsOfModels live={figures} />
          </Stack>
        )}
      </AskedState>
    </Page>
  );
}
