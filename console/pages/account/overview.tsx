// The overview of an account: what Home shows of the own one, and what its record says.

import { Anchor, SimpleGrid, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useAccountGet } from "../../api/account-view.ts";
import { countText } from "../../api/amount.ts";
import { GAUGE_MS, useGetList } from "../../api/queries.ts";
import { Amount } from "../../components/amount.tsx";
import { AskedState } from "../../components/asked-state.tsx";
import { Section } from "../../components/section.tsx";
import { Time } from "../../components/time.tsx";
import { ACCOUNT } from "../../i18n/account.ts";
import { useWords } from "../../i18n/language.ts";
import { Headlines } from "../home/headlines.tsx";
import { LimitGauges } from "../home/limit-gauges.tsx";
import { StateBanner } from "../home/state-banner.tsx";
import { useAccountRecord } from "./account-context.ts";

/** The first tab of an account. */
export default function Overview() {
  const live = useAccountGet("live", {}, { everyMs: GAUGE_MS });
  return (
    <AskedState asked={live} rows={8}>
      {(figures) => (
        <Stack gap="sm">
          <StateBanner live={figures} />
          <Headlines live={figures} />
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
            <LimitGauges live={figures} />
            <Facts />
          </SimpleGrid>
        </Stack>
      )}
    </AskedState>
  );
}

function Facts() {
  const words = useWords(ACCOUNT);
  const account = useAccountRecord();
  const { ID, Email, DNA, Level, Gear, Role, Tier, Factor, Rates, CreditUsed, ChargeAmount } = account;
  const below = useGetList("/x-users", { parent: ID, page: 1, size: 1 });
  const rows: readonly (readonly [string, ReactNode])[] = [
    ["ID", ID],
    ["Email", Email],
    ["DNA", DNA],
    ["Level · Gear · Role · Tier", `${Level} · ${Gear} · ${Role} · ${Tier}`],
    ["Rates × Factor", `${Rates} × ${Factor}`],
    [
      words.subaccounts,
      below.data === undefined ? (
        "…"
      ) : (
        <Anchor key="below" component={Link} href={`/accounts?parent=${ID}`} size="sm">
          {countText(below.data.total)}
        </Anchor>
      ),
    ],
    [words.lifetime, <Amount key="used" value={CreditUsed} to={`/accounts/${ID}/ledger?type=charge`} />],
    [words.granted, <Amount key="charged" value={ChargeAmount} to={`/accounts/${ID}/ledger`} />],
    [words.created, <Time key="created" at={account.CreatedAt} isShort />],
    [words.updated, <Time key="updated" at={account.UpdatedAt} isShort />],
  ];
  return (
    <Section title={words.facts}>
      <dl className="facts">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
