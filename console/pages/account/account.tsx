// One account below the signed-in one: its heading with its place in the tree, its state and what can be done, and its tabs, which are
// the pages of the own account asked for this one.

import { Button } from "@mantine/core";
import { Suspense, useMemo, useState } from "react";
import { Link, useParams } from "wouter";
import { AccountViewContext } from "../../api/account-view.ts";
import { type Account, useAccount } from "../../api/accounts.ts";
import { AccountBadges } from "../../components/account-badges.tsx";
import { AccountPath } from "../../components/account-path.tsx";
import { AskedState } from "../../components/asked-state.tsx";
import { PageBoundary } from "../../components/page-boundary.tsx";
import { Page } from "../../components/page.tsx";
import { useStatus } from "../../frame/status.ts";
import { ACCOUNT } from "../../i18n/account.ts";
import { ACCOUNTS } from "../../i18n/accounts.ts";
import { useWords } from "../../i18n/language.ts";
import { NotFound } from "../not-found.tsx";
import { AccountRecordContext } from "./account-context.ts";
import { KEPT_TABS, TABS } from "./tabs.ts";
import { Transfer } from "./transfer.tsx";

const ID = /^[1-9]\d{0,14}$/;

const pageOf = (id: number | null): string => (id === null ? "/accounts" : `/accounts/${id}`);

/** The page of an account, at one of its tabs. */
export default function AccountPage() {
  const { id = "", tab = "overview" } = useParams<{ id: string; tab?: string }>();
  if (!ID.test(id)) return <NotFound />;
  // Another account begins anew: nothing that was typed for one is shown for the next.
  return <KnownAccount key={id} id={id} tab={tab} />;
}

function KnownAccount({ id, tab }: { readonly id: string; readonly tab: string }) {
  const asked = useAccount(Number(id));
  const view = useMemo(() => ({ user: id, base: `/accounts/${id}` }), [id]);
  return (
    <AskedState asked={asked} rows={8}>
      {([account]) => (
        <AccountViewContext.Provider value={view}>
          <AccountRecordContext.Provider value={account ?? null}>
            {account === undefined ? <Gone id={id} tab={tab} /> : <There account={account} tab={tab} />}
          </AccountRecordContext.Provider>
        </AccountViewContext.Provider>
      )}
    </AskedState>
  );
}

function There({ account, tab }: { readonly account: Account; readonly tab: string }) {
  const words = useWords(ACCOUNT);
  const me = useStatus();
  const [isGiving, setGiving] = useState(false);
  const { ID: id, Name, Alias } = account;
  return (
    <Page
      title={Name}
      about={
        <>
          <AccountPath account={account} hrefOf={pageOf} />
          <span className="about-line">
            {Alias !== "" && <span className="cut">{Alias}</span>}
            <AccountBadges account={account} threshold={me.user_api_balance} />
          </span>
        </>
      }
      actions={
        <>
          <Button component={Link} href={`/bill/${id}`} variant="default">
            {words.bill}
          </Button>
          <Button onClick={() => setGiving(true)}>{words.give}</Button>
        </>
      }
    >
      <TabLinks id={id} tab={tab} names={TABS.map(({ name }) => name)} />
      <OpenTab tab={tab} names={TABS.map(({ name }) => name)} />
      {isGiving && <Transfer account={account} onClose={() => setGiving(false)} />}
    </Page>
  );
}

/** An account that is no more: what it did is kept. */
function Gone({ id, tab }: { readonly id: string; readonly tab: string }) {
  const words = useWords(ACCOUNT);
  const { toList } = useWords(ACCOUNTS);
  const names = TABS.map(({ name }) => name).filter((name) => KEPT_TABS.has(name));
  const open = names.find((name) => name === tab) ?? "ledger";
  return (
    <Page
      title={words.gone(id)}
      about={words.goneAbout}
      actions={
        <Button component={Link} href="/accounts" variant="default">
          {toList}
        </Button>
      }
    >
      <TabLinks id={Number(id)} tab={open} names={names} />
      {names.length > 0 && <OpenTab tab={open} names={names} />}
    </Page>
  );
}

function TabLinks(props: { readonly id: number; readonly tab: string; readonly names: readonly string[] }) {
  const { id, tab, names } = props;
  const words = useWords(ACCOUNT);
  return (
    <nav className="tab-links" aria-label={words.tabs}>
      {TABS.filter(({ name }) => names.includes(name)).map(({ name }) => (
        <Link
          key={name}
          href={name === "overview" ? `/accounts/${id}` : `/accounts/${id}/${name}`}
          {...(name === tab ? { "aria-current": "page" as const } : {})}
        >
          {words.tab[name]}
        </Link>
      ))}
    </nav>
  );
}

function OpenTab(props: { readonly tab: string; readonly names: readonly string[] }) {
  const entry = TABS.find(({ name }) => name === props.tab && props.names.includes(name));
  if (entry === undefined) return <NotFound />;
  const Tab = entry.component;
  return (
    <PageBoundary key={entry.name}>
      <Suspense fallback={<div aria-busy="true" />}>
        <Tab />
      </Suspense>
    </PageBoundary>
  );
}
