// `/x-money`: where all credit of a tree is. The statement is computed in report/money-statement.ts; this file
// shapes it.

import type { Static } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { MoneyReport, MoneyStatement } from "../../report/money-statement.ts";
import { exactUsd } from "../../report/verify/conservation.ts";
import { type ManagementParts, management } from "../management.ts";
import { operation } from "../operation.ts";
import { NoQuerySchema } from "../schemas.ts";
import { MoneySchema } from "./schemas.ts";

/** What the endpoint needs. */
export interface MoneyParts extends ManagementParts {
  readonly money: MoneyReport;
}

/** `GET /x-money`. Source: contract section 8, "Figures that pages need". */
export const moneyStatement = (parts: MoneyParts) =>
  new Elysia({ normalize: false })
    .use(management(parts))
    .get("/x-money", async ({ call }) => shapeOf(await parts.money.statement(call.caller.profile.id)), {
      access: { role: "owner", scope: "admin", audit: null, hasEtag: true },
      query: NoQuerySchema,
      response: MoneySchema,
      detail: operation({
        tag: "Administration",
        operationId: "getMoney",
        summary: "Get where all credit of the caller's tree is",
        description:
          "Of an Owner's tree, or of all accounts for Root, from one consistent cut of the ledgers: `minted` + `moved_in` + " +
          "`adjusted` + `written_off` = `balances` + `under_way` + `charges` + `fees` + `expired` + `returned` + `moved_out` + " +
          "`difference`. It is computed at most once a minute; a younger one is answered again, with its `at`.",
        answerExample: {
          ...{ at: "2026-11-23T09:00:00.000Z", minted: 1000, moved_in: 25, adjusted: 0, written_off: 0.01 },
          ...{
            balances: 800.5,
            under_way: 10,
            charges: 180.26,
            fees: 0.25,
            expired: 9,
            returned: 20,
            moved_out: 5,
          },
          ...{ difference: 0, held: 0.75 },
        },
      }),
    });

const usd = (nano: bigint): number => Number(exactUsd(nano));

const shapeOf = (found: MoneyStatement): Static<typeof MoneySchema> => ({
  at: new Date(found.at).toISOString(),
  minted: usd(found.minted),
  moved_in: usd(found.movedIn),
  adjusted: usd(found.adjusted),
  written_off: usd(found.writtenOff),
  balances: usd(found.balances),
  under_way: usd(found.underWay),
  charges: usd(found.charges),
  fees: usd(found.fees),
  expired: usd(found.expired),
  returned: usd(found.returned),
  moved_out: usd(found.movedOut),
  difference: usd(found.difference),
  held: usd(found.held),
});
