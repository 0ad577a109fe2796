// DELETE /x-users/{identifier}: the account closes, settles, and gives its credit back; src/admin/delete-account.ts drives it.

import { actorRef } from "../../../actors/index.ts";
import { formatUsd, toUsd } from "../../../actors/money.ts";
import { deleteAccount, deletionBegunBy, finish } from "../../admin/delete-account.ts";
import type { ManagementCall } from "../management.ts";
import { findAccount } from "./account-lookup.ts";
import type { UsersParts } from "./users.ts";

/**
 * Deletes an account, with `recursive` all below it too. Resolves when that is over, which may take as long as the
 * account's requests in flight. Source: specification, `DELETE /x-users/{identifier}`.
 */
export async function deleteUser(
  parts: UsersParts,
  { caller, audit, command }: ManagementCall,
  identifier: string,
  recursive: boolean,
) {
  // A repeat whose first answer was lost: the account is being deleted, or gone, and no identifier finds it any more.
  const begun = await deletionBegunBy(parts.store, command.id);
  const profile =
    begun === null
      ? (await findAccount(parts, caller, identifier, "delete")).record.profile
      : (await parts.system.ask(actorRef.account(begun), "profile", {})).profile;
  audit.setTarget({ type: "user", id: profile.id, dna: profile.dna });
  const { name, refunded, fee } = await (begun === null
    ? deleteAccount(parts, { account: profile.id, by: caller.profile.id, recursive, command })
    : finish(parts, begun));
  const figures = { RefundedBalance: toUsd(refunded), TransactionFee: toUsd(fee) };
  audit.addChanges({ Name: name, ...figures });
  return {
    Action: "delete" as const,
    User: { ID: profile.id, Name: name, ...figures },
    message: `Account ${name} is deleted. ${formatUsd(refunded)} USD went back to its parent, the fee was ${formatUsd(fee)} USD.`,
  };
}
