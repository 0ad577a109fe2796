// The bill of everything below an account: who cost how much, level by level or account by account, with shares of the service's own
// total. Each amount leads on: to the level below, to ledger lines, to a statement.

import { Button, SegmentedControl, Stack, Text } from "@mantine/core";
import { type Account, dnaBelow, useAccount } from "../../api/accounts.ts";
import { countText } from "../../api/amount.ts";
import { useGet } from "../../api/queries.ts";
import { AccountPath } from "../../components/account-path.tsx";
import { Amount } from "../../components/amount.tsx";
import { AskedState } from "../../components/asked-state.tsx";
import { Download } from "../../components/download.tsx";
import { Empty } from "../../components/empty.tsx";
import { Page } from "../../components/page.tsx";
import { Stat, Stats } from "../../components/stat.tsx";
import { useUrlState } from "../../components/url-state.ts";
import { useStatus } from "../../frame/status.ts";
import { ACCOUNTS } from "../../i18n/accounts.ts";
import { BILL } from "../../i18n/bill.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { USAGE } from "../../i18n/usage.ts";
import { AccountRanking } from "./account-ranking.tsx";
import { BillPeriod } from "./bill-period.tsx";
import {
  BILL_VIEW,
  type BillDays,
  type BillView,
  billDaysOf,
  type ChangeBill,
  levelAddress,
} from "./bill-view.ts";
import { BranchRanking } from "./branch-ranking.tsx";
import type { SubtreeBill } from "./branches.ts";

/** The page of the bill. */
export default function Bill() {
  const { page } = useWords(SHELL);
  const accounts = useWords(ACCOUNTS);
  const usage = useWords(USAGE);
  const words = useWords(BILL);
  const me = useStatus();
  const [view, change] = useUrlState(BILL_VIEW);
  const id = Number(view.of);
  const of = Number.isSafeInteger(id) && id > 0 && id !== me.id ? id : null;
  const found = useAccount(of);
  const top = of === null ? null : (found.data?.[0] ?? null);
  const isGone = of !== null && found.data?.length === 0;
  const days = billDaysOf(view, Date.now());
  return (
    <Page
      title={page.bill}
      about={<AccountPath me={me} account={top} hrefOf={(one) => levelAddress(view, one)} />}
      actions={
        <Button variant="default" onClick={() => window.print()}>
          {words.print}
        </Button>
      }
    >
      <BillPeriod view={view} change={change}>
        <SegmentedControl
          value={view.by === "account" ? "account" : "branch"}
          onChange={(by) => change({ by })}
          aria-label={words.by}
          data={[
            { value: "branch", label: words.byBranch },
            { value: "account", label: words.byAccount },
          ]}
        />
      </BillPeriod>
      {isGone ? (
        <Empty text={accounts.unknown} />
      ) : days === null ? (
        <Empty text={usage.chooseDays} />
      ) : of !== null && top === null ? (
        <AskedState asked={found} rows={8}>
          {() => null}
        </AskedState>
      ) : (
        <BillBelow key={`${of} ${days.from} ${days.to}`} top={top} days={days} view={view} change={change} />
      )}
    </Page>
  );
}

function BillBelow(props: {
  readonly top: Account | null;
  readonly days: BillDays;
  readonly view: BillView;
  readonly change: ChangeBill;
}) {
  const { top, days, view, change } = props;
  const words = useWords(BILL);
  const { csv } = useWords(USAGE);
  const whose = top === null ? {} : { user: dnaBelow(top.DNA, top.ID) };
  const query = { ...days.query, ...whose };
  const asked = useGet("/x-bill", query, { everyMs: 0 });
  return (
    <AskedState asked={asked} rows={10}>
      {(bill) => (
        <Stack gap="sm" className="bill">
          <Text size="xs" c="dimmed">
            {words.about(days.from, days.to)}
          </Text>
          <Totals bill={bill} />
          {view.by === "account" ? (
            <AccountRanking bill={bill} days={days} view={view} change={change} />
          ) : (
            <BranchRanking bill={bill} days={days} top={top} view={view} change={change} />
          )}
          <Download
            path="/x-bill"
            query={{ ...query, format: "csv" }}
            name={`bill-${top?.ID ?? "all"}-${days.from}-${days.to}.csv`}
            label={csv}
          />
        </Stack>
      )}
    </AskedState>
  );
}

function Totals({ bill }: { readonly bill: SubtreeBill }) {
  const words = useWords(BILL);
  return (
    <Stats>
      <Stat label={words.cost}>
        <Amount value={bill.total_credit_used} size="lg" />
      </Stat>
      <Stat label={words.requests}>{countText(bill.total_requests)}</Stat>
      <Stat label={words.input}>{countText(bill.total_prompt)}</Stat>
      <Stat label={words.output}>{countText(bill.total_completion)}</Stat>
      <Stat label={words.accounts}>{countText(bill.usage_users.length)}</Stat>
    </Stats>
  );
}
