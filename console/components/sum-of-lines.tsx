// How many lines pass a filter and what they add up to: the service's own count and sum, asked when somebody wants them. Where a
// figure of a bill led here, it is compared with the sum, to the nano-dollar.

import { Badge, Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import { useAccountGet } from "../api/account-view.ts";
import {
  billionthsOf,
  countText,
  fullUsd,
  type Nanos,
  NO_NANOS,
  nanosOf,
  subtractNanos,
} from "../api/amount.ts";
import { failureOf } from "../api/failure.ts";
import type { LedgerFilter } from "../api/ledger-filter.ts";
import { useWords } from "../i18n/language.ts";
import { LINES } from "../i18n/lines.ts";
import { FailureNotice } from "./failure-notice.tsx";

/** Count and sum of the lines that pass. `proves`: what they should cost together, as a decimal; it is compared at once. */
export function SumOfLines(props: { readonly filter: Partial<LedgerFilter>; readonly proves?: string }) {
  const { filter, proves = "" } = props;
  const words = useWords(LINES);
  const name = JSON.stringify(filter);
  const [wanted, setWanted] = useState<string | null>(null);
  const isWanted = proves !== "" || wanted === name;
  const asked = useAccountGet(
    "ledger",
    { ...filter, size: 1, totals: "true" },
    { enabled: isWanted, everyMs: 0 },
  );
  if (!isWanted) {
    return (
      <Button variant="default" w="fit-content" onClick={() => setWanted(name)}>
        {words.countSum}
      </Button>
    );
  }
  if (asked.error !== null) return <FailureNotice failure={failureOf(asked.error)} />;
  if (asked.data === undefined || asked.isPlaceholderData) {
    return (
      <Text size="sm" c="dimmed" aria-busy="true">
        {words.adding}
      </Text>
    );
  }
  const { count, sum } = asked.data;
  if (typeof count !== "number" || typeof sum !== "bigint") return <Text size="sm">{words.tooMany}</Text>;
  const cost = billionthsOf(proves);
  return (
    <Group gap="xs" className="sum-of-lines" role="status">
      <Text size="sm" fw={600} className="figure">
        {words.lines(countText(count))} = {fullUsd(proves === "" ? sum : subtractNanos(NO_NANOS, sum))} USD
      </Text>
      {cost !== null && <Proof sum={sum} cost={nanosOf(cost)} />}
    </Group>
  );
}

/** Charges are negative in a ledger, costs are positive in a bill. */
function Proof({ sum, cost }: { readonly sum: Nanos; readonly cost: Nanos }) {
  const words = useWords(LINES);
  const isEqual = subtractNanos(NO_NANOS, sum) === cost;
  return (
    <>
      <Badge color={isEqual ? "arbor" : "red"} data-proof={isEqual}>
        {isEqual ? words.proved : words.notProved}
      </Badge>
      {!isEqual && <Text size="sm">{words.differs(fullUsd(cost))}</Text>}
    </>
  );
}
