// Sums of usage. The servers add up totals; the usage that whole bills need is read once, document by
// document, and added up here, so that days and accounts are as of one moment. Two queries run at once, some
// wait, and the rest is refused. A sum that a change of primary interrupts starts again. It reads only; the
// event loop turns between the batches of a cursor.

import type { Document } from "mongodb";
import { Semaphore } from "../../base/semaphore.ts";
import type { Store, TotalsQuery, TotalsRow, UsageReportQuery } from "../store.ts";
import { parseBody, StoredRow } from "../stored-rows.ts";
import { runQuery } from "../usage/run-query.ts";
import { UsageAggregator } from "../usage/usage-aggregator.ts";
import { UsageReportBuilder } from "../usage/usage-report.ts";
import { checkTotals, SUMS, totalsRow } from "../usage/usage-rows.ts";
import { type MongoConnection, PATIENT_MS } from "./connection.ts";
import { type FoundDocument, parseUsageDocument, type UsageDocument } from "./documents.ts";
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
  const options = { allowDiskUse: true, batchSize: BATCH, maxTimeMS: PATIENT_MS };

  async function sum(query: TotalsQuery): Promise<readonly TotalsRow[]> {
    const { by } = query;
    const rows: TotalsRow[] = [];
    const sums = usage.aggregate<Document>(
      [
        { $match: usageFilter(query) },
        { $unwind: "$models" },
        // All documents of a group have the same value in a field that is grouped by, so the first one's is
        // taken.
        { $group: { _id: grouped(by), ...first(by), ...ADDED } },
        ...(by.length === 0 ? [] : [{ $sort: Object.fromEntries(by.map((field) => [field, 1])) }]),
      ],
      options,
    );
    for await (const row of sums) {
      // A sum beyond the safe integers comes as a 64-bit integer, which converts to exact text.
      const cells = [...by.map((field) => row[field]), ...SUMS.map((name) => String(row[name]))];
      rows.push(totalsRow(by, cells));
    }
    return rows;
  }

  async function addRows(query: UsageReportQuery, sums: UsageAggregator): Promise<void> {
    const documents = usage.find(usageFilter(query), options).project({ account: 1, day: 1, models: 1 });
    for await (const document of documents) {
      for (const { day, model, account, sums: figures } of parseUsageDocument(document)) {
        sums.add(sums.group(day, model), account, figures, 0);
      }
    }
  }

  /** Reads these fields of the documents of these accounts. */
  async function accountFieldValues(fields: readonly string[], accounts: readonly number[]) {
    const values = new Map<number, readonly string[]>();
    for (let i = 0; fields.length > 0 && i < accounts.length; i += BATCH) {
      const some = accounts.slice(i, i + BATCH);
      const found = await read(() =>
        collection<FoundDocument & { id: number }>("accounts")
          .find({ id: { $in: some } })
          .project({ id: 1, body: 1 })
          .toArray(),
      );
      for (const document of found) {
        const body = parseBody("accounts", document);
        values.set(
          new StoredRow("accounts", document).integer("id"),
          fields.map((field) => String(body[field] ?? "")),
        );
      }
    }
    return values;
  }

  async function report(query: UsageReportQuery) {
    const sums = new UsageAggregator();
    await addRows(query, sums);
    const accounts = sums.accounts();
    const ids = accounts.map(({ account }) => account);
    const values = await accountFieldValues(query.accountFields, ids);
    const none = query.accountFields.map(() => "");
    const rows = accounts.map(({ account, cells }) => {
      return { account, cells, fieldValues: values.get(account) ?? none };
    });
    const builder = new UsageReportBuilder();
    builder.add({ of: "days", rows: sums.days() });
    builder.add({ of: "accounts", rows });
    return builder.report;
  }

  return {
    async usageTotals(query, signal) {
      checkTotals(query);
      return runQuery(queries, () => patiently(() => sum(query)), signal);
    },
    async usageReport(query, signal) {
      checkTotals({ ...query, by: [] });
      return runQuery(queries, () => patiently(() => report(query)), signal);
    },
    stop: () => queries.close(),
  };
}

const ADDED = Object.fromEntries(SUMS.map((name) => [name, { $sum: `$models.${name}` }]));

const FIELD_PATHS = { day: "$day", model: "$models.model", account: "$account" } as const;

const grouped = (by: TotalsQuery["by"]): Document | null =>
  by.length === 0 ? null : Object.fromEntries(by.map((field) => [field, FIELD_PATHS[field]]));

const first = (by: TotalsQuery["by"]): Document =>
  Object.fromEntries(by.map((field) => [field, { $first: FIELD_PATHS[field] }]));

const usageFilter = ({ accounts, from, to }: Pick<TotalsQuery, "accounts" | "from" | "to">): Document => ({
  day: { $gte: from, $lte: to },
  ...("ids" in accounts ? { account: { $in: [...accounts.ids] } } : startsWith("dna", accounts.dna)),
});
