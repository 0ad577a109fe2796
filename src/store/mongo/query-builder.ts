// Builds the filter of a find, a count or a step of a walk. Values are data, never operators; names come from TABLES
// only. A document has its indexed fields beside its body, and lacks those that have no value.

import assert from "node:assert/strict";
import type { Document } from "mongodb";
import { checkedGroups, checkOrder } from "../indexed-fields.ts";
import type { CursorPosition } from "../keyset-cursor.ts";
import type { Conditions, ScanQuery, Table, Where } from "../tables.ts";

/** What meets the conditions. */
export function filterOf<T extends Table>(conditions: Conditions<T>): Document {
  const groups = checkedGroups(conditions).map((group) => all(group.map(condition)));
  if (groups.length === 0) return NOTHING;
  return groups.length === 1 ? groups[0]! : { $or: groups };
}

/** What of a walk lies behind a place. */
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

/** The order of a list; documents that tie go by their id. */
export function sortOf<T extends Table>({ order, descending }: ScanQuery<T>): Record<string, 1 | -1> {
  const direction = descending ? -1 : 1;
  return { [order]: direction, _id: direction };
}

/** A range, which an index can serve; a pattern has bounds on its length. */
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

/** Taken literally; at a place, when one is named. An absent field has no place, which is less than any. */
const contains = (field: string, part: string, at?: number): Document => ({
  $expr: {
    [at === undefined ? "$gte" : "$eq"]: [{ $indexOfBytes: [`$${field}`, { $literal: part }] }, at ?? 0],
  },
});

/** The last characters there are: nothing simple comes after them, in whatever way a server orders text. */
const LAST = /[\uffff\u{10ffff}]$/u;

/** The first text after all that start with `prefix`, or, where it ends with the last characters, with less of it. */
function endOf(prefix: string): string | null {
  const points = [...prefix];
  let last = points.pop();
  while (last !== undefined && LAST.test(last)) last = points.pop();
  if (last === undefined) return null;
  const next = last.codePointAt(0)! + 1;
  // Surrogates are no characters: after U+D7FF comes U+E000.
  return points.join("") + String.fromCodePoint(next === 0xd800 ? 0xe000 : next);
}
