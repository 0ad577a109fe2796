// An item of the news as its readers see it. Its title and its text are texts: nothing in them is markup or a link.

import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { NewsItem } from "../api/news.ts";
import { useWords } from "../i18n/language.ts";
import { NEWS } from "../i18n/news.ts";
import { Time } from "./time.tsx";

/** An item; `children` stand behind the times. */
export function NewsArticle(props: {
  readonly item: Pick<NewsItem, "title" | "content" | "created_at"> & Partial<NewsItem>;
  readonly children?: ReactNode;
}) {
  const { item, children } = props;
  const words = useWords(NEWS);
  return (
    <article data-news={item.id} className="news-article">
      <Text size="sm" fw={600} className="text-block">
        {item.title}
      </Text>
      <Text size="sm" className="text-block">
        {item.content}
      </Text>
      <Text size="xs" c="dimmed" component="div">
        {item.kind !== undefined && `${words.kinds[item.kind]} · `}
        <Time at={item.created_at} isShort />
        {children}
      </Text>
    </article>
  );
}
