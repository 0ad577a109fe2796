// Builds the SQL of a find, a count or a step of a walk. Values are bound, never written into the text; names come from
// TABLES only.
//
// A branch of the tree in the order of ids (of the log: in order of time) is the list that everybody asks for, and no
// index gives both. Few matches are read by their prefix and sorted; many are met soon on a walk in that order (`Dense`).
// A `+` before a column keeps the planner from its index.

import assert from "node:assert/strict";
import { checkedGroups, checkOrder } from "../indexed-fields.ts";
import { CURSOR_ROWS, type CursorPosition } from "../keyset-cursor.ts";
import type { Conditions, Find, ScanQuery, Table, Where } from "../tables.ts";

export interface Query {
  readonly sql: string;
  readonly params: readonly (string | number)[];
}

/** Do so many rows meet this condition that walking past all others is cheaper than sorting them? */
export type Dense = <T extends Table>(table: T, where: Where<T>) => boolean;

/** Sorted in a few milliseconds, and counted in one. */
const MANY = 4_000;

/** The bodies that a find asks for, in its order; documents that tie are ordered by their id. */
export function findQuery<T extends Table>(find: Find<T>, dense: Dense): Query {
  checkOrder(find);
  const { table, order, descending, offset, limit } = find;
  const direction = descending ? "DESC" : "ASC";
  const branches = disjoint(find, order, dense);
  const bounds = [limit ?? -1, offset ?? 0];
  const [only] = branches;
  if (only !== undefined && branches.length === 1) {
    const sql = `SELECT body FROM ${table}${only.sql} ORDER BY "${order}" ${direction}, key ${direction}`;
    return { sql: `${sql} LIMIT ? OFFSET ?`, params: [...only.params, ...bounds] };
  }
  // Each branch in its own order, merged as far as the page reaches; only the rows of the page are read.
  const merged = union(
    branches,
    ({ sql }) => `SELECT rowid AS place, "${order}" AS value, key FROM ${table}${sql}`,
  );
  return {
    sql: `SELECT body FROM ${table} WHERE rowid IN
        (SELECT place FROM (${merged.sql} ORDER BY value ${direction}, key ${direction} LIMIT ? OFFSET ?))
      ORDER BY +"${order}" ${direction}, key ${direction}`,
    params: [...merged.params, ...bounds],
  };
}

/** How many documents meet the conditions. */
export function countQuery<T extends Table>(conditions: Conditions<T>): Query {
  const branches = disjoint(conditions);
  const counts = branches.map(({ sql }) => `(SELECT count(*) FROM ${conditions.table}${sql})`);
  return {
    sql: `SELECT ${counts.join(" + ") || "0"} AS count`,
    params: branches.flatMap(({ params }) => params),
  };
}

/** The next rows of a walk, as `value`, `key` and `body`, behind a place. */
export function stepQuery<T extends Table>(
  walk: ScanQuery<T>,
  after: CursorPosition | null,
  dense: Dense,
): Query {
  checkOrder(walk);
  const { table, order, descending } = walk;
  const [direction, behind] = descending ? ["DESC", "<"] : ["ASC", ">"];
  const place: Query =
    after === null
      ? { sql: `"${order}" IS NOT NULL`, params: [] }
      : { sql: `("${order}", key) ${behind} (?, ?)`, params: [after.value, after.key] };
  const merged = union(
    disjoint(walk, order, dense, [place]),
    ({ sql }) => `SELECT "${order}" AS value, key, body FROM ${table}${sql}`,
  );
  return {
    sql: `${merged.sql} ORDER BY value ${direction}, key ${direction} LIMIT ${CURSOR_ROWS}`,
    params: merged.params,
  };
}

/** Whether MANY rows meet a condition: counted no further. */
export function manyQuery<T extends Table>(table: T, where: Where<T>): Query {
  const { sql, params } = joined([condition(where)]);
  return {
    sql: `SELECT count(*) >= ${MANY} AS many FROM (SELECT 1 FROM ${table}${sql} LIMIT ${MANY})`,
    params,
  };
}

/** One WHERE a group, each without what an earlier one found: together they find everything once. */
function disjoint<T extends Table>(
  conditions: Conditions<T>,
  order?: string,
  dense: Dense = () => false,
  more: readonly Query[] = [],
): Query[] {
  const earlier: Query[] = [];
  return checkedGroups(conditions).map((group) => {
    const walked =
      order === listOrder(conditions.table) && !group.some(leads)
        ? group.filter(({ is, field }) => is === "starts" && field !== order)
        : [];
    const sparse = walked.every((where) => !dense(conditions.table, where));
    const parts = group.map((where) => condition(where, !sparse && walked.includes(where) ? "+" : ""));
    const found = joined([...parts, ...more, ...earlier]);
    earlier.push(except(group.map((where) => condition(where))));
    return found;
  });
}

/** The order of a table's lists: the one that an index beside those of its branches has, with all that is filtered. */
const listOrder = (table: Table): string => (table === "logs" ? "at" : "id");

/** Does an index begin with this condition, so that it alone leaves few rows? */
const leads = <T extends Table>({ field, is }: Where<T>): boolean =>
  (is === "=" || is === "in") && LEADING.has(field);

const LEADING: ReadonlySet<string> = new Set([
  "id",
  "parent",
  "email",
  "nameLower",
  "operator",
  "target",
  "account",
]);

/** Whatever the group is not true of, which includes what it is unknown of. */
const except = (group: readonly Query[]): Query => ({
  sql: `(${group.map(({ sql }) => sql).join(" AND ") || "TRUE"}) IS NOT TRUE`,
  params: group.flatMap(({ params }) => params),
});

function union(branches: readonly Query[], select: (branch: Query) => string): Query {
  // No branch: nothing is asked for, and the same columns come out.
  if (branches.length === 0) return { sql: select({ sql: " WHERE FALSE", params: [] }), params: [] };
  return {
    sql: branches.map(select).join(" UNION ALL "),
    params: branches.flatMap(({ params }) => params),
  };
}

function joined(parts: readonly Query[]): Query {
  return {
    sql: parts.length === 0 ? "" : ` WHERE ${parts.map(({ sql }) => sql).join(" AND ")}`,
    params: parts.flatMap(({ params }) => params),
  };
}

const condition = <T extends Table>({ field, is, value }: Where<T>, plus = ""): Query =>
  CONDITIONS[is](`${plus}"${field}"`, value);

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
