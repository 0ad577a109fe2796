// The answer of `/x-money`.

import { Type } from "@sinclair/typebox";
import { answerOf, namedSchema, object, time } from "../schemas.ts";

const dollars = (description: string) => Type.Number({ description: `US dollars: ${description}` });

/** The answer of `GET /x-money`. */
export const MoneySchema = answerOf(
  namedSchema(
    "Money",
    object({
      at: time,
      minted: dollars("credit that Root gave, less what came back because it was refused"),
      moved_in: dollars(
        "balances of accounts that were moved here, and transfers from another tree; 0 for Root",
      ),
      adjusted: dollars("of lines that Root set by hand; they carry no credit"),
      written_off: dollars("debts of deleted accounts, and charges that came after an account was emptied"),
      balances: dollars("balances by the last ledger line of each account"),
      under_way: dollars("transfers that were given and not yet received"),
      charges: dollars("charges of requests, late ones included"),
      fees: dollars("fees of bills and deletions"),
      expired: dollars("credit that expired"),
      returned: dollars("credit that was refunded to Root, which destroys it"),
      moved_out: dollars("as moved_in, of the accounts that were moved away"),
      difference: dollars("minted + moved_in + adjusted + written_off, less all others: 0, or a bug"),
      held: dollars("what running requests reserve; a part of the balances"),
    }),
  ),
);
