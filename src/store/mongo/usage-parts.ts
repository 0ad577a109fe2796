// The parts of usage (usage/usage-parts.ts) in MongoDB: one document for each actor and period, which names the last ledger
// line that is in it. They are written with each save, after the lines of its commits and before the usage documents, by the
// node that owns the actor; another node that does the same finds by that line what is there already.
//
// crash                                  state found                     recovery
// after some documents of a save         their lines and parts, and a    a replay from the old snapshot saves again;
//                                        usage document of before        a line that is in a document already stays out
//
// A usage document is older than the parts until it is stored: a report takes out of the parts what its document lacks.

import type { Collection, Document } from "mongodb";
import type { LinesOfCommit } from "../line-rows.ts";
import { parseLinesOfCommit, StoredRow, StoredRowError } from "../stored-rows.ts";
import {
  type ChargeRow,
  chargesOf,
  dayOfPeriod,
  dayPeriod,
  hourPeriod,
  isApart,
  type Period,
} from "../usage/charge-rows.ts";
import {
  negated,
  type PartKind,
  PartsFold,
  PartsTable,
  type PeriodPart,
  parsePart,
} from "../usage/usage-parts.ts";
import { SUMS } from "../usage/usage-rows.ts";
import { type CommitDocument, commitKey } from "./append.ts";
import type { Keyed, MongoConnection } from "./connection.ts";
import { duplicatesOf } from "./errors.ts";
import { LINES_OF_COMMIT } from "./recent-commits.ts";

/** The parts of an actor in one period. */
export interface PartsDocument extends Keyed {
  /** The last ledger line that is in it, and the seq of its commit. */
  readonly number: number;
  readonly seq: number;
  /** The JSON of the parts, each a list of kind, name, value, label and sums. */
  readonly body: string;
}

/** The parts of an actor in one period, as they were read. */
export interface FoundParts {
  readonly period: Period;
  readonly actor: string;
  readonly number: number;
  readonly seq: number;
  readonly parts: readonly PeriodPart[];
}

/** Documents that one query reads or writes. */
const DOCUMENTS_MAX = 100;
/** Documents of hours that one save removes. */
const REMOVED_MAX = 500;
/** How often documents that other nodes write at the same time are read and written again. */
const TRIES_MAX = 10;
/** How long documents of hours are kept: bills by hours go back 48 hours. */
const HOURS_KEPT_MS = 50 * 3_600_000;

/** The key of a document; keys sort by kind of period, then by time. */
export const partsKey = (period: Period, actor: string): string => `${period}/${actor}`;

/** The keys of all documents between two periods, both included. */
export const partsBetween = (from: Period, to: Period): Document => ({
  _id: { $gte: `${from}/`, $lt: `${to}0` },
});

/** Charges of one document, in the order of the ledger. */
interface PartsChange {
  readonly key: string;
  readonly hasModels: boolean;
  readonly charges: readonly ChargeRow[];
}

/** The parts of a database, as far as this node writes them. */
export class MongoUsageParts {
  readonly #connection: MongoConnection;
  readonly #parts: Collection<PartsDocument>;
  /** The documents of hours before this one are removed. */
  #removed: Period = "";

  constructor(connection: MongoConnection) {
    this.#connection = connection;
    this.#parts = connection.collection("usageParts");
  }

  /** Adds the charges of these commits; those of one actor follow the ones that were added before. */
  async add(commits: readonly LinesOfCommit[]): Promise<void> {
    const charges = commits.flatMap(chargesOf).filter((charge) => charge !== null);
    if (charges.length === 0) return;
    charges.sort((a, b) => (a.actor < b.actor ? -1 : a.actor > b.actor ? 1 : a.number - b.number));
    const changes = changesOf(charges);
    for (let i = 0; i < changes.length; i += DOCUMENTS_MAX)
      await this.#store(changes.slice(i, i + DOCUMENTS_MAX));
    await this.#removeHours(hourPeriod(Math.max(...charges.map(({ at }) => at)) - HOURS_KEPT_MS));
  }

  /** Adds to these documents what is not in them yet. Throws when other nodes change them all the time. */
  async #store(changes: readonly PartsChange[]): Promise<void> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const found = await findParts(this.#connection, { _id: { $in: changes.map(({ key }) => key) } });
      const stored = new Map(found.map((one) => [partsKey(one.period, one.actor), one]));
      const writes = changes.flatMap((change) => changed(change, stored.get(change.key)) ?? []);
      if (writes.length === 0 || (await this.#write(writes)) === writes.length) return;
    }
    throw new Error("the usage of an account is written by several nodes at once");
  }

  /** Writes documents that nobody has changed since. Returns how many of them. */
  async #write(writes: readonly PartsWrite[]): Promise<number> {
    const made = writes.filter(({ before }) => before === null).map(({ document }) => document);
    let written = 0;
    if (made.length > 0) {
      const refused = await this.#connection.write(() =>
        duplicatesOf(() => this.#parts.insertMany(made, { ordered: false })),
      );
      written += made.length - refused.size;
    }
    const replaced = writes.filter(({ before }) => before !== null);
    if (replaced.length > 0) {
      const { matchedCount } = await this.#connection.write(() =>
        this.#parts.bulkWrite(
          replaced.map(({ before, document: { _id, ...replacement } }) => ({
            replaceOne: { filter: { _id, number: before! }, replacement },
          })),
          { ordered: false },
        ),
      );
      written += matchedCount;
    }
    return written;
  }

  /** Removes some of the documents of hours that are too old. */
  async #removeHours(before: Period): Promise<void> {
    if (before <= this.#removed) return;
    const old = await this.#connection.read(() =>
      this.#parts
        .find({ _id: { $gte: "H", $lt: before } })
        .limit(REMOVED_MAX)
        .project({ _id: 1 })
        .map((one) => new StoredRow("usageParts", one).key())
        .toArray(),
    );
    if (old.length > 0) await this.#connection.write(() => this.#parts.deleteMany({ _id: { $in: old } }));
    if (old.length < REMOVED_MAX) this.#removed = before;
  }
}

/** A document as it is to be, and the line up to which it must be now; null when it must not be there. */
interface PartsWrite {
  readonly before: number | null;
  readonly document: PartsDocument;
}

/** What a change makes of its document; null when all of it is in it already. */
function changed({ key, hasModels, charges }: PartsChange, found: FoundParts | undefined): PartsWrite | null {
  const table = new PartsTable(found?.parts);
  const fold = new PartsFold(table);
  const more = charges.filter(({ number }) => number > (found?.number ?? 0));
  for (const charge of more) {
    if (hasModels) fold.addModel(charge);
    if (isApart(charge)) fold.addApart(charge);
  }
  const last = more.at(-1);
  if (last === undefined) return null;
  table.add(fold.added());
  const body = JSON.stringify(
    table.parts().map(({ kind, name, value, label, sums }) => [kind, name, value, label, ...sums]),
  );
  return { before: found?.number ?? null, document: { _id: key, number: last.number, seq: last.seq, body } };
}

/** The documents that charges are of, those of hours and days. */
function changesOf(charges: readonly ChargeRow[]): PartsChange[] {
  const ofHours = Map.groupBy(charges, ({ at, actor }) => partsKey(hourPeriod(at), actor));
  const ofDays = Map.groupBy(charges.filter(isApart), ({ at, actor }) => partsKey(dayPeriod(at), actor));
  return [
    ...[...ofHours].map(([key, some]) => ({ key, hasModels: true, charges: some })),
    ...[...ofDays].map(([key, some]) => ({ key, hasModels: false, charges: some })),
  ];
}

/** Reads the parts that a filter finds. */
export const findParts = ({ collection, read }: MongoConnection, filter: Document): Promise<FoundParts[]> =>
  read(() => collection<PartsDocument>("usageParts").find(filter).map(parseParts).toArray());

/** Reads a stored document. Throws `StoredRowError` for what none is. */
export function parseParts(stored: unknown): FoundParts {
  const row = new StoredRow("usageParts", stored);
  const { period, actor } = parsePartsKey(row.key());
  const list: unknown = JSON.parse(row.text("body"));
  if (!Array.isArray(list)) return row.fail("body", "a list of parts");
  const parts = list.map((cells: readonly unknown[]) => {
    const [kind, name, value, label, ...sums] = cells;
    const named = Object.fromEntries(SUMS.map((sum, i) => [sum, sums[i]]));
    return parsePart({ kind, name, value, label, ...named });
  });
  return { period, actor, number: row.integer("number"), seq: row.integer("seq"), parts };
}

/** The period and the actor of a key. */
export function parsePartsKey(key: string): { readonly period: Period; readonly actor: string } {
  const slash = key.indexOf("/");
  if (slash < 0) throw new StoredRowError("a key of usageParts cannot be read");
  return { period: key.slice(0, slash), actor: key.slice(slash + 1) };
}

/** The hours that have any documents, in their order. */
export async function storedHours({ collection, read }: MongoConnection): Promise<readonly Period[]> {
  const parts = collection<PartsDocument>("usageParts");
  const hours: Period[] = [];
  for (let after = "H"; ; ) {
    const range = { _id: { $gte: after, $lt: "I" } };
    const first = await read(() => parts.findOne(range, { sort: { _id: 1 }, projection: { _id: 1 } }));
    if (first === null) return hours;
    const { period } = parsePartsKey(new StoredRow("usageParts", first).key());
    hours.push(period);
    // Behind the keys of all actors: a zero sorts behind the slash.
    after = `${period}0`;
  }
}

/** The parts of a kind as of a usage document of the same day, whose last commit is `seq`. */
export async function partsAsOf(
  { collection, read }: MongoConnection,
  found: FoundParts,
  seq: number,
  kind: PartKind,
): Promise<readonly PeriodPart[]> {
  const parts = found.parts.filter((part) => part.kind === kind);
  if (found.seq <= seq) return parts;
  const range = { _id: { $gt: commitKey(found.actor, seq), $lte: commitKey(found.actor, found.seq) } };
  const commits = await read(() =>
    collection<CommitDocument>("commits")
      .find({ ...range, lines: { $gt: 0 } })
      .sort({ _id: 1 })
      .project(LINES_OF_COMMIT)
      .map(parseLinesOfCommit)
      .toArray(),
  );
  const ahead = new PartsFold(new PartsTable(found.parts));
  for (const charge of commits.flatMap(chargesOf)) {
    if (charge === null || charge.number > found.number || !isApart(charge)) continue;
    if (dayOfPeriod(dayPeriod(charge.at)) === dayOfPeriod(found.period)) ahead.addApart(charge);
  }
  return [...parts, ...[...ahead.added()].filter((part) => part.kind === kind).map(negated)];
}
