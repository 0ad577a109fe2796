// The columns of the table of accounts. A name is a text in a cell of bounded width, whatever is in it.

import { ActionIcon, Anchor, Text } from "@mantine/core";
import { Link } from "wouter";
import type { Account } from "../../api/accounts.ts";
import { countText } from "../../api/amount.ts";
import { AccountBadges } from "../../components/account-badges.tsx";
import { Amount } from "../../components/amount.tsx";
import type { Column } from "../../components/data-table.tsx";
import { ACCOUNTS } from "../../i18n/accounts.ts";
import { useWords } from "../../i18n/language.ts";
import type { AccountRow } from "./account-rows.ts";

type Words = (typeof ACCOUNTS)["en"];

/** What the columns need besides the rows. */
export interface ColumnContext {
  readonly words: Words;
  readonly threshold: bigint;
  /** The first day of this month in UTC. */
  readonly monthStart: string;
  /** Rows of a search show where they are instead of their subaccounts. */
  readonly isSearch: boolean;
  readonly toggle: (id: number) => void;
  readonly listOf: (id: number) => string;
}

/** Returns the columns of the table. */
export function accountColumns(context: ColumnContext): readonly Column<AccountRow>[] {
  const { words, threshold, monthStart, isSearch, toggle, listOf } = context;
  const ofAccount =
    (cell: (account: Account) => React.ReactNode) =>
    (row: AccountRow): React.ReactNode =>
      row.kind === "account" ? cell(row.account) : null;
  const name: Column<AccountRow> = {
    key: "name",
    title: words.name,
    sort: "name",
    cell: (row) => <NameCell row={row} {...{ threshold, isSearch, toggle, listOf }} />,
  };
  const id: Column<AccountRow> = {
    key: "id",
    title: words.id,
    sort: "id",
    isFigure: true,
    isMinor: true,
    cell: ofAccount(({ ID }) => ID),
  };
  const rest: readonly Column<AccountRow>[] = [
    {
      key: "email",
      title: words.email,
      isMinor: true,
      cell: ofAccount(({ Email }) => (
        <Text span size="sm" className="cut" title={Email}>
          {Email}
        </Text>
      )),
    },
    {
      key: "place",
      title: words.place,
      isMinor: true,
      cell: ofAccount(({ Level, Gear, Role, Tier, Factor }) => (
        <Text span size="sm" c="dimmed" className="figure">
          {`L${Level} G${Gear} R${Role} T${Tier} F${Factor}`}
        </Text>
      )),
    },
  ];
  const balance: Column<AccountRow> = {
    key: "balance",
    title: words.balance,
    sort: "balance",
    isFigure: true,
    cell: ofAccount(({ ID, Balance }) => <Amount value={Balance} to={`/accounts/${ID}/ledger`} />),
  };
  if (isSearch) {
    const path: Column<AccountRow> = {
      key: "path",
      title: words.path,
      isMinor: true,
      cell: ofAccount(({ DNA }) => DNA),
    };
    return [name, id, ...rest, path, balance];
  }
  return [
    name,
    id,
    ...rest,
    {
      key: "children",
      title: words.children,
      isFigure: true,
      isMinor: true,
      cell: ofAccount(({ ID, children }) =>
        children === undefined || children === 0 ? (
          (children ?? null)
        ) : (
          <Anchor component={Link} href={listOf(ID)} size="sm">
            {countText(children)}
          </Anchor>
        ),
      ),
    },
    {
      key: "month_cost",
      title: words.monthCost,
      sort: "month_cost",
      isFigure: true,
      isMinor: true,
      cell: ofAccount(({ ID, month_cost }) => (
        <Amount value={month_cost} to={`/accounts/${ID}/ledger?from=${monthStart}&type=charge`} />
      )),
    },
    balance,
  ];
}

function NameCell(
  props: { readonly row: AccountRow } & Pick<ColumnContext, "threshold" | "isSearch" | "toggle" | "listOf">,
) {
  const { row, threshold, isSearch, toggle, listOf } = props;
  const words = useWords(ACCOUNTS);
  const indent = { paddingInlineStart: row.depth * 18 };
  if (row.kind === "more") {
    return (
      <span className="name-cell" style={indent}>
        <Anchor component={Link} href={listOf(row.parent.ID)} size="sm">
          {words.more(countText(row.hidden))}
        </Anchor>
      </span>
    );
  }
  const { account, isOpen } = row;
  const { ID, Name, Alias, children = 0 } = account;
  return (
    <span className="name-cell" style={indent}>
      {!isSearch &&
        (children > 0 ? (
          <ActionIcon
            size={18}
            onClick={() => toggle(ID)}
            aria-expanded={isOpen}
            aria-label={isOpen ? words.close(Name) : words.open(Name)}
          >
            {isOpen ? "▾" : "▸"}
          </ActionIcon>
        ) : (
          <span className="no-toggle" />
        ))}
      <Anchor
        component={Link}
        href={`/accounts/${ID}`}
        size="sm"
        className="cut"
        title={Alias ? `${Name} · ${Alias}` : Name}
      >
        {Name}
      </Anchor>
      <AccountBadges account={account} threshold={threshold} />
    </span>
  );
}
