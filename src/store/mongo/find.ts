// Lists of documents and records: pages, counts, and scans without pages. It reads only.

import { checkOrder } from "../indexed-fields.ts";
import { CURSOR_ROWS, iterateByCursor } from "../keyset-cursor.ts";
import type { Store } from "../store.ts";
import { parseBody, parseCursorRow } from "../stored-rows.ts";
import type { MongoConnection } from "./connection.ts";
import type { FoundDocument } from "./documents.ts";
import { filterOf, sortOf, stepFilter } from "./query-builder.ts";

type Lists = Pick<Store, "find" | "count" | "scan">;

/** A sort that no index serves may use the disk. */
const PAGE = { allowDiskUse: true } as const;

/** Reads of lists. */
export function mongoLists({ collection, read }: MongoConnection): Lists {
  return {
    async find(find) {
      checkOrder(find);
      const filter = filterOf(find);
      const { table, offset = 0, limit } = find;
      // To the server, no limit is 0.
      if (limit === 0) return [];
      const found = await read(() =>
        collection<FoundDocument>(table)
          .find(filter, PAGE)
          .sort(sortOf(find))
          .skip(offset)
          .limit(limit ?? 0)
          .project({ body: 1 })
          .toArray(),
      );
      return found.map((one) => parseBody(table, one));
    },
    async count(conditions) {
      const filter = filterOf(conditions);
      return read(() => collection<FoundDocument>(conditions.table).countDocuments(filter));
    },
    scan: (walk) =>
      iterateByCursor(async (after) => {
        const filter = stepFilter(walk, after);
        const found = await read(() =>
          collection<FoundDocument>(walk.table)
            .find(filter, PAGE)
            .sort(sortOf(walk))
            .limit(CURSOR_ROWS)
            .project({ body: 1, [walk.order]: 1 })
            .toArray(),
        );
        return found.map((one) => parseCursorRow(walk.table, walk.order, one));
      }),
  };
}
