// Sums of usage. The servers add up totals; the usage that whole bills need is read once, document by
// document, and added up here, so that days and accounts are as of one moment. Two queries run at once, some
// wait, and the rest is refused. A sum that a change of primary interrupts starts again. It reads only; the
// event loop turns between the batches of a cursor.

import type { Document } from "mongodb";
import { Semaphore } from "../../base/semaphore.ts";
import type { Store, TotalsQuery, TotalsRow, UsageReportQuery } from "../store.ts";
import { runQuery } from "../usage/run-query.ts";
import { createUsageAggregator, type UsageAggregator } from "../usage/usage-aggregator.ts";
import { gathering } from "../usage/usage-report.ts";
import { checkTotals, SUMS, totalsRow } from "../usage/usage-rows.ts";
import { type MongoConnection, PATIENT_MS } from "./connection.ts";
import type { FoundDocument, UsageDocument } from "./documents.ts";
import { startsWith } from "./query-builder.ts";

const QUERIES_MAX = 2;
const QUEUE_MAX = 64;
/** Documents per batch of a cursor, which are processed in a few milliseconds. */
const BATCH = 500;

/** The store's sums of usage. */
export interface MongoTotals extends Pick<Store, "usageTotals" | "usageReport"> {
  /** Rejects waiting and later queries, and waits for the running ones. */
  stop(): Promise<void>;
}

/** Creates the sums of usage on a connection. */
export function mongoTotals({ patient, patiently, read, collection }: MongoConnection): MongoTotals {
  const queries = new Semaphore(QUERIES_MAX, QUEUE_MAX);
  const usage = patient<UsageDocument>("usage");
  const ways = { allowDiskUse: true, batchSize: BATCH, maxTimeMS: PATIENT_MS };

  async function sum(query: TotalsQuery): Promise<readonly TotalsRow[]> {
    const { by } = query;
    const rows: TotalsRow[] = [];
    const sums = usage.aggregate<Document>(
      [
        { $match: asked(query) },
        { $unwind: "$models" },
        // All documents of a group have the same value in a field that is grouped by, so the first one's is
        // taken.
        { $group: { _id: grouped(by), ...first(by), ...ADDED } },
        ...(by.length === 0 ? [] : [{ $sort: Object.fromEntries(by.map((field) => [field, 1])) }]),
      ],
      ways,
    );
    for await (const row of sums) {
      // A sum beyond the safe integers comes as a 64-bit integer, which converts to exact text.
      const cells = [...by.map((field) => row[field]), ...SUMS.map((name) => String(row[name]))];
      rows.push(totalsRow(by, cells));
    }
    return rows;
  }

  async function add(query: UsageReportQuery, sums: UsageAggregator): Promise<void> {
    const days = usage
      .find(asked(query), ways)
      .project<UsageDocument>({ account: 1, day: 1, models: 1, _id: 0 });
    for await (const { account, day, models } of days) {
      for (const model of models) {
        sums.of(day, model.model)(
          account,
          SUMS.map((name) => model[name]),
          0,
        );
      }
    }
  }

  /** Reads the `tell` fields of these accounts. */
  async function toldOf(tell: readonly string[], ids: readonly number[]) {
    const told = new Map<number, string[]>();
    for (let i = 0; tell.length > 0 && i < ids.length; i += BATCH) {
      const some = ids.slice(i, i + BATCH);
      const found = await read(() =>
        collection<FoundDocument & { id: number }>("accounts")
          .find({ id: { $in: some } })
          .project<FoundDocument & { id: number }>({ id: 1, body: 1, _id: 0 })
          .toArray(),
      );
      for (const { id, body } of found) {
        const known = JSON.parse(body);
        told.set(
          id,
          tell.map((field) => String(known[field] ?? "")),
        );
      }
    }
    return told;
  }

  async function usedBy(query: UsageReportQuery) {
    const sums = createUsageAggregator();
    await add(query, sums);
    const accounts = sums.accounts();
    const told = await toldOf(
      query.tell,
      accounts.map(([account]) => account as number),
    );
    const nothing = query.tell.map(() => "");
    const gathered = gathering();
    gathered.take({ of: "days", rows: sums.days() });
    gathered.take({
      of: "accounts",
      rows: accounts.map((row) => [...row, ...(told.get(row[0] as number) ?? nothing)]),
    });
    return gathered.used;
  }

  return {
    async usageTotals(query, signal) {
      checkTotals(query);
      return runQuery(queries, () => patiently(() => sum(query)), signal);
    },
    async usageReport(query, signal) {
      checkTotals({ ...query, by: [] });
      return runQuery(queries, () => patiently(() => usedBy(query)), signal);
    },
    stop: () => queries.close(),
  };
}

const ADDED = Object.fromEntries(SUMS.map((name) => [name, { $sum: `$models.${name}` }]));

const PLACES = { day: "$day", model: "$models.model", account: "$account" } as const;

const grouped = (by: TotalsQuery["by"]): Document | null =>
  by.length === 0 ? null : Object.fromEntries(by.map((field) => [field, PLACES[field]]));

const first = (by: TotalsQuery["by"]): Document =>
  Object.fromEntries(by.map((field) => [field, { $first: PLACES[field] }]));

const asked = ({ accounts, from, to }: Pick<TotalsQuery, "accounts" | "from" | "to">): Document => ({
  day: { $gte: from, $lte: to },
  ...("ids" in accounts ? { account: { $in: [...accounts.ids] } } : startsWith("dna", accounts.dna)),
});
