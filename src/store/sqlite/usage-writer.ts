// Usage documents as rows that can be added up. They are written with their document, in its transaction and
// only when it is newer, so that a sum never differs from what the documents say.

import { indexedValue, type Value } from "../indexed-fields.ts";
import type { StoredDocument } from "../store.ts";
import { StoredRow } from "../stored-rows.ts";
import { SUMS, usageRows } from "../usage/usage-rows.ts";
import type { SqliteConnection } from "./connection.ts";

/** The rows of a usage document, and the account and day whose earlier rows they replace. */
export type UsageDayCells = readonly [account: Value, day: Value, ...rows: Value[]];

/** Cells of a row of `usageSums` on its way to the writer: its DNA, its model and its sums. */
const ROW_CELLS = 2 + SUMS.length;

/** The rows of a usage document as cells. Throws when its sums are not safe integers. */
export const usageDayCells = (document: StoredDocument): UsageDayCells => [
  indexedValue("integer", document.body.account),
  indexedValue("text", document.body.day),
  ...usageRows(document).flatMap(({ dna, model, sums }) => [dna, model, ...sums]),
];

/** Returns a function that replaces the rows of an account and day. Call it inside a transaction. */
export function usageSums({ prepare }: SqliteConnection): (usage: UsageDayCells) => void {
  // INDEXED BY, because the planner would otherwise read the whole day of all accounts.
  const where = "usageSums INDEXED BY usageSums_account_day WHERE account = ? AND day = ?";
  const count = prepare<Value[]>(`SELECT count(*) AS n FROM ${where}`);
  const clear = prepare<Value[]>(`DELETE FROM ${where}`);
  const insertion = `INSERT INTO usageSums (account, day, dna, model, ${SUMS.join(", ")})
     VALUES (?, ?, ?, ?, ${SUMS.map(() => "?").join(", ")})`;
  const insert = prepare<Value[]>(insertion);
  const put = prepare<Value[]>(
    `${insertion} ON CONFLICT (day, dna, account, model) DO UPDATE SET
       ${SUMS.map((sum) => `${sum} = excluded.${sum}`).join(", ")}`,
  );
  const storeAll = (statement: typeof put, [account, day, ...rows]: UsageDayCells): void => {
    for (let from = 0; from < rows.length; from += ROW_CELLS) {
      statement.run(account, day, ...rows.slice(from, from + ROW_CELLS));
    }
  };
  return (usage) => {
    const [account, day, ...rows] = usage;
    // Nearly always the rows are those of before with other sums, and changed in place they dirty fewer pages.
    storeAll(put, usage);
    const stored = new StoredRow("usageSums", count.get(account, day)).integer("n");
    if (stored === rows.length / ROW_CELLS) return;
    clear.run(account, day);
    storeAll(insert, usage);
  };
}
