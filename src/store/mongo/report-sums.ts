// Adds up the usage of a report: the usage documents of its days, or the documents of its hours, read once, document by document,
// with its groups. It reads only; the event loop turns between the batches of a cursor.
//
// The parts of a day may be newer than its usage document. What the document lacks is taken out of them again, so that groups
// and days are as of the same commit of each account.

import type { Collection, Document } from "mongodb";
import type { UsageReportQuery } from "../store.ts";
import { StoredRow } from "../stored-rows.ts";
import { dayOfPeriod } from "../usage/charge-rows.ts";
import { UsageAggregator } from "../usage/usage-aggregator.ts";
import { UsageGroups } from "../usage/usage-groups.ts";
import type { PartKind } from "../usage/usage-parts.ts";
import { addHour, addToGroups, hoursOf, partKindOf } from "../usage/usage-report.ts";
import { type MongoConnection, PATIENT_MS } from "./connection.ts";
import { parseUsageDocument, type UsageDocument } from "./documents.ts";
import { startsWith } from "./query-builder.ts";
import {
  findParts,
  type PartsDocument,
  parseParts,
  parsePartsKey,
  partsAsOf,
  partsBetween,
  partsKey,
} from "./usage-parts.ts";

/** Documents per batch of a cursor, which are processed in a few milliseconds. */
const BATCH = 500;
/** Documents of parts that one query names: each may take a millisecond, when it has a thousand tags. */
const PARTS_MAX = 4;
/** Characters of documents that are parsed between two turns of the event loop. */
const PARSED_MAX = 200_000;
/** Keys that one query names at most; of more, all of the periods are read. */
const KEYS_MAX = 5_000;

/** The actors of accounts are named so. */
const ACTOR = "account/";
const actorOf = (account: number): string => `${ACTOR}${account}`;
const accountOf = (actor: string): number => Number(actor.slice(ACTOR.length));

/** The usage documents of a query. */
export const usageFilter = ({
  accounts,
  from,
  to,
}: Pick<UsageReportQuery, "accounts" | "from" | "to">): Document => ({
  day: { $gte: from, $lte: to },
  ...("ids" in accounts ? { account: { $in: [...accounts.ids] } } : startsWith("dna", accounts.dna)),
});

/** The sums of reports on a connection. */
export class MongoReportSums {
  readonly #connection: MongoConnection;
  readonly #usage: Collection<UsageDocument>;
  readonly #parts: Collection<PartsDocument>;

  constructor(connection: MongoConnection) {
    const { patient } = connection;
    this.#connection = { ...connection, collection: patient, read: (work) => work() };
    this.#usage = patient("usage");
    this.#parts = patient("usageParts");
  }

  /** The sums of a report, and its groups; null without a grouping. Errors that pass are the caller's to repeat. */
  async sums(query: UsageReportQuery): Promise<readonly [UsageAggregator, UsageGroups | null]> {
    const { grouping, hours } = query;
    if (grouping === undefined) return [await this.#days(query), null];
    const groups = new UsageGroups(grouping, hours === undefined ? null : hoursOf(hours));
    if (hours !== undefined) return [await this.#hours(query, hours, groups), groups];
    const kind = partKindOf(query);
    const keys = kind === null ? null : await this.#partsKeys(query);
    const seqs = new Map<string, number>();
    const sums = await this.#days(query, (row) => {
      const key = partsKey(`D${row.text("day")}`, actorOf(row.integer("account")));
      if (keys?.has(key)) seqs.set(key, row.integer("seq"));
    });
    addToGroups(groups, grouping, sums);
    if (kind !== null) await this.#addParts(groups, kind, seqs);
    return [sums, groups];
  }

  /** Sums the usage documents of a query. `onDocument` is called with each of them. */
  async #days(
    query: UsageReportQuery,
    onDocument: (row: StoredRow) => void = () => {},
  ): Promise<UsageAggregator> {
    const sums = new UsageAggregator();
    const fields = { account: 1, day: 1, models: 1, seq: 1 };
    for await (const document of this.#usage.find(usageFilter(query), READ).project(fields)) {
      onDocument(new StoredRow("usage", document));
      for (const { day, model, account, sums: figures } of parseUsageDocument(document)) {
        sums.add(sums.group(day, model), account, figures, 0);
      }
    }
    return sums;
  }

  /** Adds the parts with these keys, each as of the seq of its usage document. */
  async #addParts(groups: UsageGroups, kind: PartKind, seqs: ReadonlyMap<string, number>): Promise<void> {
    const keys = [...seqs.keys()];
    for (let i = 0; i < keys.length; i += PARTS_MAX) {
      const some = { _id: { $in: keys.slice(i, i + PARTS_MAX) } };
      for (const found of await findParts(this.#connection, some)) {
        const seq = seqs.get(partsKey(found.period, found.actor)) ?? 0;
        const parts = await partsAsOf(this.#connection, found, seq, kind);
        groups.addParts(null, accountOf(found.actor), parts);
      }
      await new Promise(setImmediate);
    }
  }

  /** The keys of the parts of a query's days. */
  async #partsKeys({ accounts, from, to }: UsageReportQuery): Promise<ReadonlySet<string>> {
    const keys = new Set<string>();
    const ids = "ids" in accounts ? new Set(accounts.ids) : null;
    const found = this.#parts.find(partsBetween(`D${from}`, `D${to}`), READ).project({ _id: 1 });
    for await (const one of found) {
      const key = new StoredRow("usageParts", one).key();
      if (ids === null || ids.has(accountOf(parsePartsKey(key).actor))) keys.add(key);
    }
    return keys;
  }

  /** Sums the documents of a query's hours, of accounts that have a usage document of the day among the query's. */
  async #hours(
    query: UsageReportQuery,
    hours: NonNullable<UsageReportQuery["hours"]>,
    groups: UsageGroups,
  ): Promise<UsageAggregator> {
    const days = new Set<string>();
    for await (const document of this.#usage.find(usageFilter(query), READ).project({ account: 1, day: 1 })) {
      const row = new StoredRow("usage", document);
      days.add(`${row.integer("account")}/${row.text("day")}`);
    }
    const sums = new UsageAggregator();
    const found = this.#parts.find(hoursFilter(query, hours), READ);
    let parsed = 0;
    for await (const document of found) {
      const { period, actor } = parsePartsKey(new StoredRow("usageParts", document).key());
      const account = accountOf(actor);
      if (!days.has(`${account}/${dayOfPeriod(period)}`)) continue;
      addHour(sums, groups, { account, hour: period }, parseParts(document).parts);
      parsed += document.body.length;
      if (parsed < PARSED_MAX) continue;
      parsed = 0;
      await new Promise(setImmediate);
    }
    return sums;
  }
}

const READ = { allowDiskUse: true, batchSize: BATCH, maxTimeMS: PATIENT_MS };

/** The documents of a query's hours, and where it names many accounts, those of others too. */
function hoursFilter(
  { accounts }: UsageReportQuery,
  hours: NonNullable<UsageReportQuery["hours"]>,
): Document {
  const all = hoursOf(hours);
  if (!("ids" in accounts) || accounts.ids.length * all.length > KEYS_MAX) {
    return partsBetween(hours.from, hours.to);
  }
  const actors = accounts.ids.map(actorOf);
  return { _id: { $in: all.flatMap((hour) => actors.map((actor) => partsKey(hour, actor))) } };
}
