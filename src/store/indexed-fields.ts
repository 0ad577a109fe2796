// The indexed fields of a document as plain values that every store orders alike, and the checks of a query's
// conditions. A field, operator or value that TABLES does not allow throws here, so no store has to check for
// it.

import assert from "node:assert/strict";
import {
  type Conditions,
  type DocumentBody,
  type IndexedField,
  type ScanQuery,
  TABLES,
  type Table,
  type Where,
} from "./tables.ts";

/** An indexed value. Null means that the field is absent; it sorts first and meets no condition. */
export type Value = string | number | null;

type FieldType = "integer" | "text" | "real";

/** The indexed fields of a table in the order of TABLES, with their types. */
export function indexedFieldsOf(table: Table): readonly (readonly [string, FieldType])[] {
  assert(Object.hasOwn(TABLES, table), `unknown table: ${table}`);
  return Object.entries(TABLES[table]);
}

/**
 * The indexed values of a body, in the order of `indexedFieldsOf`. Throws when a field cannot hold its value.
 */
export function indexedValues(table: Table, body: DocumentBody): readonly Value[] {
  return indexedFieldsOf(table).map(([field, type]) => indexedValue(type, body[field]));
}

/** The indexed value of one field. Throws when a field of this type cannot hold it. */
export function indexedValue(type: FieldType, value: unknown): Value {
  if (value === undefined || value === null) return null;
  if (typeof value === "boolean" && type === "integer") return Number(value);
  assert(fits(type, value), `a field of type ${type} cannot hold ${typeof value} ${String(value)}`);
  return wellFormed(value);
}

/** Throws when TABLES has no such field to order by, or when offset or limit is not a whole number. */
export function checkOrder<T extends Table>(walk: ScanQuery<T> & { offset?: number; limit?: number }): void {
  typeOf(walk.table, walk.order);
  for (const bound of [walk.offset ?? 0, walk.limit ?? 0]) {
    assert(Number.isSafeInteger(bound) && bound >= 0, `offset and limit are whole numbers, not ${bound}`);
  }
}

/**
 * The conditions as groups: a document matches when it meets all conditions of at least one group. `where` is
 * part of every group, and values are as they are indexed. Throws when TABLES does not know a field, or when
 * a value does not fit its type.
 */
export function checkedGroups<T extends Table>({ table, where, anyOf }: Conditions<T>): Where<T>[][] {
  indexedFieldsOf(table);
  const all = checkedWhere(table, where);
  return (anyOf ?? [[]]).map((group) => [...all, ...checkedWhere(table, group)]);
}

function checkedWhere<T extends Table>(table: T, where: readonly Where<T>[]): readonly Where<T>[] {
  return where.map(({ field, is, value }) => {
    const type = typeOf(table, field);
    assert(Object.hasOwn(TAKES, is), `unknown operator: ${is}`);
    assert(TAKES[is](type, value), `"${field} ${is}" cannot take ${JSON.stringify(value)}`);
    const indexed = typeof value === "object" ? value.map(wellFormed) : wellFormed(value);
    return { field, is, value: indexed };
  });
}

/**
 * Compares two texts by code point, which is also the order of their UTF-8 bytes. A plain `<` compares UTF-16
 * units and sorts emoji before U+E000.
 */
export function compareText(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = codeOrder(a.charCodeAt(i)) - codeOrder(b.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

const FITS: Record<FieldType, (value: unknown) => boolean> = {
  integer: Number.isSafeInteger,
  real: Number.isFinite,
  text: (value) => typeof value === "string",
};

const fits = (type: FieldType, value: unknown): value is string | number => FITS[type](value);
const part = (type: FieldType, value: unknown) => type === "text" && fits(type, value);

const TAKES: Record<Where<Table>["is"], (type: FieldType, value: unknown) => boolean> = {
  "=": fits,
  ">=": fits,
  "<=": fits,
  starts: part,
  has: part,
  in: (type, value) => Array.isArray(value) && value.every(FITS[type]),
};

function typeOf<T extends Table>(table: T, field: IndexedField<T>): FieldType {
  const known = indexedFieldsOf(table).find(([name]) => name === field);
  assert(known, `unknown field: ${table}.${field}`);
  return known[1];
}

/**
 * A lone surrogate is not a character, and SQL would replace it silently. It is replaced here, alike for
 * every store.
 */
const wellFormed = (value: string | number) => (typeof value === "string" ? value.toWellFormed() : value);

const codeOrder = (unit: number) => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit);
