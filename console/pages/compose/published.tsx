// What the account has published and can withdraw. No endpoint lists it; the operation log has every item with its target.

import { Button, Text } from "@mantine/core";
import { useState } from "react";
import { countText } from "../../api/amount.ts";
import { type PublishedItem, publishedNews } from "../../api/news.ts";
import { useGet } from "../../api/queries.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Empty } from "../../components/empty.tsx";
import { loadLater } from "../../components/load-later.tsx";
import { Pager } from "../../components/pager.tsx";
import { Time } from "../../components/time.tsx";
import { useUrlState } from "../../components/url-state.ts";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { NEWS } from "../../i18n/news.ts";
import { useTargetName } from "./target-name.ts";

const Withdraw = loadLater(() => import("./withdraw.tsx"));

/** Lines of the log on a page. */
const LINES = 50;
/** Deletions that are looked through: as many as the service has in an answer. */
const DELETIONS = 100;
const VIEW = { page: "1" };

/** The list of what is still shown to its readers. */
export function Published() {
  const words = useWords(NEWS);
  const { id } = useStatus();
  const [{ page }, change] = useUrlState(VIEW);
  const own = { operator_id: id, status: "success" };
  const added = useGet("/dashboard/logs", { ...own, action: "add_news", page, size: LINES });
  const deleted = useGet("/dashboard/logs", { ...own, action: "delete_news", size: DELETIONS });
  const [chosen, setChosen] = useState<PublishedItem | null>(null);
  const [withdrawn, setWithdrawn] = useState<number | null>(null);
  return (
    <AskedState asked={added}>
      {({ logs, ...list }) => {
        const items = publishedNews(logs, deleted.data?.logs ?? [], Date.now());
        return (
          <>
            <Text size="xs" c="dimmed">
              {words.mineAbout}
            </Text>
            {withdrawn !== null && (
              <Text size="sm" role="status">
                {words.withdrawn(countText(withdrawn))}
              </Text>
            )}
            {items.length === 0 ? (
              <Empty text={words.mineNone} />
            ) : (
              <PublishedTable items={items} onWithdraw={setChosen} />
            )}
            <Pager list={list} shown={logs.length} onPage={(next) => change({ page: String(next) })} />
            {chosen !== null && (
              <Withdraw
                item={chosen}
                onClose={() => setChosen(null)}
                onDone={(count) => {
                  setWithdrawn(count);
                  setChosen(null);
                }}
              />
            )}
          </>
        );
      }}
    </AskedState>
  );
}

function PublishedTable(props: {
  readonly items: readonly PublishedItem[];
  readonly onWithdraw: (item: PublishedItem) => void;
}) {
  const { items, onWithdraw } = props;
  const words = useWords(NEWS);
  const columns: readonly Column<PublishedItem>[] = [
    {
      key: "at",
      title: words.at,
      isMinor: true,
      cell: ({ publishedAt }) => <Time at={publishedAt} isShort />,
    },
    {
      key: "title",
      title: words.title,
      cell: ({ title }) => (
        <span className="cut" title={title}>
          {title}
        </span>
      ),
    },
    { key: "to", title: words.readers, cell: ({ to }) => <TargetName to={to} /> },
    {
      key: "expires",
      title: words.expires,
      isMinor: true,
      cell: ({ expiresAt }) => <Time at={expiresAt} isShort />,
    },
    {
      key: "withdraw",
      title: "",
      cell: (item) => (
        <Button variant="default" size="compact-xs" onClick={() => onWithdraw(item)}>
          {words.withdraw}
        </Button>
      ),
    },
  ];
  return <DataTable caption={words.mineTitle} columns={columns} rows={items} keyOf={({ id }) => id} />;
}

/** Whom an item is for, by name where it is known. */
function TargetName({ to }: { readonly to: string }) {
  const name = useTargetName(useStatus(), to);
  return (
    <span className="cut" title={`${name} · ${to}`}>
      {name}
    </span>
  );
}
