// Both sides of a transfer before it is made, side by side: balances, the lines of both ledgers to come, and how long the account's
// new balance lasts.

import { SimpleGrid, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { useAccountGet } from "../../api/account-view.ts";
import type { Account } from "../../api/accounts.ts";
import { countText } from "../../api/amount.ts";
import { type CreditEntry, creditEndOf } from "../../api/credits.ts";
import { Amount } from "../../components/amount.tsx";
import { ACCOUNT } from "../../i18n/account.ts";
import { useWords } from "../../i18n/language.ts";
import type { TransferPlan, TransferSide } from "./transfer-plan.ts";

/** Days whose pace the forecast takes. */
const PACE_DAYS = 7;

/** The plan of a transfer, where credit comes from first; `above` is the name of the account above. */
export function TransferTable(props: {
  readonly plan: TransferPlan;
  readonly kind: "give" | "take";
  readonly account: Account;
  readonly above: string;
  /** The credit of the account afterwards; null while it is not known. */
  readonly credit: readonly CreditEntry[] | null;
}) {
  const { plan, kind, account, above, credit } = props;
  const outside = useWords(ACCOUNT).transfer[kind === "give" ? "minted" : "unmade"];
  const upper = <Side key="above" name={above} side={plan.above} outside={outside} />;
  const lower = <Side key="account" name={account.Name} side={plan.account} outside={outside} />;
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        {kind === "give" ? [upper, lower] : [lower, upper]}
      </SimpleGrid>
      {credit !== null && <Lasts credit={credit} />}
    </>
  );
}

/** One side; null: Root, where credit is made or ends, as `outside` says. */
function Side(props: {
  readonly name: string;
  readonly side: TransferSide | null;
  readonly outside: string;
}) {
  const { name, side, outside } = props;
  const words = useWords(ACCOUNT).transfer;
  return (
    <section className="transfer-side" aria-label={name}>
      <Text size="sm" fw={600} className="cut" title={name}>
        {name}
      </Text>
      {side === null ? (
        <Text size="sm" c="dimmed">
          {outside}
        </Text>
      ) : (
        <>
          <SideLine label={words.before} value={<Amount value={side.before} />} />
          <SideLine label={words.change} value={<Amount value={side.change} isSigned />} />
          <SideLine label={words.after} value={<Amount value={side.after} />} />
          <Text size="xs" c="dimmed">
            {words.line} {side.line}
            {side.expires !== null && `, ${words.expires(side.expires)}`}
          </Text>
        </>
      )}
    </section>
  );
}

const SideLine = ({ label, value }: { readonly label: string; readonly value: ReactNode }) => (
  <div className="figure-line figure-cell">
    <Text size="sm" c="dimmed">
      {label}
    </Text>
    {value}
  </div>
);

/** For how many days the account's credit lasts then, at the pace of the last days. */
function Lasts({ credit }: { readonly credit: readonly CreditEntry[] }) {
  const words = useWords(ACCOUNT).transfer;
  const bill = useAccountGet("bill", { days: PACE_DAYS });
  if (bill.data === undefined) return null;
  const spent = bill.data.total_credit_used;
  if (spent <= 0n) return <Text size="sm">{words.noPace}</Text>;
  const end = creditEndOf(credit, { spent, days: PACE_DAYS }, Date.now());
  if (end === null) return <Text size="sm">{words.nothingLeft}</Text>;
  const days = countText(end.daysLeft);
  return <Text size="sm">{end.expires ? words.lastsExpires(days) : words.lasts(days)}</Text>;
}
