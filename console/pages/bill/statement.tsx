// The statement of one account over a period, to print or to send: what it used itself by model and by day, what the accounts below it
// used, and what that comes to. Every figure is the service's own.

import { Button, Stack, Table, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link, useParams } from "wouter";
import { type Account, dnaBelow, useAccount } from "../../api/accounts.ts";
import { addNanos, type NO_NANOS } from "../../api/amount.ts";
import { useGet } from "../../api/queries.ts";
import { Amount } from "../../components/amount.tsx";
import { AskedState } from "../../components/asked-state.tsx";
import { Download } from "../../components/download.tsx";
import { Empty } from "../../components/empty.tsx";
import { Page } from "../../components/page.tsx";
import { utcText } from "../../components/time.tsx";
import { useUrlState } from "../../components/url-state.ts";
import { useStatus } from "../../frame/status.ts";
import { BILL } from "../../i18n/bill.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { USAGE } from "../../i18n/usage.ts";
import { NotFound } from "../not-found.tsx";
import { BillPeriod } from "./bill-period.tsx";
import { type BillDays, billDaysOf, levelAddress, PERIOD_VIEW } from "./bill-view.ts";
import { AccountsTable, DaysTable, ModelsTable } from "./statement-tables.tsx";

const ID = /^[1-9]\d{0,14}$/;

/** The page of a statement. */
export default function Statement() {
  const { id = "" } = useParams<{ id: string }>();
  return ID.test(id) ? <StatementOf key={id} id={Number(id)} /> : <NotFound />;
}

function StatementOf({ id }: { readonly id: number }) {
  const words = useWords(BILL);
  const { print } = useWords(SHELL);
  const { chooseDays } = useWords(USAGE);
  const [view, change] = useUrlState(PERIOD_VIEW);
  const found = useAccount(id);
  const days = billDaysOf(view, Date.now());
  return (
    <AskedState asked={found} rows={10}>
      {([account]) => (
        <Page
          title={account?.Name ?? words.accountOf(id)}
          about={words.statement}
          actions={
            <>
              <Button component={Link} href={levelAddress(view, account?.ParentID ?? null)} variant="default">
                {words.toLevel}
              </Button>
              <Button onClick={() => window.print()}>{print}</Button>
            </>
          }
        >
          <BillPeriod view={view} change={change} />
          {days === null ? (
            <Empty text={chooseDays} />
          ) : (
            <Sheet key={`${days.from} ${days.to}`} id={id} account={account ?? null} days={days} />
          )}
        </Page>
      )}
    </AskedState>
  );
}

interface SheetProps {
  readonly id: number;
  /** null: the account is deleted; its usage is kept. */
  readonly account: Account | null;
  readonly days: BillDays;
}

function Sheet({ id, account, days }: SheetProps) {
  const { csv } = useWords(USAGE);
  const query = { ...days.query, user: id };
  const own = useGet("/x-bill", query, { everyMs: 0 });
  const below = useGet(
    "/x-bill",
    { ...days.query, user: account === null ? undefined : dnaBelow(account.DNA, id) },
    { everyMs: 0, enabled: account !== null },
  );
  return (
    <Stack gap="md" className="statement">
      <Heading id={id} account={account} days={days} />
      <AskedState asked={own} rows={8}>
        {(bill) => (
          <>
            <ModelsTable bill={bill} />
            <DaysTable bill={bill} id={id} />
            {account !== null && (
              <AskedState asked={below}>
                {(under) =>
                  under.usage_users.length > 0 && (
                    <>
                      <AccountsTable bill={under} />
                      <Sum own={bill.total_credit_used} below={under.total_credit_used} />
                    </>
                  )
                }
              </AskedState>
            )}
          </>
        )}
      </AskedState>
      <Download
        path="/x-bill"
        query={{ ...query, format: "csv" }}
        name={`statement-${id}-${days.from}-${days.to}.csv`}
        label={csv}
      />
    </Stack>
  );
}

/** Whose statement it is, over which days, and who issues it when. */
function Heading({ id, account, days }: SheetProps) {
  const words = useWords(BILL);
  const me = useStatus();
  const rows: readonly (readonly [string, ReactNode])[] = [
    [words.for, account === null ? words.accountOf(id) : `${account.Name} · ${account.Email}`],
    [words.number, account === null ? id : `${id} · ${account.DNA}`],
    [words.days, words.fromTo(days.from, days.to)],
    [words.issued, `${me.name} · ${utcText(Date.now(), true)} UTC`],
  ];
  return (
    <Table variant="vertical" layout="fixed" verticalSpacing={3} fz="sm" maw={620}>
      <Table.Tbody>
        {rows.map(([label, value]) => (
          <Table.Tr key={label}>
            <Table.Th w={130}>{label}</Table.Th>
            <Table.Td className="wraps">{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Sum({ own, below }: { readonly own: typeof NO_NANOS; readonly below: typeof NO_NANOS }) {
  const words = useWords(BILL);
  const rows = [
    [words.own, own],
    [words.below, below],
    [words.together, addNanos(own, below)],
  ] as const;
  return (
    <div className="statement-sum">
      {rows.map(([label, amount], at) => (
        <div key={label} className="figure-line figure-cell">
          <Text size="sm" fw={at === 2 ? 600 : 400}>
            {label}
          </Text>
          <Amount value={amount} />
        </div>
      ))}
    </div>
  );
}
