// News: what the operator, the accounts above and the group have published for the account, the newest first.

import { SegmentedControl, Stack } from "@mantine/core";
import { allNews, type NewsKind } from "../../api/news.ts";
import { useGet } from "../../api/queries.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { Empty } from "../../components/empty.tsx";
import { NewsArticle } from "../../components/news-article.tsx";
import { Page } from "../../components/page.tsx";
import { Pager } from "../../components/pager.tsx";
import { Time } from "../../components/time.tsx";
import { useUrlState } from "../../components/url-state.ts";
import { useWords } from "../../i18n/language.ts";
import { NEWS } from "../../i18n/news.ts";
import { SHELL } from "../../i18n/shell.ts";

const VIEW = { kind: "", page: "1" };
const KINDS: readonly NewsKind[] = ["system", "user", "group"];
/** The service answers all news at once: up to a thousand of each kind. */
const SHOWN = 50;

/** The page of news. */
export default function News() {
  const { page: names } = useWords(SHELL);
  const words = useWords(NEWS);
  const [view, change] = useUrlState(VIEW);
  const asked = useGet("/dashboard/news");
  return (
    <Page title={names.news} about={words.about}>
      <AskedState asked={asked} rows={8}>
        {(answer) => {
          const all = allNews(answer);
          if (all.length === 0) return <Empty text={words.none} />;
          const chosen = all.filter(({ kind }) => view.kind === "" || kind === view.kind);
          const page = Math.max(1, Number.parseInt(view.page, 10) || 1);
          const shown = chosen.slice((page - 1) * SHOWN, page * SHOWN);
          const list = { page, size: SHOWN, total: chosen.length, has_more: page * SHOWN < chosen.length };
          return (
            <Stack gap="sm" maw={760}>
              <SegmentedControl
                value={view.kind}
                onChange={(kind) => change({ kind })}
                aria-label={words.kind}
                w="fit-content"
                maw="100%"
                data={[
                  { value: "", label: words.all },
                  ...KINDS.map((value) => ({ value, label: words.kinds[value] })),
                ]}
              />
              {shown.length === 0 && <Empty text={words.noneOf} />}
              <div className="news-list">
                {shown.map((item) => (
                  <NewsArticle key={item.id} item={item}>
                    {" · "}
                    {words.until} <Time at={item.expires_at} isShort />
                  </NewsArticle>
                ))}
              </div>
              <Pager list={list} shown={shown.length} onPage={(next) => change({ page: String(next) })} />
            </Stack>
          );
        }}
      </AskedState>
    </Page>
  );
}
