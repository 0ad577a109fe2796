// Lists of documents and records: pages, counts, and scans without pages. It reads only. The number of
// accounts that meet a condition is cached until an indexed value of any account changes, because each page
// of a large list needs it.

import { iterateByCursor } from "../keyset-cursor.ts";
import type { Store } from "../store.ts";
import { parseBody, parseCursorRow, StoredRow } from "../stored-rows.ts";
import type { SqliteConnection } from "./connection.ts";
import { countQuery, type Dense, findQuery, manyQuery, type Query, stepQuery } from "./query-builder.ts";

type Lists = Pick<Store, "find" | "count" | "scan">;

/** Counts that are cached at once. */
const COUNTS_MAX = 1_000;

/** Reads of lists. `version` returns another value when an indexed value of an account may have changed. */
export function sqliteLists({ recent }: SqliteConnection, version: () => unknown): Lists {
  const counts = new Map<string, number>();
  let countedAt: unknown;

  function counted({ sql, params }: Query): number {
    const now = version();
    if (now !== countedAt || counts.size >= COUNTS_MAX) counts.clear();
    countedAt = now;
    const key = JSON.stringify([sql, params]);
    const count = counts.get(key) ?? counting({ sql, params });
    counts.set(key, count);
    return count;
  }

  const counting = ({ sql, params }: Query): number =>
    new StoredRow("a count", recent(sql).get(...params)).integer("count");

  const dense: Dense = (table, where) => {
    const { sql, params } = manyQuery(table, where);
    return new StoredRow(table, recent(sql).get(...params)).flag("many");
  };

  return {
    async find(find) {
      const { sql, params } = findQuery(find, dense);
      return recent(sql)
        .all(...params)
        .map((row) => parseBody(find.table, row));
    },
    async count(conditions) {
      const query = countQuery(conditions);
      return conditions.table === "accounts" ? counted(query) : counting(query);
    },
    scan(walk) {
      return iterateByCursor((after) => {
        const { sql, params } = stepQuery(walk, after, dense);
        return recent(sql)
          .all(...params)
          .map((row) => parseCursorRow(walk.table, "value", row));
      });
    },
  };
}

/**
 * A version for a reader beside a writer of another process: it changes with every write of another
 * connection.
 */
export function anyWrite({ prepare }: SqliteConnection): () => unknown {
  const version = prepare("PRAGMA data_version");
  return () => new StoredRow("data_version", version.get()).integer("data_version");
}
