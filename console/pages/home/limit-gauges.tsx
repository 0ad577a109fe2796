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

/** The limits of the account and the key with their use, and those of models that are used. */
export function LimitGauges({ live }: { readonly live: Live }) {
  const words = useWords(HOME);
  const { page } = useWords(SHELL);
  const { base } = useAccountView();
  // Every model with a limit has several: here those count that are used.
  const rows = live.windows.filter(({ scope, used }) => scope !== "model" || used > 0n);
  const isIdle = live.windows.length > 0;
  return (
    <Section
      title={words.limits}
      aside={
        <Anchor component={Link} href={`${base}/limits`} size="xs">
          {page.limits}
        </Anchor>
      }
    >
      {rows.length === 0 ? (
        <Empty text={isRoot(live.user) ? words.rootLimits : isIdle ? words.idleLimits : words.noLimits} />
      ) : (
        <Stack gap="xs">
          {rows.map((row) => (
            <LiveLimitBar key={`${row.scope} ${row.model} ${row.name}`} row={row} />
          ))}
        </Stack>
      )}
    </Section>
  );
}
