// Writes the parts of usage (usage/usage-parts.ts) of charges whose lines are being projected, in the transaction that stores
// these lines. A line that is there already has been added with it: its charge must not come here again.

import { StoredRow } from "../stored-rows.ts";
import { type ChargeRow, dayPeriod, hourPeriod, isApart, type Period } from "../usage/charge-rows.ts";
import { OTHER, type PartKind, PartsFold, type StoredParts } from "../usage/usage-parts.ts";
import { SUMS } from "../usage/usage-rows.ts";
import type { SqliteConnection } from "./connection.ts";

/** Rows of hours that one step removes. */
const REMOVED_MAX = 256;

/** The writes of parts on a connection. */
export interface UsagePartsWriter {
  /** Adds charges, those of one actor side by side and in the order of its ledger. Call it inside a transaction. */
  add(charges: readonly ChargeRow[]): void;
  /** Removes some of the rows of hours before this one. Returns false when there are no more. */
  removeHours(before: Period): boolean;
}

/** Creates the writes of parts on a connection. */
export function usagePartsWriter({ prepare, unsynced }: SqliteConnection): UsagePartsWriter {
  const statements = {
    has: prepare<[Period, PartKind, string, string, string]>(
      "SELECT 1 FROM usageParts WHERE period = ? AND kind = ? AND actor = ? AND name = ? AND value = ?",
    ),
    count: prepare<[Period, PartKind, string]>(
      `SELECT count(*) AS count FROM usageParts
       WHERE period = ? AND kind = ? AND actor = ? AND value <> '${OTHER}'`,
    ),
    add: prepare(
      `INSERT INTO usageParts (period, kind, actor, name, value, label, ${SUMS.join(", ")})
       VALUES (?, ?, ?, ?, ?, ?, ${SUMS.map(() => "?").join(", ")})
       ON CONFLICT DO UPDATE SET label = ifnull(excluded.label, label),
         ${SUMS.map((sum) => `${sum} = ${sum} + excluded.${sum}`).join(", ")}`,
    ),
    removeHours: prepare<[Period]>(
      `DELETE FROM usageParts WHERE (period, kind, actor, name, value) IN
         (SELECT period, kind, actor, name, value FROM usageParts
          WHERE period >= 'H' AND period < ? ORDER BY period, kind, actor, name, value LIMIT ${REMOVED_MAX})`,
    ),
  };

  const storedOf = (period: Period, actor: string): StoredParts => ({
    has: (kind, name, value) => statements.has.get(period, kind, actor, name, value) !== null,
    count: (kind) => new StoredRow("usageParts", statements.count.get(period, kind, actor)).integer("count"),
  });

  function addTo(period: Period, charges: readonly ChargeRow[], hasModels: boolean): void {
    const { actor } = charges[0]!;
    const fold = new PartsFold(storedOf(period, actor));
    for (const charge of charges) {
      if (hasModels) fold.addModel(charge);
      if (isApart(charge)) fold.addApart(charge);
    }
    for (const { kind, name, value, label, sums } of fold.added()) {
      statements.add.run(period, kind, actor, name, value, label, ...sums);
    }
  }

  return {
    add(charges) {
      for (const some of runsOf(charges, HOUR_MS)) addTo(hourPeriod(some[0]!.at), some, true);
      const apart = charges.filter(isApart);
      for (const some of runsOf(apart, DAY_MS)) addTo(dayPeriod(some[0]!.at), some, false);
    },
    removeHours: (before) => unsynced(() => statements.removeHours.run(before).changes) === REMOVED_MAX,
  };
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Cuts charges into runs of one actor and of one hour or day. Times of an actor never decrease. */
function* runsOf(charges: readonly ChargeRow[], unitMs: number): Generator<readonly ChargeRow[]> {
  let start = 0;
  while (start < charges.length) {
    const { actor, at } = charges[start]!;
    const endsAt = (Math.floor(at / unitMs) + 1) * unitMs;
    let end = start + 1;
    while (end < charges.length && charges[end]!.actor === actor && charges[end]!.at < endsAt) end++;
    yield charges.slice(start, end);
    start = end;
  }
}
