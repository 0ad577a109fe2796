// The news for an account on its Home. Their text is a text: nothing in it is markup.

import { Stack, Text } from "@mantine/core";
import { useGet } from "../../api/queries.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { Empty } from "../../components/empty.tsx";
import { Section } from "../../components/section.tsx";
import { Time } from "../../components/time.tsx";
import { HOME } from "../../i18n/home.ts";
import { useWords } from "../../i18n/language.ts";

/** How many news Home shows; the page News shows all. */
const NEWS_MAX = 5;

/** The newest news of every kind. */
export function NewsList() {
  const words = useWords(HOME);
  const asked = useGet("/dashboard/news");
  return (
    <Section title={words.news}>
      <AskedState asked={asked}>
        {({ system_news, user_news, dna_news }) => {
          const all = [
            ...system_news.map((item) => ({ ...item, from: words.newsOf.system })),
            ...user_news.map((item) => ({ ...item, from: words.newsOf.user })),
            ...dna_news.map((item) => ({ ...item, from: words.newsOf.group })),
          ].sort((one, other) => other.created_at.localeCompare(one.created_at));
          if (all.length === 0) return <Empty text={words.noNews} />;
          return (
            <Stack gap="xs">
              {all.slice(0, NEWS_MAX).map((item) => (
                <article key={item.id}>
                  <Text size="sm" fw={600}>
                    {item.title}
                  </Text>
                  <Text size="sm" className="text-block">
                    {item.content}
                  </Text>
                  <Text size="xs" c="dimmed" component="div">
                    {item.from} · <Time at={item.created_at} isShort />
                  </Text>
                </article>
              ))}
            </Stack>
          );
        }}
      </AskedState>
    </Section>
  );
}
