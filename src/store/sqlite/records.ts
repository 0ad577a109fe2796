// Records that no actor owns: the operation log, the news, and which provider key created which object. They
// are stored as given and removed without a trace. Each call is one transaction that waits for the disk.

import { indexedFieldsOf, indexedValues, type Value } from "../indexed-fields.ts";
import type { StoredRecord } from "../store.ts";
import type { RecordTable } from "../tables.ts";
import type { SqliteConnection } from "./connection.ts";
import { listValues } from "./counted-lists.ts";
import { LIST_ORDERS } from "./query-builder.ts";
import type { RecordRow, Writes } from "./write-messages.ts";

/** A record as its row. Throws for a body that is not plain data. */
export const recordRow = ({ table, id, body }: StoredRecord): RecordRow => [
  table,
  [id, JSON.stringify(body), ...indexedValues(table, body)],
];

/** Writes of records. */
export function recordWrites({
  prepare,
  transaction,
}: SqliteConnection): Pick<Writes, "putRecords" | "removeRecords"> {
  const statementsOf = (table: RecordTable) => {
    const names = ["key", "body", ...indexedFieldsOf(table).map(([field]) => `"${field}"`)];
    const values = names.map(() => "?").join(", ");
    return {
      put: prepare(`INSERT OR REPLACE INTO ${table} (${names.join(", ")}) VALUES (${values})`),
      remove: prepare(`DELETE FROM ${table} WHERE key IN (SELECT value FROM json_each(?))`),
    };
  };
  const statements: Record<RecordTable, ReturnType<typeof statementsOf>> = {
    logs: statementsOf("logs"),
    news: statementsOf("news"),
    objects: statementsOf("objects"),
  };

  const placesOf = prepare<[string]>(
    `SELECT "${LIST_ORDERS.logs}" AS value FROM logs WHERE key IN (SELECT value FROM json_each(?))`,
  );
  /** Where log lines are now. They are read before and after a write: it may move a line. */
  const places = (ids: readonly unknown[]): readonly Value[] =>
    ids.length === 0 ? [] : listValues("logs", placesOf.all(JSON.stringify(ids)));
  const logsIn = (rows: readonly RecordRow[]) =>
    rows.filter(([table]) => table === "logs").map(([, [key]]) => key);

  return {
    putRecords: (rows) =>
      transaction(() => {
        const logs = logsIn(rows);
        const before = places(logs);
        for (const [table, columns] of rows) statements[table].put.run(...columns);
        return { table: "logs", values: [...before, ...places(logs)] };
      }),
    removeRecords: (table, ids) =>
      transaction(() => {
        const values = table === "logs" ? places(ids) : [];
        statements[table].remove.run(JSON.stringify(ids));
        return { table: "logs", values };
      }),
  };
}
