// The newest news for an account on its Home.

import { Anchor, Stack } from "@mantine/core";
import { Link } from "wouter";
import { allNews } from "../../api/news.ts";
import { useGet } from "../../api/queries.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { Empty } from "../../components/empty.tsx";
import { NewsArticle } from "../../components/news-article.tsx";
import { Section } from "../../components/section.tsx";
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
        {(answer) => {
          const all = allNews(answer);
          if (all.length === 0) return <Empty text={words.noNews} />;
          return (
            <Stack gap="xs">
              {all.slice(0, NEWS_MAX).map((item) => (
                <NewsArticle key={item.id} item={item} />
              ))}
              {all.length > NEWS_MAX && (
                <Anchor component={Link} href="/news" size="sm">
                  {words.allNews}
                </Anchor>
              )}
            </Stack>
          );
        }}
      </AskedState>
    </Section>
  );
}
