// Writes the parts of usage (usage/usage-parts.ts) of charges whose lines are being projected, in the transaction that stores
// these lines. A line that is there already has been added with it: its charge must not come here again.

import { StoredRow } from "../stored-rows.ts";
import { type ChargeRow, dayPeriod, hourPeriod, isApart, type Period } from "../usage/charge-rows.ts";
import { OTHER, PART_KINDS, type PartKind, PartsFold, type StoredParts } from "../usage/usage-parts.ts";
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

type PartStatements = ReturnType<typeof partStatements>;

function partStatements({ prepare }: SqliteConnection) {
  return {
    first: prepare<[Period, PartKind, string]>(
      `SELECT name, value FROM usageParts WHERE period = ? AND kind = ? AND actor = ? LIMIT ${FEW_MAX + 1}`,
    ),
    has: prepare<[Period, PartKind, string, string, string]>(
      "SELECT 1 FROM usageParts WHERE period = ? AND kind = ? AND actor = ? AND name = ? AND value = ?",
    ),
    hasName: prepare<[Period, PartKind, string, string]>(
      "SELECT 1 FROM usageParts WHERE period = ? AND kind = ? AND actor = ? AND name = ? LIMIT 1",
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
}

/** Parts of a kind that are read at once to know all of them; of more, each is looked up. */
const FEW_MAX = 32;

interface PartName {
  readonly name: string;
  readonly value: string;
}

/** The stored parts of an actor and period, as far as a fold asks for them. */
class SqliteStoredParts implements StoredParts {
  /** By kind, all parts where they are few; null where they are many. */
  readonly #few = new Map<PartKind, readonly PartName[] | null>();

  constructor(
    private readonly statements: PartStatements,
    private readonly period: Period,
    private readonly actor: string,
  ) {}

  has(kind: PartKind, name: string, value: string): boolean {
    const few = this.#fewOf(kind);
    if (few !== null) return few.some((one) => one.value === value && one.name === name);
    return this.statements.has.get(this.period, kind, this.actor, name, value) !== null;
  }

  hasTag(name: string): boolean {
    const few = this.#fewOf(PART_KINDS.tag);
    if (few !== null) return few.some((one) => one.name === name);
    return this.statements.hasName.get(this.period, PART_KINDS.tag, this.actor, name) !== null;
  }

  count(kind: PartKind): number {
    const few = this.#fewOf(kind);
    if (few !== null) return few.filter(({ value }) => value !== OTHER).length;
    const count = this.statements.count.get(this.period, kind, this.actor);
    return new StoredRow("usageParts", count).integer("count");
  }

  #fewOf(kind: PartKind): readonly PartName[] | null {
    const known = this.#few.get(kind);
    if (known !== undefined) return known;
    const rows = this.statements.first.all(this.period, kind, this.actor);
    const few = rows.length > FEW_MAX ? null : rows.map(partName);
    this.#few.set(kind, few);
    return few;
  }
}

function partName(stored: unknown): PartName {
  const row = new StoredRow("usageParts", stored);
  return { name: row.text("name"), value: row.text("value") };
}

/** Creates the writes of parts on a connection. */
export function usagePartsWriter(connection: SqliteConnection): UsagePartsWriter {
  const statements = partStatements(connection);

  function addTo(period: Period, charges: readonly ChargeRow[], hasModels: boolean): void {
    const { actor } = charges[0]!;
    const fold = new PartsFold(new SqliteStoredParts(statements, period, actor));
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
    removeHours: (before) =>
      connection.unsynced(() => statements.removeHours.run(before).changes) === REMOVED_MAX,
  };
}

/**
 * How much of a step's time a charge takes, in lines: its line, its parts where they are others than those of the charge
 * before it, and two for each tag, of its hour and of its day.
 */
export const partsWeight = ({ apiKey, tags }: ChargeRow, isOfSameActor: boolean): number =>
  (isOfSameActor ? 1 : 3) + (apiKey === 0 ? 0 : 2) + 2 * tags.length;

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
