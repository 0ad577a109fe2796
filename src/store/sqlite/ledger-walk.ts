// Walks over the ledger from where a projection of it ends: how far each of them is, and the rows behind a place. It never
// writes.

import { StoredRow } from "../stored-rows.ts";
import type { SqliteConnection } from "./connection.ts";
import { LedgerRow } from "./ledger-rows.ts";

/** Returns a function that reads the last row of the ledger that the index of commits has, or the projection of lines. */
export function projectedRow({ prepare }: SqliteConnection, by: "commitIndex" | "lines"): () => number {
  const place = prepare(`SELECT value FROM meta WHERE key = '${by}'`);
  return () => new StoredRow("meta", place.get()).integer("value");
}

/** Returns a function that yields the rows of the ledger after one, in their order; each is read when it is asked for. */
export function ledgerRowsAfter({ prepare }: SqliteConnection): (row: number) => Generator<LedgerRow> {
  const next = prepare<[number]>(
    "SELECT row, v, heads, bodies FROM ledger WHERE row > ? ORDER BY row LIMIT 1",
  );
  return function* (row) {
    for (let after = row; ; ) {
      const stored = next.get(after);
      if (stored === null) return;
      const ledgerRow = new LedgerRow(stored);
      yield ledgerRow;
      after = ledgerRow.row;
    }
  };
}
