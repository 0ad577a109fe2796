// Find and count over documents in memory: the meaning of the operators and of order, which SQL must reproduce.
// Reads only, and leaves copying to its caller.

import { checkedFind, checkedWhere, compareText, fieldsOf, indexedValue, type Value } from "./fields.ts";
import type { Find, StoredDocument, Table, Where } from "./store.ts";

type Body = StoredDocument["body"];

/** The bodies that a find asks for, in its order; documents that tie are ordered by their id. */
export function ordered<T extends Table>(
  find: Find<T>,
  documents: Iterable<StoredDocument>,
): readonly Body[] {
  const { table, where, order, descending, offset = 0, limit = Number.POSITIVE_INFINITY } = checkedFind(find);
  const value = reader(table);
  const sign = descending ? -1 : 1;
  return matching(table, where, documents)
    .sort((a, b) => sign * (compare(value(a, order), value(b, order)) || compareText(a.id, b.id)))
    .slice(offset, offset + limit)
    .map(({ body }) => body);
}

/** The documents that meet every condition, in no order. */
export function matching<T extends Table>(
  table: T,
  where: readonly Where<T>[],
  documents: Iterable<StoredDocument>,
): StoredDocument[] {
  const value = reader(table);
  const conditions = checkedWhere(table, where);
  return [...documents].filter((document) =>
    conditions.every((condition) => {
      const found = value(document, condition.field);
      return found !== null && MEETS[condition.is](found, condition.value);
    }),
  );
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

function reader(table: Table): (document: StoredDocument, field: string) => Value {
  const types = new Map(fieldsOf(table));
  return ({ body }, field) => indexedValue(types.get(field)!, body[field]);
}

/** Absent first, then by number or by code point; one field never mixes the two. */
function compare(a: Value, b: Value): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return typeof a === "string" ? compareText(a, String(b)) : a - Number(b);
}
