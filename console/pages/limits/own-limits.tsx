// The limits of an account itself, and of the API key that asks: those that are set with their use, polled like gauges, and the names
// of those that are not.

import { Stack, Text, Title } from "@mantine/core";
import { usdText } from "../../api/amount.ts";
import type { Answers } from "../../api/answers.ts";
import { isRoot } from "../../api/role.ts";
import { LiveLimitBar } from "../../components/live-limit.tsx";
import { Section } from "../../components/section.tsx";
import { useWords } from "../../i18n/language.ts";
import { LIMITS } from "../../i18n/limits.ts";
import { LIVE_LIMITS } from "../../i18n/live-limits.ts";

type Live = Answers["/dashboard/live"];

/** Limits in the order in which they are shown; the first two move fastest. */
const NAMES = ["rpm", "tpm", "rph", "tph", "rpd", "tpd", "daily_limit", "hard_limit"] as const;
/** What is set besides, and refuses no request. */
const OTHERS = ["soft_limit", "auto_quota"] as const;

/** Limits with their use. */
export function OwnLimits({ live }: { readonly live: Live }) {
  const words = useWords(LIMITS);
  const { names } = useWords(LIVE_LIMITS);
  const { windows, limits } = live;
  const place = (name: string): number => (NAMES as readonly string[]).indexOf(name);
  const rowsOf = (scope: "account" | "api_key") =>
    windows
      .filter((row) => row.scope === scope)
      .toSorted((one, other) => place(one.name) - place(other.name));
  const [own, ofKey] = [rowsOf("account"), rowsOf("api_key")];
  const unset = NAMES.filter((name) => !own.some((row) => row.name === name));
  return (
    <Section title={words.limits}>
      <Stack gap="xs">
        {own.map((row) => (
          <LiveLimitBar key={row.name} row={row} />
        ))}
        {OTHERS.filter((name) => limits[name] > 0n).map((name) => (
          <Text key={name} size="sm" component="div" className="figure-line">
            <span>
              {names[name]}
              <Text size="xs" c="dimmed">
                {words.others[name]}
              </Text>
            </span>
            <span className="figure">{usdText(limits[name])}</span>
          </Text>
        ))}
        {unset.length > 0 && (
          <Text size="xs" c="dimmed">
            {words.unset(unset.map((name) => names[name].split(/[,（]/)[0]!).join(", "))}{" "}
            {!isRoot(live.user) && words.balanceLimits}
          </Text>
        )}
        {ofKey.length > 0 && <Title order={3}>{words.ofKey}</Title>}
        {ofKey.map((row) => (
          <LiveLimitBar key={row.name} row={row} />
        ))}
      </Stack>
    </Section>
  );
}
