// How far the limits of an account are used, requests under way included.

import { Anchor, Stack } from "@mantine/core";
import { Link } from "wouter";
import { useAccountView } from "../../api/account-view.ts";
import { isRoot } from "../../api/role.ts";
import { Empty } from "../../components/empty.tsx";
import { LiveLimitBar } from "../../components/live-limit.tsx";
import { Section } from "../../components/section.tsx";
import { HOME } from "../../i18n/home.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import type { Live } from "./headlines.tsx";

/** The limits that are set, each with its use. */
export function LimitGauges({ live }: { readonly live: Live }) {
  const words = useWords(HOME);
  const { page } = useWords(SHELL);
  const { base } = useAccountView();
  return (
    <Section
      title={words.limits}
      aside={
        <Anchor component={Link} href={`${base}/limits`} size="xs">
          {page.limits}
        </Anchor>
      }
    >
      {live.windows.length === 0 ? (
        <Empty text={isRoot(live.user) ? words.rootLimits : words.noLimits} />
      ) : (
        <Stack gap="xs">
          {live.windows.map((row) => (
            <LiveLimitBar key={`${row.scope} ${row.model} ${row.name}`} row={row} />
          ))}
        </Stack>
      )}
    </Section>
  );
}
