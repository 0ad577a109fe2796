// Lists of documents and records: pages, counts, and scans without pages. It reads only. Long lists are counted
// in parts (counted-lists.ts), so that neither their total nor a page far from both ends walks them.

import { iterateByCursor } from "../keyset-cursor.ts";
import type { Store } from "../store.ts";
import { parseBody, parseCursorRow, StoredRow } from "../stored-rows.ts";
import type { Conditions, DocumentBody, Find, Table } from "../tables.ts";
import type { SqliteConnection } from "./connection.ts";
import { CHUNK_ROWS, CountedLists, type CountedTable, type ListChange } from "./counted-lists.ts";
import {
  countQuery,
  countUpToManyQuery,
  type Dense,
  fewQuery,
  findQuery,
  hasOwnIndex,
  isLong,
  LIST_ORDERS,
  manyQuery,
  type Query,
  stepQuery,
} from "./query-builder.ts";
import type { ReadApart } from "./usage-worker-pool.ts";

/** Reads of lists on one connection. */
export class SqliteLists implements Pick<Store, "find" | "count" | "scan"> {
  readonly #recent: SqliteConnection["recent"];
  readonly #lists: CountedLists;
  readonly #version: () => unknown;
  readonly #apart: ReadApart;
  #seen: unknown;

  /**
   * `version` returns another value when something was written of which `changed` is not called; `apart` reads what walks
   * far.
   */
  constructor(connection: SqliteConnection, version: () => unknown = () => 0, apart?: ReadApart) {
    this.#recent = connection.recent;
    this.#apart = apart ?? (async ({ sql, params }) => connection.recent(sql).all(...params));
    this.#lists = new CountedLists(connection);
    this.#version = version;
    this.#seen = version();
  }

  /** Takes note of a write that this connection sees already; of any write for null. */
  changed(change: ListChange | null): void {
    if (change === null) this.#lists.allChanged();
    else this.#lists.changed(change);
  }

  async find<T extends Table>(find: Find<T>): Promise<readonly DocumentBody[]> {
    const { offset = 0, order, table, anyOf = [] } = find;
    const counted = countedConditions(find);
    if (hasOwnList(find) && isLong(offset)) {
      const rows = await this.#apart(findQuery(find, this.#dense));
      return rows.map((row) => parseBody(find.table, row));
    }
    // With several groups, one may have to be walked from end to end to find that it adds nothing.
    const isNear = offset <= CHUNK_ROWS && anyOf.length < 2;
    if (isNear || counted === null || order !== LIST_ORDERS[counted.table]) return this.#page(find);
    if (this.#fewIn(counted) !== null) return this.#page(find);
    const page = await this.#lists.pageOf(find as unknown as Find<CountedTable>);
    if (page === null) return [];
    const { from, before, ...bounds } = page;
    const ascending = { ...find, table, descending: false, ...bounds };
    const rows = this.#page(ascending, [...from, ...before]);
    const whole = rows.length < bounds.limit ? this.#page(ascending, from) : rows;
    return find.descending ? whole.reverse() : whole;
  }

  /** Whether so few accounts meet the conditions that ordering them all takes a few milliseconds. */
  isShort(conditions: Conditions<"accounts">): boolean {
    const counted = countedConditions(conditions);
    return counted !== null && this.#fewIn(counted) !== null;
  }

  async count<T extends Table>(conditions: Conditions<T>): Promise<number> {
    const counted = countedConditions(conditions);
    if (counted === null) return this.#countAll(conditions);
    return this.#fewIn(counted) ?? this.#lists.count(counted);
  }

  scan: Store["scan"] = (walk) =>
    iterateByCursor((after) => {
      const { sql, params } = stepQuery(walk, after, this.#dense);
      return this.#recent(sql)
        .all(...params)
        .map((row) => parseCursorRow(walk.table, "value", row));
    });

  /** Counts a list that is not counted in parts; one that is long on another thread. */
  async #countAll<T extends Table>(conditions: Conditions<T>): Promise<number> {
    if (!hasOwnList(conditions)) return this.#count(countQuery(conditions));
    const few = this.#count(countUpToManyQuery(conditions, this.#dense));
    if (!isLong(few)) return few;
    const [row] = await this.#apart(countQuery(conditions, [], this.#dense));
    return new StoredRow("a count", row).integer("count");
  }

  #page<T extends Table>(find: Find<T>, place: readonly Query[] = []): DocumentBody[] {
    const { sql, params } = findQuery(find, this.#dense, place);
    return this.#recent(sql)
      .all(...params)
      .map((row) => parseBody(find.table, row));
  }

  /** The number of rows of a short list; null for a long one. */
  #fewIn(conditions: Conditions<CountedTable>): number | null {
    const version = this.#version();
    if (version !== this.#seen) this.#lists.allChanged();
    this.#seen = version;
    if (this.#lists.has(conditions)) return null;
    const query = fewQuery(conditions, this.#dense);
    const rows = query === null ? null : this.#count(query);
    return rows === null || isLong(rows) ? null : rows;
  }

  #count({ sql, params }: Query): number {
    return new StoredRow("a count", this.#recent(sql).get(...params)).integer("count");
  }

  readonly #dense: Dense = (table, where) => {
    const { sql, params } = manyQuery(table, where);
    return new StoredRow(table, this.#recent(sql).get(...params)).flag("many");
  };
}

/** Whether an index of their own gives the lists of these conditions. */
const hasOwnList = <T extends Table>({ where, anyOf = [] }: Conditions<T>): boolean =>
  [where, ...anyOf].flat().some(hasOwnIndex);

/** The conditions, if such lists of their table are counted: not those that an index of their own gives. */
function countedConditions<T extends Table>(conditions: Conditions<T>): Conditions<CountedTable> | null {
  return Object.hasOwn(LIST_ORDERS, conditions.table) && !hasOwnList(conditions)
    ? (conditions as unknown as Conditions<CountedTable>)
    : null;
}

/**
 * A version for a reader beside a writer of another process: it changes with every write of another
 * connection.
 */
export function anyWrite({ prepare }: SqliteConnection): () => unknown {
  const version = prepare("PRAGMA data_version");
  return () => new StoredRow("data_version", version.get()).integer("data_version");
}
