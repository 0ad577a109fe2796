// Sums of usage. The servers add up totals; the usage that whole bills need is read once, document by
// document, and added up here, so that days and accounts are as of one moment. Two queries run at once, some
// wait, and the rest is refused. A sum that a change of primary interrupts starts again. It reads only; the
// event loop turns between the batches of a cursor.

import type { Document } from "mongodb";
import { Semaphore } from "../../base/semaphore.ts";
import type { Store, TotalsQuery, TotalsRow, UsageReportQuery } from "../store.ts";
import { parseBody, StoredRow } from "../stored-rows.ts";
import { runQuery } from "../usage/run-query.ts";
import {
  ACCOUNTS_IN_PART,
  accountsPart,
  checkReport,
  fieldsText,
  groupParts,
  UsageReportBuilder,
} from "../usage/usage-report.ts";
import { checkTotals, SUMS, totalsRow } from "../usage/usage-rows.ts";
import { type MongoConnection, PATIENT_MS } from "./connection.ts";
import type { FoundDocument, UsageDocument } from "./documents.ts";
import { MongoReportSums, usageFilter } from "./report-sums.ts";

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
export function mongoTotals(connection: MongoConnection): MongoTotals {
  const { patient, patiently, read, collection } = connection;
  const queries = new Semaphore(QUERIES_MAX, QUEUE_MAX);
  const usage = patient<UsageDocument>("usage");
  const reports = new MongoReportSums(connection);
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

  /** Reads the query's `accountFields` of these accounts, as JSON. */
  async function fieldTexts(query: UsageReportQuery, accounts: readonly number[]) {
    const texts = new Map<number, string>();
    if (query.accountFields.length === 0) return texts;
    const found = await read(() =>
      collection<FoundDocument & { id: number }>("accounts")
        .find({ id: { $in: [...accounts] } })
        .project({ id: 1, body: 1 })
        .toArray(),
    );
    for (const document of found) {
      const id = new StoredRow("accounts", document).integer("id");
      texts.set(id, fieldsText(query, parseBody("accounts", document)));
    }
    return texts;
  }

  async function report(query: UsageReportQuery, builder: UsageReportBuilder): Promise<void> {
    const [sums, groups] = await patiently(() => reports.sums(query));
    for (const part of groups === null ? [] : groupParts(groups)) builder.add(part);
    builder.add({ of: "days", rows: sums.days(), last: true });
    const none = fieldsText(query, undefined);
    for (const accounts of sums.accounts(ACCOUNTS_IN_PART)) {
      const ids = accounts.map(({ account }) => account);
      const texts = await fieldTexts(query, ids);
      builder.add(accountsPart(accounts, (account) => texts.get(account) ?? none));
      await new Promise(setImmediate);
    }
  }

  return {
    async usageTotals(query, signal) {
      checkTotals(query);
      return runQuery(queries, () => patiently(() => sum(query)), signal);
    },
    async usageReport(query, signal) {
      checkReport(query);
      const builder = new UsageReportBuilder();
      void runQuery(queries, () => report(query, builder), signal).then(
        () => builder.end(),
        (error: unknown) => builder.fail(error),
      );
      return builder.report;
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
