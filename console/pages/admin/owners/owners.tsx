// Root's Owners: what they have and spend, the way to a new one, and moving accounts between parents.

import { Anchor, Badge, Button, Stack } from "@mantine/core";
import { Link } from "wouter";
import { countText } from "../../../api/amount.ts";
import type { Answers } from "../../../api/answers.ts";
import { useGetList } from "../../../api/queries.ts";
import { Amount } from "../../../components/amount.tsx";
import { AskedState } from "../../../components/asked-state.tsx";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Empty } from "../../../components/empty.tsx";
import { Page } from "../../../components/page.tsx";
import { Pager } from "../../../components/pager.tsx";
import { Section } from "../../../components/section.tsx";
import { useUrlState } from "../../../components/url-state.ts";
import { useWords } from "../../../i18n/language.ts";
import { ROOT_PAGES } from "../../../i18n/root.ts";
import { SHELL } from "../../../i18n/shell.ts";
import { MoveAccount } from "./move-account.tsx";

const SIZE = 50;
const DEFAULTS = { page: "1", sort: "id", order: "asc" } as const;

type Owner = Answers["/x-users"][number];

/** The page of Owners. */
export default function Owners() {
  const { page: pages } = useWords(SHELL);
  const words = useWords(ROOT_PAGES).owners;
  const [{ page, sort, order }, change] = useUrlState<keyof typeof DEFAULTS>(DEFAULTS);
  const asked = useGetList("/x-users", { page, size: SIZE, sort, order, with: "children,month_cost" });
  return (
    <Page
      title={pages.owners}
      actions={
        <Button component={Link} href="/accounts/new?owner=true">
          {words.add}
        </Button>
      }
    >
      <Stack gap="sm">
        <AskedState asked={asked} rows={6}>
          {({ rows, total }) =>
            rows.length === 0 ? (
              <Empty text={words.empty} />
            ) : (
              <>
                <DataTable
                  caption={pages.owners}
                  columns={columnsOf(words)}
                  rows={rows}
                  keyOf={({ ID }) => ID}
                  sorting={{
                    by: sort,
                    order: order === "desc" ? "desc" : "asc",
                    change: (by, direction) => change({ sort: by, order: direction }),
                  }}
                />
                <Pager
                  list={{ page: Number(page), size: SIZE, total, has_more: Number(page) * SIZE < total }}
                  shown={rows.length}
                  onPage={(next) => change({ page: String(next) })}
                />
              </>
            )
          }
        </AskedState>
        <Section title={words.move}>
          <MoveAccount />
        </Section>
      </Stack>
    </Page>
  );
}

function columnsOf(words: (typeof ROOT_PAGES)["en"]["owners"]): readonly Column<Owner>[] {
  return [
    { key: "id", title: words.id, sort: "id", isFigure: true, cell: ({ ID }) => ID },
    {
      key: "name",
      title: words.name,
      sort: "name",
      cell: ({ ID, Name }) => (
        <Anchor component={Link} href={`/accounts/${ID}`} size="sm" className="cut" title={Name}>
          {Name}
        </Anchor>
      ),
    },
    { key: "email", title: words.email, isMinor: true, cell: ({ Email }) => Email },
    { key: "state", title: words.state, cell: (owner) => <State owner={owner} /> },
    {
      key: "children",
      title: words.children,
      isFigure: true,
      cell: ({ children }) => countText(children ?? 0),
    },
    {
      key: "month",
      title: words.month,
      sort: "month_cost",
      isFigure: true,
      cell: ({ ID, month_cost }) => <Amount value={month_cost} to={`/accounts/${ID}/usage`} />,
    },
    {
      key: "balance",
      title: words.balance,
      sort: "balance",
      isFigure: true,
      cell: ({ ID, Balance }) => <Amount value={Balance} to={`/accounts/${ID}/ledger`} />,
    },
  ];
}

function State({ owner }: { readonly owner: Owner }) {
  const words = useWords(ROOT_PAGES).owners;
  if (owner.Status && !owner.Suspended) return words.active;
  return (
    <Badge tt="none" color={owner.Status ? "yellow" : "red"} miw="max-content">
      {owner.Status ? words.suspended : words.disabled}
    </Badge>
  );
}
