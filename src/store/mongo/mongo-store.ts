// The store on MongoDB: connects, creates the indexes and joins the parts beside this file. Any number of
// nodes may use one database; the unique key of each commit keeps two writers apart. It must not acknowledge
// a write before a majority has it.

import { REFUSED_WRITES } from "../read-only.ts";
import type { Store } from "../store.ts";
import { accountFields } from "./account-fields.ts";
import { mongoRanks } from "./account-ranks.ts";
import { mongoAnswers } from "./answers.ts";
import { mongoAppend } from "./append.ts";
import { mongoRows } from "./claims.ts";
import { connectMongo, type MongoOptions } from "./connection.ts";
import { mongoDocuments, newest } from "./documents.ts";
import { mongoLists } from "./find.ts";
import { makeIndexes } from "./indexes.ts";
import { mongoJournal } from "./journal.ts";
import { mongoKeyCosts } from "./key-costs.ts";
import { Backfill } from "./line-backfill.ts";
import { MongoLineProjection } from "./line-projection.ts";
import { mongoLines } from "./line-walk.ts";
import { MongoMoneyProjection } from "./money-projection.ts";
import { mongoMoney } from "./money-totals.ts";
import { RecentCommits } from "./recent-commits.ts";
import { mongoRecords } from "./records.ts";
import { checkSchema } from "./schema.ts";
import { mongoTotals } from "./usage-totals.ts";

/**
 * Each append is a call of the server, and dear beside the commits in it, so that a few large ones cost less than many
 * small ones. With one at a time every actor would wait for the slowest.
 */
const APPENDS_AT_ONCE = 2;
/** Under load an append takes longer than this, so the wait for more commits is the smaller part of what a reply waits. */
const APPEND_DELAY_MS = 3;

/**
 * Opens `mongodb:` and `mongodb+srv:` addresses. Rejects when the servers cannot be reached or the database
 * has another version; its errors contain no password.
 */
export async function openMongo(url: string, options: MongoOptions): Promise<Store> {
  const { readOnly = false } = options;
  const connection = await connectMongo(url, options);
  const records = mongoRecords(connection);
  const sums = mongoTotals(connection);
  const lines = mongoLines(connection);
  const documents = mongoDocuments(connection);
  const recent = new RecentCommits();
  const projection = new MongoLineProjection(connection, recent);
  const money = new MongoMoneyProjection(connection, recent);
  const backfills = [
    new Backfill(connection, "lines", (after) => projection.projectNext(after)),
    new Backfill(connection, "money", (after) => money.backfillNext(after)),
    new Backfill(connection, "accounts", accountFields(connection)),
    new Backfill(connection, "creditExpiry", accountFields(connection)),
  ];
  try {
    await checkSchema(connection, readOnly);
    if (!readOnly) {
      await makeIndexes(connection);
      await records.start();
      await Promise.all(backfills.map((backfill) => backfill.start()));
    }
  } catch (error) {
    await connection.close();
    throw error;
  }
  const store: Store = {
    append: mongoAppend(connection, (commit, eventChars) => recent.add(commit, eventChars)),
    appendsAtOnce: APPENDS_AT_ONCE,
    appendDelayMs: APPEND_DELAY_MS,
    appendsOutliveSender: true,
    ...mongoJournal(connection),
    lines: lines.lines,
    walkLines: lines.walkLines,
    lineTotals: lines.lineTotals,
    ...mongoKeyCosts(connection),
    ...documents,
    followsSnapshots: true,
    async save(saves) {
      // What is derived of commits counts each once only where a call has one range of an actor.
      const taken = saves.flatMap(({ snapshot }) => snapshot ?? []);
      const snapshots = newest(taken, ({ actor }) => actor);
      await Promise.all([projection.project(snapshots), money.project(snapshots)]);
      for (const { actor, seq } of snapshots) recent.dropTo(actor, seq);
      await documents.save(saves);
    },
    ...mongoLists(connection),
    ...mongoRanks(connection),
    ...mongoRows(connection),
    ...mongoAnswers(connection),
    putRecords: records.putRecords,
    removeRecords: records.removeRecords,
    usageTotals: sums.usageTotals,
    usageReport: sums.usageReport,
    moneyTotals: mongoMoney(connection, money),
    now: connection.now,
    async close() {
      records.stop();
      await Promise.all(backfills.map((backfill) => backfill.stop()));
      await Promise.all([sums.stop(), lines.stop()]);
      await connection.close();
    },
  };
  return readOnly ? { ...store, ...REFUSED_WRITES } : store;
}
