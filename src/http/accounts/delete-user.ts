// DELETE /x-users/{identifier}: the account closes, settles, and gives its credit back; src/admin/delete-account.ts drives it.

import { Type } from "@sinclair/typebox";
import { actorRef } from "../../../actors/index.ts";
import { formatUsd, toUsd } from "../../../actors/money.ts";
import { deleteAccount, deletionBegunBy, finish } from "../../admin/delete-account.ts";
import { answer, endpoint } from "../endpoint.ts";
import { findAccount } from "./account-lookup.ts";
import type { UsersParts } from "./users.ts";

const Query = Type.Object(
  {
    recursive: Type.Optional(
      Type.Union([Type.Literal("true"), Type.Literal("false")], { description: "must be true or false" }),
    ),
  },
  { additionalProperties: false },
);

/** spec: DELETE /x-users/{identifier}. Answers when it is over, which may take as long as its requests in flight do. */
export const deleteUser = (parts: UsersParts) =>
  endpoint(
    parts,
    { who: "any", query: Query, writes: true, action: "delete_user" },
    async ({ caller, params, query, journal, command }) => {
      // A repeat whose first answer was lost: the account is on its way out, or gone, and nobody's to be named any more.
      const begun = await deletionBegunBy(parts.store, command.id);
      const profile =
        begun === null
          ? (await findAccount(parts, caller, params.identifier ?? "", "delete")).record.profile
          : (await parts.system.ask(actorRef.account(begun), "profile", {})).profile;
      journal.about({ type: "user", id: profile.id, dna: profile.dna });
      const recursive = query.recursive === "true";
      const { name, refunded, fee } = await (begun === null
        ? deleteAccount(parts, { account: profile.id, by: caller.profile.id, recursive, command })
        : finish(parts, begun));
      journal.changed({ Name: name, RefundedBalance: toUsd(refunded), TransactionFee: toUsd(fee) });
      return answer({
        Action: "delete",
        User: { ID: profile.id, Name: name, RefundedBalance: toUsd(refunded), TransactionFee: toUsd(fee) },
        message: `Account ${name} is deleted. ${formatUsd(refunded)} USD went back to its parent, the fee was ${formatUsd(fee)} USD.`,
      });
    },
  );
