// What the lists of an account let through. Those of the accounts above hold besides, which the tester knows.

import { Code, Stack, Text } from "@mantine/core";
import type { Answers } from "../../api/answers.ts";
import { Section } from "../../components/section.tsx";
import { FIELD_HINTS } from "../../i18n/account-fields.ts";
import { useWords } from "../../i18n/language.ts";
import { LIMITS } from "../../i18n/limits.ts";

type Live = Answers["/dashboard/live"];

/** Lists by their names as the API has them. */
const LISTS = [
  ["AllowIPs", "allow_ips"],
  ["AllowModels", "allow_models"],
  ["AllowLevels", "allow_levels"],
  ["Resources", "resources"],
] as const;

/** The lists of the account. */
export function AccessLists({ live: { restrictions } }: { readonly live: Live }) {
  const words = useWords(LIMITS);
  const hints = useWords(FIELD_HINTS);
  return (
    <Section title={words.lists}>
      <Stack gap="xs">
        {LISTS.map(([field, name]) => {
          const items = restrictions[name].map(String);
          return (
            <div key={field} data-list={field}>
              <Text size="sm" title={hints[field]}>
                {field}
              </Text>
              {items.length === 0 ? (
                <Text size="sm" c="dimmed">
                  {words.open[field]}
                </Text>
              ) : (
                <div className="list-items">
                  {items.map((item) => (
                    <Code key={item}>{item}</Code>
                  ))}
                </div>
              )}
            </div>
          );
        })}
        <Text size="xs" c="dimmed">
          {words.above}
        </Text>
      </Stack>
    </Section>
  );
}
