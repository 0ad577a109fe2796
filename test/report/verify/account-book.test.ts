// The books of an account, recomputed beside the fold: their days equal its usage documents.

import { expect, test } from "bun:test";
import { account } from "../../../actors/account/account.ts";
import { ZERO } from "../../../actors/money.ts";
import { CHARGE_MAX } from "../../../actors/pricing/cost.ts";
import { emptyBook, enter } from "../../../src/report/verify/account-book.ts";
import { verifyApiKeys } from "../../../src/report/verify/api-key-book.ts";
import { noLedgerTotals } from "../../../src/report/verify/conservation.ts";
import { createFindings } from "../../../src/report/verify/findings.ts";
import { KEY, living, profileOf, ROOT_PROFILE } from "../../actors/account-samples.ts";
import { added, callerOf } from "../../actors/api-key-samples.ts";

test("sums beyond the largest exact amount are those of the fold", () => {
  const one = living({ profile: ROOT_PROFILE, credit: ZERO });
  const apiKey = added(one, {}, { by: callerOf({ account: profileOf(ROOT_PROFILE).id }), byHash: KEY });
  for (let i = 0; i < 12; i++) one.charge({ id: `r${i}`, cost: CHARGE_MAX, apiKey, apiKeyName: "robot" });
  const book = emptyBook();
  // The charges have no price, which is found and does not matter here.
  const keeping = { account: 1, totals: noLedgerTotals(), findings: createFindings() };
  enter(book, one.events, keeping, { seq: 1, where: "account/1" });
  const bodies = account
    .materialize(one.state)
    .flatMap(({ table, body }) => (table === "usage" ? [body] : []));
  const days = [...book.days].map(([day, { models }]) => ({ day, models: Object.fromEntries(models) }));
  expect(bodies).toMatchObject(days);
  const differences = createFindings();
  verifyApiKeys("account/1", one.state, book.apiKeys, differences);
  expect(differences.kept).toEqual([]);
});
