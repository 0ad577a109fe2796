// Lists of documents and records: pages, counts, and walks without pages. Reads only.

import type { Connection } from "./sqlite-connection.ts";
import { countQuery, type Dense, findQuery, manyQuery, stepQuery } from "./sqlite-find.ts";
import type { Store } from "./store.ts";
import { walked } from "./walk.ts";

type Lists = Pick<Store, "find" | "count" | "each">;

interface StepRow {
  readonly value: string | number;
  readonly key: string;
  readonly body: string;
}

export function sqliteLists({ recent }: Connection): Lists {
  const dense: Dense = (table, where) => {
    const { sql, params } = manyQuery(table, where);
    return recent<{ many: number }>(sql).get(...params)?.many === 1;
  };

  return {
    async find(find) {
      const { sql, params } = findQuery(find, dense);
      return recent<{ body: string }>(sql)
        .all(...params)
        .map(({ body }) => JSON.parse(body));
    },
    async count(conditions) {
      const { sql, params } = countQuery(conditions);
      return recent<{ count: number }>(sql).get(...params)?.count ?? 0;
    },
    each(walk) {
      return walked((after) => {
        const { sql, params } = stepQuery(walk, after, dense);
        return recent<StepRow>(sql)
          .all(...params)
          .map(({ value, key, body }) => ({ value, key, body: JSON.parse(body) }));
      });
    },
  };
}
