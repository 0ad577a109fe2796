// What stands against an account at a glance: disabled, suspended, too little credit for requests.

import { Badge } from "@mantine/core";
import type { Account } from "../api/accounts.ts";
import { ACCOUNTS } from "../i18n/accounts.ts";
import { useWords } from "../i18n/language.ts";

/** The state of an account. `threshold`: requests need more than this, XCredit included (contract section 3). */
export function AccountBadges(props: {
  readonly account: Pick<Account, "Status" | "Suspended" | "Balance" | "XCredit" | "isOwner">;
  readonly threshold: bigint;
}) {
  const { account, threshold } = props;
  const words = useWords(ACCOUNTS);
  const isLow = account.Balance + account.XCredit <= threshold;
  return (
    <span className="badges">
      {!account.Status && (
        <Badge tt="none" color="red">
          {words.disabled}
        </Badge>
      )}
      {account.Suspended && (
        <Badge tt="none" color="red">
          {words.suspended}
        </Badge>
      )}
      {isLow && (
        <Badge tt="none" color="yellow">
          {words.low}
        </Badge>
      )}
      {account.isOwner && (
        <Badge tt="none" color="gray">
          {words.owner}
        </Badge>
      )}
    </span>
  );
}
