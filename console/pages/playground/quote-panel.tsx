// What the next request may cost and what it will hold, before it is sent; and what the account has while it runs.

import { Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { countText, type Nanos, usdText } from "../../api/amount.ts";
import type { Quote } from "../../api/answers.ts";
import type { Failure } from "../../api/failure.ts";
import { GAUGE_MS, useGet } from "../../api/queries.ts";
import { isAllowed, isRoot } from "../../api/role.ts";
import { FailureNotice } from "../../components/failure-notice.tsx";
import { Section } from "../../components/section.tsx";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { PLAYGROUND } from "../../i18n/playground.ts";
import type { Exchange } from "./conversation.ts";
import { QuoteBar } from "./quote-bar.tsx";

/**
 * The balance of the account and what running requests hold of it; undefined where the key may not read it, and for Root, which has
 * none.
 */
export function useBalance(): { readonly total: Nanos; readonly held: Nanos } | undefined {
  const status = useStatus();
  const enabled = isAllowed(status, "read") && !isRoot(status);
  return useGet("/dashboard/live", {}, { everyMs: GAUGE_MS, enabled }).data?.balance;
}

function Line({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div className="figure-line">
      <Text size="sm" c="dimmed" span>
        {label}
      </Text>
      <Text size="sm" span className="figure">
        {children}
      </Text>
    </div>
  );
}

/** The balance now, what is held, and the balance before the latest request. */
export function BalancePanel(props: {
  readonly balance: { readonly total: Nanos; readonly held: Nanos };
  readonly before: Nanos | null;
}) {
  const { balance, before } = props;
  const words = useWords(PLAYGROUND);
  return (
    <Section title={words.balance}>
      <Stack gap={4}>
        {before !== null && <Line label={words.before}>{usdText(before)}</Line>}
        <Line label={words.now}>{usdText(balance.total)}</Line>
        <Line label={words.held}>{usdText(balance.held)}</Line>
      </Stack>
    </Section>
  );
}

/** The quote of what is typed, or of the latest request while nothing is. */
export function QuotePanel(props: {
  readonly quote: Quote | null;
  readonly failure: Failure | null;
  /** The exchange that was quoted; null: it is what is typed. */
  readonly of: Exchange | null;
  /** Whether it is no quote of an earlier text. */
  readonly isCurrent: boolean;
}) {
  const { quote, failure, of, isCurrent } = props;
  const words = useWords(PLAYGROUND);
  return (
    <Section title={of === null ? words.quote : words.quoteBefore}>
      {failure !== null ? (
        <FailureNotice failure={failure} />
      ) : quote === null ? (
        <Text size="sm" c="dimmed">
          {words.noQuote}
        </Text>
      ) : (
        <Stack gap={4} className="quote" data-current={isCurrent} opacity={isCurrent ? 1 : 0.6}>
          <QuoteFigures quote={quote} charge={of?.cost ?? null} />
        </Stack>
      )}
    </Section>
  );
}

function QuoteFigures({ quote, charge }: { readonly quote: Quote; readonly charge: Nanos | null }) {
  const words = useWords(PLAYGROUND);
  const { refusal, cost, hold, estimated, model, level, multipliers } = quote;
  if (refusal !== null) {
    const failure: Failure = {
      ...{ kind: "refused", status: 200, ...refusal, requestId: null, retryAfterS: null },
    };
    return <FailureNotice failure={failure} />;
  }
  return (
    <>
      <QuoteBar quote={quote} cost={charge} />
      <Line label={words.least}>{usdText(cost.min)}</Line>
      <Line label={words.most}>{usdText(cost.max)}</Line>
      <Line label={words.hold}>{usdText(hold)}</Line>
      <Line label={words.tokensIn}>{countText(estimated.prompt_tokens)}</Line>
      <Line label={words.tokensOut}>{countText(estimated.max_completion_tokens)}</Line>
      {level !== null && <Line label={words.goesTo}>{words.place(model ?? "", level)}</Line>}
      {multipliers !== null && (
        <Line label={words.multipliers}>
          {countText(multipliers.model)} × {countText(multipliers.rates)} × {countText(multipliers.factor)}
        </Line>
      )}
      <Text size="xs" c="dimmed">
        {words.holdHint}
      </Text>
    </>
  );
}
