// Builds the filter of a find, a count or a step of a scan. Values are data, never operators; names come from
// TABLES only. A stored document has its indexed fields beside its body, and lacks those that have no value.

import assert from "node:assert/strict";
import type { Document } from "mongodb";
import { checkedGroups, checkOrder } from "../indexed-fields.ts";
import type { CursorPosition } from "../keyset-cursor.ts";
import type { Conditions, ScanQuery, Table, Where } from "../tables.ts";

/** The filter of the documents that meet the conditions. Throws as `checkedGroups` does. */
export function filterOf<T extends Table>(conditions: Conditions<T>): Document {
  const groups = checkedGroups(conditions).map((group) => all(group.map(condition)));
  if (groups.length === 0) return NOTHING;
  return groups.length === 1 ? groups[0]! : { $or: groups };
}

/** The filter of the documents of a scan after a position. Throws as `checkOrder` does. */
export function stepFilter<T extends Table>(walk: ScanQuery<T>, after: CursorPosition | null): Document {
  checkOrder(walk);
  const { order, descending } = walk;
  if (after === null) return { $and: [filterOf(walk), { [order]: { $exists: true } }] };
  const behind = descending ? "$lt" : "$gt";
  const place = [
    { [order]: { [behind]: after.value } },
    { [order]: after.value, _id: { [behind]: after.key } },
  ];
  return { $and: [filterOf(walk), { $or: place }] };
}

/** The sort order of a list; ties are ordered by the document's id. */
export function sortOf<T extends Table>({ order, descending }: ScanQuery<T>): Record<string, 1 | -1> {
  const direction = descending ? -1 : 1;
  return { [order]: direction, _id: direction };
}

/**
 * The filter of the texts that start with `prefix`: a range, which an index can serve; a pattern has a
 * bounded length.
 */
export function startsWith(field: string, prefix: string): Document {
  const end = endOf(prefix);
  const range = end === null ? { $gte: prefix } : { $gte: prefix, $lt: end };
  return LAST.test(prefix) ? all([{ [field]: range }, contains(field, prefix, 0)]) : { [field]: range };
}

const NOTHING: Document = { _id: { $in: [] } };

const all = (filters: readonly Document[]): Document => (filters.length === 0 ? {} : { $and: filters });

const condition = <T extends Table>({ field, is, value }: Where<T>): Document => CONDITIONS[is](field, value);

const CONDITIONS: Record<Where<Table>["is"], (field: string, value: Where<Table>["value"]) => Document> = {
  "=": (field, value) => ({ [field]: { $eq: value } }),
  ">=": (field, value) => ({ [field]: { $gte: value } }),
  "<=": (field, value) => ({ [field]: { $lte: value } }),
  starts: (field, value) => startsWith(field, String(value)),
  has: (field, value) => contains(field, String(value)),
  in: (field, value) => {
    assert(typeof value === "object", "`in` takes a list");
    return { [field]: { $in: [...value] } };
  },
};

/**
 * Matches the text literally; only at the byte offset `at`, when it is given. $indexOfBytes of an absent
 * field is null, which sorts below every number.
 */
const contains = (field: string, part: string, at?: number): Document => ({
  $expr: {
    [at === undefined ? "$gte" : "$eq"]: [{ $indexOfBytes: [`$${field}`, { $literal: part }] }, at ?? 0],
  },
});

/** The last code points: nothing simple comes after them in any of the orders that servers use for text. */
const LAST = /[\uffff\u{10ffff}]$/u;

/**
 * Returns the first text after all texts that start with `prefix`; when the prefix ends with the last code
 * points, after those that start with the rest of it. Null when none comes after them.
 */
function endOf(prefix: string): string | null {
  const points = [...prefix];
  let last = points.pop();
  while (last !== undefined && LAST.test(last)) last = points.pop();
  if (last === undefined) return null;
  const next = last.codePointAt(0)! + 1;
  // Surrogates are not characters: after U+D7FF comes U+E000.
  return points.join("") + String.fromCodePoint(next === 0xd800 ? 0xe000 : next);
}
