// Usage documents as rows that can be added up. They are written with their document, in its transaction and
// only when it is newer, so that a sum never differs from what the documents say.

import { indexedValue, type Value } from "../indexed-fields.ts";
import type { StoredDocument } from "../store.ts";
import { SUMS, type UsageRow, usageRows } from "../usage/usage-rows.ts";
import type { SqliteConnection } from "./connection.ts";

/** The rows of a usage document, and the account and day whose earlier rows they replace. */
export interface UsageDay {
  readonly account: Value;
  readonly day: Value;
  readonly rows: readonly UsageRow[];
}

/** The rows of a usage document. Throws when its sums are not safe integers. */
export const usageDay = (document: StoredDocument): UsageDay => ({
  account: indexedValue("integer", document.body.account),
  day: indexedValue("text", document.body.day),
  rows: usageRows(document),
});

/** Returns a function that replaces the rows of an account and day. Call it inside a transaction. */
export function usageSums({ prepare }: SqliteConnection): (usage: UsageDay) => void {
  // INDEXED BY, because the planner would otherwise read the whole day of all accounts.
  const clear = prepare(
    "DELETE FROM usageSums INDEXED BY usageSums_account_day WHERE account = ? AND day = ?",
  );
  const insert = prepare(
    `INSERT INTO usageSums (day, dna, account, model, ${SUMS.join(", ")})
     VALUES (?, ?, ?, ?, ${SUMS.map(() => "?").join(", ")})`,
  );
  return (usage) => {
    clear.run(usage.account, usage.day);
    for (const { day, dna, account, model, sums } of usage.rows)
      insert.run(day, dna, account, model, ...sums);
  };
}
