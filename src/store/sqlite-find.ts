// Builds the SQL of a find or a count. Values are bound, never written into the text; names come from TABLES only.

import assert from "node:assert/strict";
import { checkedFind, checkedWhere } from "./fields.ts";
import type { Find, Table, Where } from "./store.ts";

export interface Query {
  readonly sql: string;
  readonly params: readonly (string | number)[];
}

/** The bodies that a find asks for, in its order; documents that tie are ordered by their id. */
export function findQuery<T extends Table>(find: Find<T>): Query {
  const { table, where, order, descending, offset, limit } = checkedFind(find);
  const direction = descending ? "DESC" : "ASC";
  const { sql, params } = conditions(where);
  return {
    sql: `SELECT body FROM ${table}${sql} ORDER BY "${order}" ${direction}, key ${direction} LIMIT ? OFFSET ?`,
    params: [...params, limit ?? -1, offset ?? 0],
  };
}

/** How many documents meet the conditions. */
export function countQuery<T extends Table>(table: T, where: readonly Where<T>[]): Query {
  const { sql, params } = conditions(checkedWhere(table, where));
  return { sql: `SELECT count(*) AS count FROM ${table}${sql}`, params };
}

function conditions<T extends Table>(where: readonly Where<T>[]): Query {
  const parts = where.map(({ field, is, value }) => CONDITIONS[is](`"${field}"`, value));
  return {
    sql: parts.length === 0 ? "" : ` WHERE ${parts.map(({ sql }) => sql).join(" AND ")}`,
    params: parts.flatMap(({ params }) => params),
  };
}

type Condition = (column: string, value: Where<Table>["value"]) => Query;

const comparison =
  (operator: string): Condition =>
  (column, value) => ({ sql: `${column} ${operator} ?`, params: [scalar(value)] });

const CONDITIONS: Record<Where<Table>["is"], Condition> = {
  "=": comparison("="),
  ">=": comparison(">="),
  "<=": comparison("<="),
  // A range, because LIKE and substr use no index, and LIKE would read % and _.
  starts: (column, value) => {
    const prefix = String(value);
    const end = prefixEnd(prefix);
    return end === null
      ? { sql: `${column} >= ?`, params: [prefix] }
      : { sql: `${column} >= ? AND ${column} < ?`, params: [prefix, end] };
  },
  has: (column, value) => ({ sql: `instr(${column}, ?) > 0`, params: [scalar(value)] }),
  in: (column, value) => {
    const values = listed(value);
    return { sql: `${column} IN (${values.map(() => "?").join(", ")})`, params: values };
  },
};

/** The first text after all that start with `prefix`, or null when nothing comes after them. */
export function prefixEnd(prefix: string): string | null {
  const points = [...prefix];
  for (;;) {
    const last = points.pop()?.codePointAt(0);
    if (last === undefined) return null;
    if (last === 0x10ffff) continue;
    // Surrogates are no characters: after U+D7FF comes U+E000.
    return points.join("") + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1);
  }
}

function scalar(value: Where<Table>["value"]): string | number {
  assert(typeof value !== "object", "only `in` takes a list");
  return value;
}

const MOST_LISTED = 16_384;

/** Padded with its last value to a power of two, so that lists of every length share a few prepared statements. */
function listed(value: Where<Table>["value"]): readonly (string | number)[] {
  assert(typeof value === "object", "`in` takes a list");
  assert(value.length <= MOST_LISTED, `\`in\` takes at most ${MOST_LISTED} values`);
  if (value.length === 0) return [];
  const size = 2 ** Math.ceil(Math.log2(value.length));
  return [...value, ...Array<string | number>(size - value.length).fill(value.at(-1)!)];
}
