// One account below the signed-in one: its heading with its place in the tree, its state and what can be done, and its tabs, which are
// the pages of the own account asked for this one.

import { Button } from "@mantine/core";
import { useEffect, useMemo, useRef, useState } from "react";
import { Link, useParams } from "wouter";
import { AccountViewContext } from "../../api/account-view.ts";
import { type Account, useAccount } from "../../api/accounts.ts";
import { usdText } from "../../api/amount.ts";
import type { AccountWrites } from "../../api/answers.ts";
import { AccountBadges } from "../../components/account-badges.tsx";
import { AccountPath } from "../../components/account-path.tsx";
import { AskedState } from "../../components/asked-state.tsx";
import { Page } from "../../components/page.tsx";
import { PageBoundary } from "../../components/page-boundary.tsx";
import { useStatus } from "../../frame/status.ts";
import { ACCOUNT } from "../../i18n/account.ts";
import { ACCOUNT_SETTINGS } from "../../i18n/account-settings.ts";
import { ACCOUNTS } from "../../i18n/accounts.ts";
import { useWords } from "../../i18n/language.ts";
import { NotFound } from "../not-found.tsx";
import { OpenAccountContext } from "./account-context.ts";
import { KEPT_TABS, TABS } from "./tabs.ts";
import { Transfer } from "./transfer.tsx";

const ID = /^[1-9]\d{0,14}$/;

type Deleted = AccountWrites["deleted"];

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
  const [deleted, setDeleted] = useState<Deleted | null>(null);
  return (
    <AskedState asked={asked} rows={8}>
      {([account]) => (
        <AccountViewContext.Provider value={view}>
          {account === undefined ? (
            <Gone id={id} tab={tab} deleted={deleted} />
          ) : (
            <OpenAccountContext.Provider value={{ account, onDeleted: setDeleted }}>
              <There account={account} tab={tab} />
            </OpenAccountContext.Provider>
          )}
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
          <AccountPath me={me} account={account} hrefOf={pageOf} />
          <span className="about-line">
            {Alias !== "" && Alias !== Name && <span className="cut">{Alias}</span>}
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

/** An account that is no more: what it did is kept. `deleted`: what its deletion answered, where it was made on this page. */
function Gone(props: { readonly id: string; readonly tab: string; readonly deleted: Deleted | null }) {
  const { id, tab, deleted } = props;
  const words = useWords(ACCOUNT);
  const { deletion } = useWords(ACCOUNT_SETTINGS);
  const { toList } = useWords(ACCOUNTS);
  const names = TABS.map(({ name }) => name).filter((name) => KEPT_TABS.has(name));
  const open = names.find((name) => name === tab) ?? names[0];
  return (
    <Page
      title={deleted === null ? words.gone(id) : deletion.done(deleted.User.Name)}
      about={deleted === null ? words.goneAbout : <Refunded deleted={deleted} />}
      actions={
        <Button component={Link} href="/accounts" variant="default">
          {toList}
        </Button>
      }
    >
      {open !== undefined && (
        <>
          <TabLinks id={Number(id)} tab={open} names={names} />
          <OpenTab tab={open} names={names} />
        </>
      )}
    </Page>
  );
}

function Refunded({ deleted }: { readonly deleted: Deleted }) {
  const { deletion } = useWords(ACCOUNT_SETTINGS);
  const { RefundedBalance, TransactionFee } = deleted.User;
  return <span role="status">{deletion.doneAbout(usdText(RefundedBalance), usdText(TransactionFee))}</span>;
}

function TabLinks(props: { readonly id: number; readonly tab: string; readonly names: readonly string[] }) {
  const { id, tab, names } = props;
  const words = useWords(ACCOUNT);
  const strip = useRef<HTMLElement>(null);
  // The strip scrolls sideways where it is wider than the screen; the open tab is always in sight.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs for every new tab
  useEffect(() => {
    const open = strip.current?.querySelector("[aria-current]");
    open?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [tab]);
  return (
    <nav ref={strip} className="tab-links" aria-label={words.tabs}>
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
    <PageBoundary path={entry.name}>
      <Tab />
    </PageBoundary>
  );
}
