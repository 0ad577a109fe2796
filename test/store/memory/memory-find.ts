// Find, count and walk over bodies in memory: the meaning of the operators and of order, which SQL must reproduce.
// Reads only, and leaves copying to its caller.

import {
  checkedGroups,
  checkOrder,
  compareText,
  indexedFieldsOf,
  indexedValue,
  type Value,
} from "../../../src/store/indexed-fields.ts";
import { CURSOR_ROWS, type CursorPosition, type CursorRow } from "../../../src/store/keyset-cursor.ts";
import type { Conditions, DocumentBody, Find, ScanQuery, Table, Where } from "../../../src/store/tables.ts";

/** A document or record, by its id. */
export interface Row {
  readonly id: string;
  readonly body: DocumentBody;
}

/** What a find asks for, in its order; what ties is ordered by its id. */
export function ordered<T extends Table>(find: Find<T>, rows: Iterable<Row>): readonly Row[] {
  checkOrder(find);
  const { table, order, descending, offset = 0, limit = Number.POSITIVE_INFINITY } = find;
  const value = reader(table);
  const sign = descending ? -1 : 1;
  return matching(find, rows)
    .sort((a, b) => sign * (compare(value(a, order), value(b, order)) || compareText(a.id, b.id)))
    .slice(offset, offset + limit);
}

/** What meets the conditions, in no order. */
export function matching<T extends Table>(conditions: Conditions<T>, rows: Iterable<Row>): Row[] {
  const value = reader(conditions.table);
  const groups = checkedGroups(conditions);
  const meets = (row: Row) => (condition: Where<T>) => {
    const found = value(row, condition.field);
    return found !== null && MEETS[condition.is](found, condition.value);
  };
  return [...rows].filter((row) => groups.some((group) => group.every(meets(row))));
}

/** The next rows of a walk behind a place. */
export function stepped<T extends Table>(
  walk: ScanQuery<T>,
  rows: Iterable<Row>,
  after: CursorPosition | null,
): CursorRow[] {
  const value = reader(walk.table);
  const sign = walk.descending ? -1 : 1;
  return ordered(walk, rows)
    .map(({ id, body }) => ({ value: value({ id, body }, walk.order), key: id, body }))
    .filter((step): step is CursorRow => step.value !== null)
    .filter(
      (step) =>
        after === null || sign * (compare(step.value, after.value) || compareText(step.key, after.key)) > 0,
    )
    .slice(0, CURSOR_ROWS);
}

type Operand = Where<Table>["value"];

const MEETS: Record<Where<Table>["is"], (found: string | number, operand: Operand) => boolean> = {
  "=": (found, operand) => found === operand,
  ">=": (found, operand) => compare(found, operand as Value) >= 0,
  "<=": (found, operand) => compare(found, operand as Value) <= 0,
  starts: (found, operand) => String(found).startsWith(String(operand)),
  has: (found, operand) => String(found).includes(String(operand)),
  in: (found, operand) => Array.isArray(operand) && operand.includes(found),
};

function reader(table: Table): (row: Row, field: string) => Value {
  const types = new Map(indexedFieldsOf(table));
  return ({ body }, field) => indexedValue(types.get(field)!, body[field]);
}

/** Absent first, then by number or by code point; one field never mixes the two. */
function compare(a: Value, b: Value): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return typeof a === "string" ? compareText(a, String(b)) : a - Number(b);
}
