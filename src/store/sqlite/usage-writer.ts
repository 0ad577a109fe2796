// Usage documents as rows that can be added up. They are written with their document, in its transaction and only when
// it is newer, so that a sum never differs from what the documents say.

import { indexedValue, type Value } from "../indexed-fields.ts";
import type { StoredDocument } from "../store.ts";
import { SUMS, type UsageRow, usageRows } from "../usage/usage-rows.ts";
import type { SqliteConnection } from "./connection.ts";

/** What a usage document says, and whose rows it stands in place of. */
export interface UsageDay {
  readonly account: Value;
  readonly day: Value;
  readonly rows: readonly UsageRow[];
}

/** Throws when the document's sums are no exact integers. */
export const usageDay = (document: StoredDocument): UsageDay => ({
  account: indexedValue("integer", document.body.account),
  day: indexedValue("text", document.body.day),
  rows: usageRows(document),
});

/** Puts a document's rows in place of what its account and day had. Call it inside a transaction. */
export function usageSums({ prepare }: SqliteConnection): (usage: UsageDay) => void {
  // INDEXED BY, because the planner would rather read the whole day of everybody.
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
