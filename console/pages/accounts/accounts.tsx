// Accounts: the subaccounts of an account, page by page, each of which opens in its place; the way from the signed-in account down
// to it; and a search over everything below it. The address has the account, the order, the page and the search.

import { Button, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { accountFilterOf } from "../../api/account-filter.ts";
import { type Account, type AccountPage, dnaBelow, useAccount, useAccountPages } from "../../api/accounts.ts";
import { countText } from "../../api/amount.ts";
import { useGetList } from "../../api/queries.ts";
import { AccountPath } from "../../components/account-path.tsx";
import { AskedState } from "../../components/asked-state.tsx";
import { DataTable } from "../../components/data-table.tsx";
import { Empty } from "../../components/empty.tsx";
import { Page } from "../../components/page.tsx";
import { Pager } from "../../components/pager.tsx";
import { type UrlState, useUrlState } from "../../components/url-state.ts";
import { useStatus } from "../../frame/status.ts";
import { ACCOUNTS } from "../../i18n/accounts.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { accountColumns } from "./account-columns.tsx";
import { OPEN_ROWS_MAX, rowsOf } from "./account-rows.ts";

const DEFAULTS = { parent: "", q: "", sort: "id", order: "asc", page: "1" };
const PAGE_SIZE = 50;
const TYPING_MS = 300;

type View = UrlState<keyof typeof DEFAULTS>;
type Change = (changes: Partial<Record<keyof typeof DEFAULTS, string>>) => void;

const listOf = (id: number | null): string => (id === null ? "/accounts" : `/accounts?parent=${id}`);

/** The page of the accounts below the signed-in one. */
export default function Accounts() {
  const words = useWords(ACCOUNTS);
  const shell = useWords(SHELL);
  const me = useStatus();
  const [view, change] = useUrlState(DEFAULTS);
  const asked = Number(view.parent);
  const parent = Number.isSafeInteger(asked) && asked > 0 && asked !== me.id ? asked : null;
  const found = useAccount(parent);
  const [top] = found.data ?? [];
  const isGone = parent !== null && found.data !== undefined && top === undefined;
  return (
    <Page
      title={shell.page.accounts}
      about={<AccountPath me={me} account={parent === null ? null : (top ?? null)} hrefOf={listOf} />}
      actions={<Actions parent={parent} />}
    >
      {isGone ? (
        <Empty text={words.unknown}>
          <Button component={Link} href="/accounts" variant="default">
            {words.toList}
          </Button>
        </Empty>
      ) : (
        <>
          <SearchBox key={view.parent} text={view.q} onText={(q) => change({ q })} />
          {view.q.trim() === "" ? (
            <Below parent={parent} view={view} change={change} />
          ) : (
            <Found top={parent === null ? null : (top ?? null)} parent={parent} view={view} change={change} />
          )}
        </>
      )}
    </Page>
  );
}

function Actions({ parent }: { readonly parent: number | null }) {
  const words = useWords(ACCOUNTS);
  return parent === null ? (
    <Button component={Link} href="/accounts/new">
      {words.add}
    </Button>
  ) : (
    <Button component={Link} href={`/accounts/${parent}`} variant="default">
      {words.openAccount}
    </Button>
  );
}

function SearchBox(props: { readonly text: string; readonly onText: (text: string) => void }) {
  const words = useWords(ACCOUNTS);
  const [text, setText] = useState(props.text);
  const [sent, setSent] = useState(props.text);
  // A change of the address from elsewhere, such as "back", begins the field anew.
  if (props.text !== sent) {
    setText(props.text);
    setSent(props.text);
  }
  const settle = useDebouncedCallback((typed: string) => {
    setSent(typed);
    props.onText(typed);
  }, TYPING_MS);
  return (
    <TextInput
      type="search"
      maw={500}
      aria-label={words.search}
      placeholder={`${words.search}: ${words.searchHint}`}
      title={words.searchHint}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        settle(event.currentTarget.value);
      }}
    />
  );
}

/** The direct subaccounts of an account; the signed-in one where `parent` is null. */
function Below(props: { readonly parent: number | null; readonly view: View; readonly change: Change }) {
  const { parent, view, change } = props;
  const words = useWords(ACCOUNTS);
  const asked = useGetList("/x-users", {
    ...{ parent: parent ?? undefined, sort: view.sort, order: view.order, with: "children,month_cost" },
    ...{ page: view.page, size: PAGE_SIZE },
  });
  return (
    <AskedState asked={asked} rows={12}>
      {({ rows, total }) =>
        total === 0 ? (
          <Empty text={words.none}>
            {parent === null ? (
              <Button component={Link} href="/accounts/new">
                {words.add}
              </Button>
            ) : (
              <Text size="sm">{words.addHere}</Text>
            )}
          </Empty>
        ) : (
          <AccountTable
            rows={rows}
            total={total}
            about={words.count(countText(total))}
            {...{ view, change }}
          />
        )
      }
    </AskedState>
  );
}

/** What a search finds among everything below an account. */
function Found(props: {
  readonly parent: number | null;
  readonly top: Account | null;
  readonly view: View;
  readonly change: Change;
}) {
  const { parent, top, view, change } = props;
  const words = useWords(ACCOUNTS);
  const shell = useWords(SHELL);
  const within = top === null ? {} : { dna: dnaBelow(top.DNA, top.ID) };
  const asked = useGetList(
    "/x-dna",
    { ...within, ...accountFilterOf(view.q), page: view.page, size: PAGE_SIZE },
    { enabled: parent === null || top !== null },
  );
  return (
    <AskedState asked={asked} rows={6}>
      {({ rows, total }) =>
        total === 0 ? (
          <Empty text={words.nothingFound}>
            <Button variant="default" component={Link} href={listOf(parent)}>
              {shell.clearFilters}
            </Button>
          </Empty>
        ) : (
          <AccountTable {...{ rows, total, view, change }} about={words.found(countText(total))} isSearch />
        )
      }
    </AskedState>
  );
}

function AccountTable(props: {
  readonly rows: readonly Account[];
  readonly total: number;
  readonly about: string;
  readonly view: View;
  readonly change: Change;
  readonly isSearch?: boolean;
}) {
  const { rows, total, about, view, change, isSearch = false } = props;
  const words = useWords(ACCOUNTS);
  const shell = useWords(SHELL);
  const me = useStatus();
  const [, navigate] = useLocation();
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const pages = useOpenPages(open, view.sort, view.order);
  const toggle = (id: number) => {
    const next = new Set(open);
    if (!next.delete(id)) next.add(id);
    setOpen(next);
  };
  const monthStart = `${new Date().toISOString().slice(0, 7)}-01`;
  const columns = accountColumns({
    ...{ words, threshold: me.user_api_balance, monthStart, isSearch, toggle, listOf },
  });
  const page = Number(view.page);
  const list = { page, size: PAGE_SIZE, total, has_more: page * PAGE_SIZE < total };
  const sorting = {
    by: view.sort,
    order: view.order === "desc" ? ("desc" as const) : ("asc" as const),
    change: (sort: string, order: string) => change({ sort, order }),
  };
  return (
    <div>
      <Text size="xs" c="dimmed" role="status">
        {about}
      </Text>
      <DataTable
        caption={shell.page.accounts}
        columns={columns}
        rows={rowsOf(rows, open, pages)}
        keyOf={(row) => (row.kind === "account" ? row.account.ID : `more ${row.parent.ID}`)}
        onOpen={(row) =>
          navigate(row.kind === "account" ? `/accounts/${row.account.ID}` : listOf(row.parent.ID))
        }
        {...(isSearch ? {} : { sorting })}
      />
      <Pager list={list} shown={rows.length} onPage={(next) => change({ page: String(next) })} />
    </div>
  );
}

/** Asks for the subaccounts of all open accounts, in this order. */
function useOpenPages(
  open: ReadonlySet<number>,
  sort: string,
  order: string,
): ReadonlyMap<number, AccountPage> {
  const ids = [...open];
  const asked = useAccountPages(
    "/x-users",
    ids.map((parent) => ({
      ...{ parent, sort, order, with: "children,month_cost", page: 1, size: OPEN_ROWS_MAX },
    })),
  );
  return new Map(
    ids.flatMap((id, at) => {
      const page = asked[at]?.data;
      return page === undefined ? [] : [[id, page] as const];
    }),
  );
}
