// Usage of an account in a period: what it cost by day or hour, and by model, API key or tag, with the service's own totals. Every
// amount leads to its ledger lines. A bill that has a fee is asked for by a button that says so.

import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { questionAbout, useAccountView } from "../../api/account-view.ts";
import { NO_NANOS, usdText } from "../../api/amount.ts";
import { isRoot } from "../../api/role.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { Download } from "../../components/download.tsx";
import { Empty } from "../../components/empty.tsx";
import { Page } from "../../components/page.tsx";
import { useUrlState } from "../../components/url-state.ts";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { USAGE } from "../../i18n/usage.ts";
import { useBill } from "./bill.ts";
import { BillReport } from "./bill-report.tsx";
import { feeOf, type Period, periodOf } from "./period.ts";
import { UsageFilters } from "./usage-filters.tsx";
import { GROUPINGS, type Grouping } from "./usage-rows.ts";
import { USAGE_VIEW } from "./view.ts";

const TAG_NAME = /^[a-z0-9_.-]{1,32}$/;

/** The page of an account's usage. */
export default function Usage() {
  const { page } = useWords(SHELL);
  const words = useWords(USAGE);
  const [view, change] = useUrlState(USAGE_VIEW);
  const period = periodOf(view.period, view, Date.now());
  const group = GROUPINGS.find((one) => one === view.group) ?? "model";
  const isByTag = group === "tag";
  return (
    <Page title={page.usage}>
      <UsageFilters view={view} change={change} />
      {period === null ? (
        <Empty text={words.chooseDays} />
      ) : isByTag && !TAG_NAME.test(view.tag) ? (
        <Empty text={words.chooseTag} />
      ) : (
        <BillOfPeriod period={period} grouping={isByTag ? `tag:${view.tag}` : group} />
      )}
    </Page>
  );
}

function BillOfPeriod({ period, grouping }: { readonly period: Period; readonly grouping: Grouping }) {
  const words = useWords(USAGE);
  const shell = useWords(SHELL);
  const view = useAccountView();
  const me = useStatus();
  const fee = feeOf(period, view.user !== null || isRoot(me));
  // Days and hours stand in every bill.
  const query = grouping === "time" ? period.query : { ...period.query, group: grouping };
  const asked = useBill(query, fee === NO_NANOS);
  const csv = questionAbout(view, "bill", { ...query, format: "csv" });
  const price = `${usdText(fee)} USD`;
  const isUnasked = fee > 0n && asked.data === undefined && asked.error === null && !asked.isFetching;
  return (
    <Stack gap="sm">
      {fee > 0n && (
        <Alert color="yellow" title={words.hasFee(price)} role="status" className="no-print">
          <Text size="sm">{words.feeRule}</Text>
          <Group gap="xs" mt="xs">
            <Button onClick={() => void asked.refetch()} loading={asked.isFetching}>
              {asked.data === undefined ? words.askFor(price) : words.askAgain(price)}
            </Button>
            {asked.data !== undefined && (
              <Text size="sm">{words.paid(usdText(asked.data.query_fee ?? NO_NANOS))}</Text>
            )}
          </Group>
        </Alert>
      )}
      {!isUnasked && (
        <AskedState asked={asked} rows={12} hasFee={fee > 0n}>
          {(bill) => <BillReport bill={bill} period={period} grouping={grouping} />}
        </AskedState>
      )}
      <Group gap="xs" align="flex-start">
        <Download
          path={csv.path}
          query={csv.query}
          name={`usage-${view.user ?? me.id}-${period.days?.from ?? "hours"}.csv`}
          label={fee > 0n ? words.csvFor(price) : words.csv}
          hasFee={fee > 0n}
        />
        <Button variant="default" onClick={() => window.print()}>
          {shell.print}
        </Button>
      </Group>
    </Stack>
  );
}
