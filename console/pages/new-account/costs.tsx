// What a new account costs the one that creates it: the balance before and after.

import { Stack, Text } from "@mantine/core";
import { type Nanos, subtractNanos } from "../../api/amount.ts";
import { isRoot } from "../../api/role.ts";
import { Amount } from "../../components/amount.tsx";
import { Section } from "../../components/section.tsx";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { NEW_ACCOUNT } from "../../i18n/new-account.ts";

/** The creator's balance before and after; `credit` is null while none is typed. */
export function Costs({ credit }: { readonly credit: Nanos | null }) {
  const words = useWords(NEW_ACCOUNT);
  const me = useStatus();
  const rows: readonly (readonly [string, Nanos | null])[] = isRoot(me)
    ? [[words.gets, credit]]
    : [
        [words.before, me.balance],
        [words.gets, credit],
        [words.after, credit === null ? null : subtractNanos(me.balance, credit)],
      ];
  return (
    <Section title={words.costs}>
      <Stack gap={4}>
        {rows.map(([label, amount]) => (
          <div key={label} className="figure-line">
            <Text size="sm">{label}</Text>
            {amount === null ? <Text size="sm">–</Text> : <Amount value={amount} />}
          </div>
        ))}
        {isRoot(me) && (
          <Text size="xs" c="dimmed">
            {words.minted}
          </Text>
        )}
      </Stack>
    </Section>
  );
}
