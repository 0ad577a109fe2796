// Knows how many rows of a long list lie where, so that a count reads nothing and a page in the middle begins
// beside its place instead of at the end of the list. A table is divided into chunks of its lists' order, the
// same for all lists; of each list the rows in each chunk are counted. A write names the places that it
// touched, and only their chunks are counted again. It keeps numbers only, never a row: forgetting all of it
// changes no answer.
//
//   bound                      value
//   rows of the table a chunk  CHUNK_ROWS when it is made
//   lists                      LISTS_MAX, the least recently used is forgotten
//   counts in one turn         SLICE_CHUNKS, then the event loop turns

import type { Value } from "../indexed-fields.ts";
import { StoredRow } from "../stored-rows.ts";
import type { Conditions, Find } from "../tables.ts";
import type { SqliteConnection } from "./connection.ts";
import { countQuery, LIST_ORDERS, type Query } from "./query-builder.ts";

/** Tables whose lists may be long, and are read by pages. */
export type CountedTable = keyof typeof LIST_ORDERS;

/** The places of rows that a write may have added to, moved in or removed from lists. */
export interface ListChange {
  readonly table: CountedTable;
  readonly values: readonly Value[];
}

/** A page in ascending order: `limit` rows after the first `offset` of those that also meet `from`. */
export interface CountedPage {
  readonly from: readonly Query[];
  /** All of its rows meet this too, unless a write has moved some that `changed` has not yet named. */
  readonly before: readonly Query[];
  readonly offset: number;
  readonly limit: number;
}

/** This many rows of an index are walked in some 50 microseconds. */
export const CHUNK_ROWS = 1_000;
const SLICE_CHUNKS = 8;
const LISTS_MAX = 200;

/** Rows of one list by chunk, and the version of the chunk at which they were counted. */
interface CountedList {
  readonly rows: number[];
  readonly versions: number[];
  /** How many rows of the first chunk have no value. */
  absent: number;
}

/** The chunks of a table. */
class Chunks {
  /** The first value of each chunk but the first one, which also has the rows without a value. */
  readonly starts: number[] = [];
  /** Raised when a row of the chunk may have changed. */
  readonly versions: number[] = [0];
  /** The version of the last chunk when it was divided as far as it could be. */
  dividedAt = -1;

  touch(value: Value): void {
    this.versions[this.chunkOf(value)]!++;
  }

  touchAll(): void {
    for (let chunk = 0; chunk < this.versions.length; chunk++) this.versions[chunk]!++;
  }

  /** Ends the last chunk before `start`, where a new one begins. */
  divide(start: number): void {
    this.versions[this.versions.length - 1]!++;
    this.starts.push(start);
    this.versions.push(0);
    this.dividedAt = -1;
  }

  private chunkOf(value: Value): number {
    if (typeof value !== "number") return 0;
    let [below, high] = [0, this.starts.length];
    while (below < high) {
      const middle = (below + high) >> 1;
      if (this.starts[middle]! <= value) below = middle + 1;
      else high = middle;
    }
    return below;
  }
}

/** The counts of long lists on a connection; short lists are not its business. */
export class CountedLists {
  readonly #connection: SqliteConnection;
  readonly #tables: Record<CountedTable, Chunks> = { accounts: new Chunks(), logs: new Chunks() };
  readonly #lists = new Map<string, CountedList>();

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  /** Takes note of a write. It must be visible on this connection already. */
  changed({ table, values }: ListChange): void {
    for (const value of values) this.#tables[table].touch(value);
  }

  /** Takes note that anything may have been written. */
  allChanged(): void {
    for (const chunks of Object.values(this.#tables)) chunks.touchAll();
  }

  /** Whether the list was counted before. */
  has(conditions: Conditions<CountedTable>): boolean {
    return this.#lists.has(keyOf(conditions));
  }

  /** The number of rows of a list. */
  async count(conditions: Conditions<CountedTable>): Promise<number> {
    const { rows } = await this.#counted(conditions);
    return sum(rows);
  }

  /** Where the rows of a page are, in ascending order whatever the page's is; null when it has none. */
  async pageOf(find: Find<CountedTable>): Promise<CountedPage | null> {
    const { rows, absent } = await this.#counted(find);
    const { offset = 0, descending } = find;
    const total = sum(rows);
    const limit = Math.min(find.limit ?? total, total - offset);
    if (limit <= 0) return null;
    let skip = descending ? total - offset - limit : offset;
    let first = 0;
    while (skip >= rows[first]!) skip -= rows[first++]!;
    let behind = first;
    for (let found = -skip; found < limit; behind++) found += rows[behind]!;
    // The comparison with the end would leave out rows without a value, of which lists have none.
    const before = first === 0 && absent > 0 ? [] : this.#before(find.table, behind);
    return { from: this.#from(find.table, first), before, offset: skip, limit };
  }

  /** Counts what has changed since, some chunks in each turn of the event loop. */
  async #counted(conditions: Conditions<CountedTable>): Promise<CountedList> {
    const { table } = conditions;
    const list = this.#listOf(conditions);
    const { versions } = this.#tables[table];
    // Writes may go on meanwhile: after so many turns the rest is counted in one.
    for (let turns = 0; turns <= 2 * (versions.length / SLICE_CHUNKS) + LISTS_MAX; turns++) {
      if (this.#countSome(conditions, list, SLICE_CHUNKS)) return list;
      await new Promise(setImmediate);
    }
    this.#countSome(conditions, list, Number.POSITIVE_INFINITY);
    return list;
  }

  /** Divides and counts up to `most` chunks. Returns whether all are counted. */
  #countSome(conditions: Conditions<CountedTable>, list: CountedList, most: number): boolean {
    const { table } = conditions;
    const chunks = this.#tables[table];
    let left = most;
    for (; left > 0 && chunks.dividedAt !== chunks.versions.at(-1); left--) this.#divide(table);
    for (let chunk = 0; chunk < chunks.versions.length; chunk++) {
      const version = chunks.versions[chunk]!;
      if (list.versions[chunk] === version) continue;
      if (left <= 0) return false;
      left--;
      if (chunk === 0) list.absent = this.#absentIn(conditions);
      list.rows[chunk] = this.#rowsIn(conditions, chunk) + (chunk === 0 ? list.absent : 0);
      list.versions[chunk] = version;
    }
    return chunks.dividedAt === chunks.versions.at(-1);
  }

  /** Divides the last chunk of a table, where new rows come, if it has more than CHUNK_ROWS. */
  #divide(table: CountedTable): void {
    const chunks = this.#tables[table];
    const field = LIST_ORDERS[table];
    const last = chunks.starts.at(-1);
    const [from, params] = last === undefined ? ["IS NOT NULL", []] : ["> ?", [last]];
    const row = this.#connection
      .recent(
        `SELECT "${field}" AS value FROM ${table} WHERE "${field}" ${from}
         ORDER BY "${field}" LIMIT 1 OFFSET ${CHUNK_ROWS}`,
      )
      .get(...params);
    if (row === null) chunks.dividedAt = chunks.versions.at(-1)!;
    else chunks.divide(new StoredRow(table, row).integer("value"));
  }

  #rowsIn(conditions: Conditions<CountedTable>, chunk: number): number {
    const { table } = conditions;
    const place = [...this.#from(table, chunk), ...this.#before(table, chunk + 1)];
    const present = { sql: `"${LIST_ORDERS[table]}" IS NOT NULL`, params: [] };
    return this.#read(countQuery(conditions, place.length === 0 ? [present] : place));
  }

  #absentIn(conditions: Conditions<CountedTable>): number {
    const absent = { sql: `"${LIST_ORDERS[conditions.table]}" IS NULL`, params: [] };
    return this.#read(countQuery(conditions, [absent]));
  }

  /** The condition of the rows of a chunk and of all later ones. */
  #from(table: CountedTable, chunk: number): readonly Query[] {
    const start = this.#tables[table].starts[chunk - 1];
    return start === undefined ? [] : [{ sql: `"${LIST_ORDERS[table]}" >= ?`, params: [start] }];
  }

  /** The condition of the rows with a value of all earlier chunks; none for a chunk that is not there. */
  #before(table: CountedTable, chunk: number): readonly Query[] {
    const end = this.#tables[table].starts[chunk - 1];
    return end === undefined ? [] : [{ sql: `"${LIST_ORDERS[table]}" < ?`, params: [end] }];
  }

  #read({ sql, params }: Query): number {
    return new StoredRow("a count", this.#connection.recent(sql).get(...params)).integer("count");
  }

  #listOf(conditions: Conditions<CountedTable>): CountedList {
    const key = keyOf(conditions);
    const list = this.#lists.get(key) ?? { rows: [], versions: [], absent: 0 };
    // Deleting and setting it again keeps the map in order of last use, the oldest first.
    this.#lists.delete(key);
    this.#lists.set(key, list);
    for (const oldest of this.#lists.keys()) {
      if (this.#lists.size <= LISTS_MAX) break;
      this.#lists.delete(oldest);
    }
    return list;
  }
}

const sum = (rows: readonly number[]): number => rows.reduce((all, count) => all + count, 0);

function keyOf(conditions: Conditions<CountedTable>): string {
  const { sql, params } = countQuery(conditions);
  return JSON.stringify([sql, params]);
}

/** The places that rows of `value` name; a row that is not there has none. */
export const listValues = (table: CountedTable, rows: readonly unknown[]): readonly Value[] =>
  rows.flatMap((row) => (row === null ? [] : [new StoredRow(table, row).integerOrNull("value")]));
