// The headline figures of Home: balance, today, the last 30 days against those before, requests, how long it lasts, what expires.

import { useAccountGet, useAccountView } from "../../api/account-view.ts";
import {
  addNanos,
  countText,
  type Nanos,
  NO_NANOS,
  percentOf,
  subtractNanos,
  usdText,
} from "../../api/amount.ts";
import type { Answers } from "../../api/answers.ts";
import { creditEndOf } from "../../api/credits.ts";
import { DAY_MS } from "../../api/days.ts";
import { isRoot } from "../../api/role.ts";
import { Amount } from "../../components/amount.tsx";
import { Stat, Stats } from "../../components/stat.tsx";
import { useStatus } from "../../frame/status.ts";
import { HOME } from "../../i18n/home.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { dayBefore } from "./days.ts";

/** The answer that Home polls. */
export type Live = Answers["/dashboard/live"];

/** Days whose pace the forecast takes. */
const PACE_DAYS = 7;

/** The headline figures of an account. */
export function Headlines({ live }: { readonly live: Live }) {
  const words = useWords(HOME);
  const { noData } = useWords(SHELL);
  const view = useAccountView();
  // Root mints credit and has none: its balance is always 0.
  const hasCredit = !(isRoot(useStatus()) && view.user === null);
  const now = Date.now();
  const today = dayBefore(now, 0);
  const bill = useAccountGet("bill", { days: 30 });
  const before = useAccountGet("bill", { start: dayBefore(now, 59), end: dayBefore(now, 30) });
  const days = bill.data?.daily_costs ?? [];
  const costOf = (date: string): Nanos =>
    days.find((day) => day.date === date)?.total_credit_used ?? NO_NANOS;
  const spent = days
    .filter(({ date }) => date > dayBefore(now, PACE_DAYS))
    .map((day) => day.total_credit_used)
    .reduce(addNanos, NO_NANOS);
  const isKnown = bill.data !== undefined;
  return (
    <Stats>
      {hasCredit && <Balance live={live} />}
      <Stat
        label={words.today}
        detail={isKnown ? words.yesterday(usdText(costOf(dayBefore(now, 1)))) : undefined}
      >
        <Amount
          value={live.usage.today.cost}
          size="lg"
          to={`${view.base}/ledger?from=${today}&type=charge`}
        />
      </Stat>
      <Stat
        label={words.month}
        detail={<Change now={bill.data?.total_credit_used} before={before.data?.total_credit_used} />}
      >
        <Amount value={bill.data?.total_credit_used} size="lg" to={`${view.base}/usage`} />
      </Stat>
      <Stat
        label={words.requests}
        detail={bill.data && words.tokens(countText(bill.data.total_prompt + bill.data.total_completion))}
      >
        {isKnown ? countText(bill.data.total_requests) : noData}
      </Stat>
      {hasCredit && <Lasts live={live} spent={isKnown ? spent : undefined} now={now} />}
      {hasCredit && <Expiring live={live} now={now} />}
    </Stats>
  );
}

/** The credit, and what of it is held, or what requests need. */
function Balance({ live: { balance } }: { readonly live: Live }) {
  const words = useWords(HOME);
  const { user_api_balance: threshold } = useStatus();
  const { base } = useAccountView();
  const detail = balance.held > 0n ? words.held(usdText(balance.held)) : words.threshold(usdText(threshold));
  return (
    <Stat label={words.balance} detail={detail}>
      <Amount value={balance.total} size="lg" to={`${base}/ledger`} />
    </Stat>
  );
}

/** When the credit is spent at the pace of the last days, or expires; `spent` is undefined until that is known. */
function Lasts(props: { readonly live: Live; readonly spent: Nanos | undefined; readonly now: number }) {
  const { live, spent, now } = props;
  const words = useWords(HOME);
  const { noData } = useWords(SHELL);
  if (spent === undefined) return <Stat label={words.lasts}>{noData}</Stat>;
  const end = creditEndOf(live.balance.credits, { spent, days: PACE_DAYS }, now);
  if (end === null) return <Stat label={words.lasts}>{words.nothingLeft}</Stat>;
  const days = countText(end.daysLeft);
  return (
    <Stat label={words.lasts} detail={end.expires ? words.lastsExpiry(days) : words.lastsDays(days)}>
      {dayBefore(end.atMs, 0)}
    </Stat>
  );
}

/** The credit that expires soon. */
function Expiring({ live, now }: { readonly live: Live; readonly now: number }) {
  const words = useWords(HOME);
  const { base } = useAccountView();
  return (
    <Stat label={words.in7} detail={words.in30(usdText(expiringWithin(live, 30, now)))}>
      <Amount value={expiringWithin(live, 7, now)} size="lg" to={`${base}/ledger`} />
    </Stat>
  );
}

/** How the last 30 days differ from those before, in percent. */
function Change({ now, before }: { readonly now: Nanos | undefined; readonly before: Nanos | undefined }) {
  const words = useWords(HOME);
  if (now === undefined || before === undefined) return null;
  const change = percentOf(subtractNanos(now, before), before);
  if (change === null) return <>{words.noBefore}</>;
  return <>{words.before(change.startsWith("-") ? change : `+${change}`)}</>;
}

/** The credit that expires within so many days, if nothing is spent until then. */
const expiringWithin = (live: Live, days: number, nowMs: number): Nanos =>
  live.balance.credits
    .filter(({ expires_at }) => Date.parse(expires_at) <= nowMs + days * DAY_MS)
    .map(({ amount }) => amount)
    .reduce(addNanos, NO_NANOS);
