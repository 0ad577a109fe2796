// Records that no actor owns: the operation log, the news, where providers keep things. Stored as they are given, gone when they are removed.
// Each call is one transaction that waits for the disk.

import { fieldsOf, indexedValues, type Value } from "./fields.ts";
import type { Connection } from "./sqlite-connection.ts";
import type { Store } from "./store.ts";
import type { RecordTable } from "./tables.ts";

type Records = Pick<Store, "put" | "remove">;

export function sqliteRecords({ prepare, transaction }: Connection): Records {
  const statementsOf = (table: RecordTable) => {
    const names = ["key", "body", ...fieldsOf(table).map(([field]) => `"${field}"`)];
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

  return {
    async put(records) {
      // Text first, transaction second: a body that is not plain data throws before anything is stored.
      const rows = records.map(({ table, id, body }): [RecordTable, Value[]] => [
        table,
        [id, JSON.stringify(body), ...indexedValues(table, body)],
      ]);
      if (rows.length === 0) return;
      transaction(() => {
        for (const [table, columns] of rows) statements[table].put.run(...columns);
      });
    },
    async remove(table, ids) {
      if (ids.length > 0) transaction(() => statements[table].remove.run(JSON.stringify(ids)));
    },
  };
}
