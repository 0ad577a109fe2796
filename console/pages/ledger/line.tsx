// One line of a ledger: what it was for in a few words, and everything that it states.

import { Anchor, Stack } from "@mantine/core";
import { Link } from "wouter";
import { fullUsd } from "../../api/amount.ts";
import type { Answers } from "../../api/answers.ts";
import { isAllowed } from "../../api/role.ts";
import { Copy } from "../../components/copy.tsx";
import { Fact } from "../../components/fact.tsx";
import { Time } from "../../components/time.tsx";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { LEDGER } from "../../i18n/ledger.ts";

/** A line of a ledger. */
export type Line = Answers["/dashboard/ledger"]["lines"][number];

/** What a line was for, in a cell. */
export function AboutLine({ line }: { readonly line: Line }) {
  const words = useWords(LEDGER);
  const { type, to, from, model, api_key_name, tags, by, why } = line;
  const text = [
    model,
    api_key_name,
    ...Object.entries(tags ?? {}).map(([name, value]) => `${name}:${value}`),
    why && words.returned(why),
    by === undefined ? undefined : words.by(by),
  ]
    .filter((part) => part !== undefined && part !== "")
    .join(" · ");
  return (
    <>
      {to !== undefined && (
        <>
          {words.to} <AccountNumber id={to} isBelow={type === "transfer_out"} />
        </>
      )}
      {from !== undefined && from !== null && (
        <>
          {words.from} <AccountNumber id={from} isBelow={type === "refund"} />
        </>
      )}
      {text !== "" && (
        <span className="cut" title={text}>
          {text}
        </span>
      )}
    </>
  );
}

/** The number of the other account of a line, with a link where it is below: those above are out of reach. */
function AccountNumber({ id, isBelow }: { readonly id: number; readonly isBelow: boolean }) {
  const status = useStatus();
  if (!isBelow || !isAllowed(status, "manage")) return <>{id}</>;
  return (
    <Anchor component={Link} href={`/accounts/${id}`} inherit>
      {id}
    </Anchor>
  );
}

/** Everything that a line states, but for charges, whose requests have a sheet of their own. */
export function LineFacts({ line }: { readonly line: Line }) {
  const words = useWords(LEDGER);
  const { id, amount, balance_after, created_at, operation_id, before, after, request_id } = line;
  return (
    <Stack gap="sm">
      <Fact label={words.at}>
        <Time at={created_at} />
      </Fact>
      <Fact label={words.amount}>{fullUsd(amount)} USD</Fact>
      <Fact label={words.balanceAfter}>{fullUsd(balance_after)} USD</Fact>
      <Fact label={words.about}>
        <AboutLine line={line} />
      </Fact>
      {before !== undefined && <Fact label={words.before}>{figuresText(before)}</Fact>}
      {after !== undefined && <Fact label={words.after}>{figuresText(after)}</Fact>}
      {request_id != null && <Fact label={words.request}>{request_id}</Fact>}
      <Fact label={words.operation}>
        <span className="wraps">{operation_id ?? id}</span> <Copy text={operation_id ?? id} />
      </Fact>
    </Stack>
  );
}

/** What an adjustment changed, by the names of the account's fields. */
const figuresText = (figures: NonNullable<Line["before"]>): string =>
  Object.entries(figures)
    .map(([name, amount]) => `${name} ${fullUsd(amount)}`)
    .join(" · ");
