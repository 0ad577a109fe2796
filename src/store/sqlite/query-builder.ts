// Builds the SQL of a find, a count or a step of a scan. Values are bound, never written into the text; names
// come from TABLES only.
//
// The most frequent list is a branch of the tree in the order of ids (for the log, in order of time), and no
// index gives both. Few matches are read by their prefix and sorted; many matches are found soon on a walk in
// the list's order (`Dense`). A `+` before a column keeps the planner from using its index.

import assert from "node:assert/strict";
import { checkedGroups, checkOrder } from "../indexed-fields.ts";
import { CURSOR_ROWS, type CursorPosition } from "../keyset-cursor.ts";
import type { Conditions, Find, ScanQuery, Table, Where } from "../tables.ts";

/** SQL text with its bound values. */
export interface Query {
  readonly sql: string;
  readonly params: readonly (string | number)[];
}

/**
 * Whether so many rows meet this condition that walking past all others is cheaper than sorting the matches.
 */
export type Dense = <T extends Table>(table: T, where: Where<T>) => boolean;

/** This many rows are sorted in a few milliseconds, and counted in one. */
const MANY = 4_000;

/** The order of the lists of a table for which an index exists that contains all filtered fields. */
export const LIST_ORDERS = { accounts: "id", logs: "at" } as const;

/**
 * The query of a page: keys and bodies in the order of `find`; ties are ordered by the document's id. Its rows
 * also meet `place`. Throws as `checkOrder` does.
 */
export function findQuery<T extends Table>(find: Find<T>, dense: Dense, place: readonly Query[] = []): Query {
  checkOrder(find);
  const { table, order, descending, offset, limit } = find;
  const direction = descending ? "DESC" : "ASC";
  const branches = disjoint(find, order, dense, place);
  const bounds = [limit ?? -1, offset ?? 0];
  const [only] = branches;
  if (only !== undefined && branches.length === 1) {
    const sql = `SELECT key, body FROM ${table}${only.sql} ORDER BY "${order}" ${direction}, key ${direction}`;
    return { sql: `${sql} LIMIT ? OFFSET ?`, params: [...only.params, ...bounds] };
  }
  // Each branch is read in its own order and merged as far as the page reaches; only the bodies of the page
  // are read.
  const merged = union(
    branches,
    ({ sql }) => `SELECT rowid AS place, "${order}" AS value, key FROM ${table}${sql}`,
  );
  return {
    sql: `SELECT key, body FROM ${table} WHERE rowid IN
        (SELECT place FROM (${merged.sql} ORDER BY value ${direction}, key ${direction} LIMIT ? OFFSET ?))
      ORDER BY +"${order}" ${direction}, key ${direction}`,
    params: [...merged.params, ...bounds],
  };
}

/**
 * The query that counts the documents that meet the conditions and `place`, a short part of the table in the
 * order of its lists.
 */
export function countQuery<T extends Table>(
  conditions: Conditions<T>,
  place: readonly Query[] = [],
  dense: Dense = () => false,
): Query {
  const { table } = conditions;
  const branches =
    place.length === 0
      ? disjoint(conditions, undefined, dense)
      : disjoint(conditions, listOrder(table), () => true, place);
  const counts = branches.map(({ sql }) => `(SELECT count(*) FROM ${table}${sql})`);
  return counted(counts, branches);
}

/**
 * The query that counts the documents that meet the conditions, up to MANY in each group. Null when it would
 * read more than that: when no index leads to few rows.
 */
export function fewQuery<T extends Table>(conditions: Conditions<T>, dense: Dense): Query | null {
  const { table } = conditions;
  const isShort = (where: Where<T>) => leads(where) || (where.is === "starts" && !dense(table, where));
  if (!checkedGroups(conditions).every((group) => group.some(isShort))) return null;
  return countUpToManyQuery(conditions, () => false);
}

/** The query that counts the documents that meet the conditions, up to MANY in each group. */
export function countUpToManyQuery<T extends Table>(conditions: Conditions<T>, dense: Dense): Query {
  const { table } = conditions;
  const branches = disjoint(conditions, undefined, dense);
  const counts = branches.map(
    ({ sql }) => `(SELECT count(*) FROM (SELECT 1 FROM ${table}${sql} LIMIT ${MANY}))`,
  );
  return counted(counts, branches);
}

/** Whether a list of so many rows is long: it is counted by parts, and read from a place. */
export const isLong = (rows: number): boolean => rows >= MANY;

const counted = (counts: readonly string[], branches: readonly Query[]): Query => ({
  sql: `SELECT ${counts.join(" + ") || "0"} AS count`,
  params: branches.flatMap(({ params }) => params),
});

/** The query of the next rows of a scan after a position, as `value`, `key` and `body`. */
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

/** The query that tells whether at least MANY rows meet a condition; it stops counting there. */
export function manyQuery<T extends Table>(table: T, where: Where<T>): Query {
  const { sql, params } = joined([condition(where)]);
  return {
    sql: `SELECT count(*) >= ${MANY} AS many FROM (SELECT 1 FROM ${table}${sql} LIMIT ${MANY})`,
    params,
  };
}

/**
 * The rows that meet the conditions, each once. `select` returns the query of the rows of one WHERE clause; all have the same
 * columns.
 */
export const rowsQuery = <T extends Table>(
  conditions: Conditions<T>,
  select: (where: Query) => string,
): Query => union(disjoint(conditions), select);

/**
 * One WHERE clause per group, each without the rows that an earlier group found, so that together they find
 * every row once.
 */
function disjoint<T extends Table>(
  conditions: Conditions<T>,
  order?: string,
  dense: Dense = () => false,
  more: readonly Query[] = [],
): Query[] {
  const earlier: Query[] = [];
  return checkedGroups(conditions).map((group) => {
    const isWalk = order === listOrder(conditions.table) && !group.some(leads);
    const walked =
      isWalk || group.some(hasOwnIndex)
        ? group.filter(({ is, field }) => is === "starts" && field !== order)
        : [];
    const sparse = walked.every((where) => !dense(conditions.table, where));
    const parts = group.map((where) => condition(where, !sparse && walked.includes(where) ? "+" : ""));
    const found = joined([...parts, ...more, ...earlier]);
    earlier.push(except(group.map((where) => condition(where))));
    return found;
  });
}

const listOrder = (table: Table): string => (table === "logs" ? LIST_ORDERS.logs : LIST_ORDERS.accounts);

/** Whether an index begins with this field, so that the condition alone leaves few rows. */
const leads = <T extends Table>({ field, is }: Where<T>): boolean =>
  (is === "=" || is === "in") && LEADING.has(field);

/** Fields of accounts that have an index of their own, in the order of the lists that ask for them. */
const LISTED_BY: ReadonlySet<string> = new Set([
  ...["status", "suspended", "nearMonth", "nearDay", "balance", "activeDay", "creditExpiresAt"],
]);

/** Whether the field of a condition has an index that gives its list, which is then walked for a long branch. */
export const hasOwnIndex = <T extends Table>({ field }: Where<T>): boolean => LISTED_BY.has(field);

const LEADING: ReadonlySet<string> = new Set([
  "id",
  "parent",
  "email",
  "nameLower",
  "operator",
  "target",
  "account",
]);

/** Matches every row for which the group is not true, including those for which it is NULL. */
const except = (group: readonly Query[]): Query => ({
  sql: `(${group.map(({ sql }) => sql).join(" AND ") || "TRUE"}) IS NOT TRUE`,
  params: group.flatMap(({ params }) => params),
});

function union(branches: readonly Query[], select: (branch: Query) => string): Query {
  // Without branches the query has the same columns and no rows.
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
  // A range, because LIKE and substr use no index, and LIKE would interpret % and _.
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

/** Returns the first text after all texts that start with `prefix`, or null when none comes after them. */
export function prefixEnd(prefix: string): string | null {
  const points = [...prefix];
  for (;;) {
    const last = points.pop()?.codePointAt(0);
    if (last === undefined) return null;
    if (last === 0x10ffff) continue;
    // Surrogates are not characters: after U+D7FF comes U+E000.
    return points.join("") + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1);
  }
}

function scalar(value: Where<Table>["value"]): string | number {
  assert(typeof value !== "object", "only `in` takes a list");
  return value;
}

const LISTED_MAX = 16_384;

/**
 * Pads the list with its last value to a power of two, so that lists of all lengths share a few prepared
 * statements.
 */
function listed(value: Where<Table>["value"]): readonly (string | number)[] {
  assert(typeof value === "object", "`in` takes a list");
  assert(value.length <= LISTED_MAX, `\`in\` takes at most ${LISTED_MAX} values`);
  if (value.length === 0) return [];
  const size = 2 ** Math.ceil(Math.log2(value.length));
  return [...value, ...Array<string | number>(size - value.length).fill(value.at(-1)!)];
}
