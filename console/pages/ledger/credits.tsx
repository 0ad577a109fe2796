// The credit of an account as coins: what it has, in the order in which it is spent, when each part expires unless it is used, and on
// a calendar.

import { Group, Stack, Text } from "@mantine/core";
import { useAccountGet, useAccountView } from "../../api/account-view.ts";
import { addNanos, type Nanos, NO_NANOS, subtractNanos, usdText } from "../../api/amount.ts";
import { coinsOf, type Pace } from "../../api/credits.ts";
import { GAUGE_MS } from "../../api/queries.ts";
import { isRoot } from "../../api/role.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { Empty } from "../../components/empty.tsx";
import { Section } from "../../components/section.tsx";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { LEDGER } from "../../i18n/ledger.ts";
import { ExpiryCalendar } from "./calendar.tsx";
import { CoinList } from "./coin-list.tsx";

/** Days whose pace the forecast takes. */
const PACE_DAYS = 7;

/** The credit of the account of the page. Root mints credit and has none; of a deleted account only the lines are left. */
export function Credits() {
  const words = useWords(LEDGER);
  const view = useAccountView();
  const me = useStatus();
  const hasCredit = !(isRoot(me) && view.user === null);
  const live = useAccountGet("live", {}, { everyMs: GAUGE_MS, enabled: hasCredit });
  const bill = useAccountGet("bill", { days: PACE_DAYS }, { enabled: hasCredit });
  const failure = live.error?.failure;
  const isGone = failure?.kind === "refused" && failure.code === "user_not_found";
  if (!hasCredit || isGone) return null;
  const pace: Pace | null =
    bill.data === undefined ? null : { spent: bill.data.total_credit_used, days: PACE_DAYS };
  return (
    <Section title={words.credits}>
      <AskedState asked={live} rows={4}>
        {({ balance: { total, held, credits } }) => {
          const now = Date.now();
          const sum = credits.map(({ amount }) => amount).reduce(addNanos, NO_NANOS);
          const coins = coinsOf(credits, pace, now);
          return (
            <Stack gap="xs">
              <BalanceLine total={total} held={held} owed={subtractNanos(sum, total)} />
              {coins.length === 0 ? (
                <Empty text={words.noCredit} />
              ) : (
                <div className="credits">
                  <CoinList
                    coins={coins}
                    nowMs={now}
                    pace={pace !== null && pace.spent > 0n ? pace.spent : null}
                  />
                  <ExpiryCalendar entries={credits} nowMs={now} />
                </div>
              )}
            </Stack>
          );
        }}
      </AskedState>
    </Section>
  );
}

/** The balance, what running requests hold of it, and what is owed. */
function BalanceLine(props: { readonly total: Nanos; readonly held: Nanos; readonly owed: Nanos }) {
  const { total, held, owed } = props;
  const words = useWords(LEDGER);
  const { user_api_balance: threshold } = useStatus();
  return (
    <Group gap="md" align="baseline">
      <Text size="xl" fw={600} className="figure">
        {usdText(total)} USD
      </Text>
      <Text size="sm" c="dimmed">
        {[
          held > 0n ? words.held(usdText(held)) : null,
          owed > 0n ? words.owed(usdText(owed)) : null,
          words.threshold(usdText(threshold)),
        ]
          .filter(Boolean)
          .join(" · ")}
      </Text>
    </Group>
  );
}
