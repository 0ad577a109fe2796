// What a request was charged, held against what was quoted before.

import { Anchor, Group, Stack, Text } from "@mantine/core";
import { Link } from "wouter";
import { countText, type Nanos, NO_NANOS, subtractNanos } from "../../api/amount.ts";
import { linesAddress } from "../../api/ledger-filter.ts";
import { useGet } from "../../api/queries.ts";
import { isAllowed } from "../../api/role.ts";
import { Amount } from "../../components/amount.tsx";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { PLAYGROUND } from "../../i18n/playground.ts";
import { SHELL } from "../../i18n/shell.ts";
import { type Exchange, verdictOf } from "./conversation.ts";
import { QuoteBar } from "./quote-bar.tsx";

/** A line of the ledger can be found by its request at most so long after its charge; see contract section 8. */
const TRAILS_MS = 8_000;
const LOOK_MS = 1_000;

/**
 * The charge of an exchange: as its stream stated it, or as the ledger has it, where the stream was stopped or broke off. Undefined:
 * it is not known yet; null: there is none.
 */
function useCharge({ id, cost, endedAt, failure }: Exchange): Nanos | null | undefined {
  const canRead = isAllowed(useStatus(), "read");
  const wasRefused = failure?.kind === "refused" && failure.status >= 400;
  const isOpen = cost === null && endedAt !== null && !wasRefused && canRead;
  const isLate = endedAt !== null && Date.now() - endedAt > TRAILS_MS;
  const asked = useGet(
    "/dashboard/ledger",
    { request: id, size: 10 },
    { enabled: isOpen, everyMs: isLate ? 0 : LOOK_MS },
  );
  // Each look renders again, also one that finds nothing new.
  const looked = asked.dataUpdatedAt > 0;
  if (cost !== null) return cost;
  if (wasRefused) return null;
  const line = isOpen && !asked.isPlaceholderData ? asked.data?.lines.find(({ basis }) => basis) : undefined;
  if (line !== undefined) return subtractNanos(NO_NANOS, line.amount);
  return isOpen && looked && isLate ? null : undefined;
}

/** The charge of an exchange that has ended, and whether it is inside its quote. */
export function Truth({ exchange }: { readonly exchange: Exchange }) {
  const { id, quote, usage } = exchange;
  const words = useWords(PLAYGROUND);
  const { noData } = useWords(SHELL);
  const canRead = isAllowed(useStatus(), "read");
  const charge = useCharge(exchange);
  if (charge === undefined) {
    return (
      <Text size="xs" c="dimmed" role="status">
        {canRead ? words.looking : noData}
      </Text>
    );
  }
  if (charge === null) {
    return (
      <Text size="xs" c="dimmed" role="status">
        {words.free}
      </Text>
    );
  }
  const verdict = quote?.admitted ? verdictOf(charge, quote.cost) : null;
  return (
    <Stack gap={2} className="truth" role="status" data-verdict={verdict ?? undefined}>
      {quote?.admitted && <QuoteBar quote={quote} cost={charge} />}
      <Group gap="xs">
        <Text size="xs" component="div">
          {words.charged}{" "}
          <Amount value={charge} {...(canRead ? { to: linesAddress("", { request: id }) } : {})} /> USD
        </Text>
        {verdict !== null && (
          <Text
            size="xs"
            fw={600}
            c={verdict === "above" ? "var(--console-negative)" : "var(--console-positive)"}
          >
            {words.verdicts[verdict]}
          </Text>
        )}
        {usage !== null && (
          <Text size="xs" c="dimmed" className="figure">
            {words.used(countText(usage.prompt), countText(usage.completion))}
          </Text>
        )}
        {canRead && (
          <Anchor component={Link} href={`/requests?open=${id}`} size="xs">
            {words.why}
          </Anchor>
        )}
      </Group>
    </Stack>
  );
}
