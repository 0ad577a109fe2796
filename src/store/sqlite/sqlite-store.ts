// The embedded store on SQLite: opens a database, migrates its schema and joins the parts beside this file.
// It reads on the server's thread and writes on another, because a write may have to wait for the disk or for
// a lock. A database must not be opened for writing twice (see `lockDatabase`); any number of readers may run
// beside the one writer.

import assert from "node:assert/strict";
import { closeSync, existsSync, mkdirSync, openSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { NO_LINES } from "../line-filter.ts";
import { pageOfWalk } from "../line-rows.ts";
import { REFUSED_WRITES } from "../read-only.ts";
import type { Store } from "../store.ts";
import { UsageReportBuilder } from "../usage/usage-report.ts";
import { totalsRow } from "../usage/usage-rows.ts";
import { parseRank, sqliteRanks } from "./account-ranks.ts";
import { sqliteAnswers } from "./answers.ts";
import { sqliteRows } from "./claims.ts";
import { CommitIndex } from "./commit-index.ts";
import { connectSqlite, type SqliteConnection } from "./connection.ts";
import { sqliteDocuments } from "./documents.ts";
import { anyWrite, SqliteLists } from "./find.ts";
import { sqliteJournal } from "./journal.ts";
import { sqliteKeyCosts } from "./key-costs.ts";
import { amountOf, sqliteLineWalks } from "./line-walk.ts";
import { sqliteLines } from "./lines.ts";
import { untilFree, whileLocked } from "./lock-retry.ts";
import { sqliteMoney } from "./money-totals.ts";
import { sqliteProjections } from "./projections.ts";
import { listChanges, writesOf } from "./queued-writes.ts";
import { sqliteRecovery } from "./recovery.ts";
import { assertColumns, assertCurrent, migrate } from "./schema.ts";
import { sqliteUsageReport } from "./usage-report.ts";
import { sqliteTotals } from "./usage-totals.ts";
import { createUsageWorkerPool, type UsageWorkerPool } from "./usage-worker-pool.ts";
import type { WriterReply } from "./write-messages.ts";
import { WriteQueue } from "./write-queue.ts";
import { sqliteWriter } from "./writer.ts";
import { startWriterThread } from "./writer-thread.ts";

/** How a store is opened. */
export interface SqliteOptions {
  readonly clock: Clock;
  /**
   * Opens the database beside a running server: nothing is created or changed, and every call that would
   * write rejects.
   */
  readonly readOnly?: boolean;
  /** Called with the reason when an append is answered "unknown". */
  readonly onError?: (error: unknown) => void;
}

/** The path of a database that exists in memory only. */
export const MEMORY = ":memory:";

/** Milliseconds that opening waits for a lock of another program. */
const OPEN_MS = 10_000;
/**
 * Milliseconds that a read waits for a lock. In WAL mode only a program that repairs the database ever blocks
 * a read.
 */
const READ_MS = 1_000;
/**
 * Reads rely on the operating system's page cache, because each commit of the writer invalidates a reader's
 * own cache.
 */
const READ_CACHE_KB = 8_000;

/**
 * Opens `sqlite:PATH` or `sqlite::memory:`. It creates the file and its directories unless it is opened for
 * reading. Throws when the database is not this service's, or has another schema version that it may not
 * migrate.
 */
export async function openSqlite(url: string, options: SqliteOptions): Promise<Store> {
  const path = databasePath(url);
  if (options.readOnly) return openReader(path, options);
  if (path === MEMORY) return openInMemory(options);
  makeFile(path);
  return openServed(path, options);
}

/** The reading methods of a store, on a connection of this thread. */
function readsOf(connection: SqliteConnection, clock: Clock, lists: SqliteLists) {
  const index = new CommitIndex(connection);
  return {
    ...whileLocked(clock, READ_MS, {
      ...sqliteJournal(connection, index),
      ...sqliteRecovery(connection),
      ...sqliteLines(connection, index),
      ...sqliteKeyCosts(connection),
      ...sqliteDocuments(connection),
      ...sqliteRows(connection),
      ...sqliteAnswers(connection),
    }),
    find: lists.find.bind(lists),
    count: lists.count.bind(lists),
    scan: lists.scan,
  } satisfies Partial<Store>;
}

/** Orders a short list of accounts on this thread, and a long one on a thread of `pool`, if there is one. */
function ranksOf(
  connection: SqliteConnection,
  lists: SqliteLists,
  pool: UsageWorkerPool | null,
): Pick<Store, "rankAccounts"> {
  const ranks = sqliteRanks(connection);
  return {
    async rankAccounts(query) {
      if (pool !== null && !lists.isShort(query)) return pool.rankAccounts(query);
      return ranks(query).map(parseRank);
    },
  };
}

function openReader(path: string, { clock }: SqliteOptions): Store {
  assert(path !== MEMORY && existsSync(path), `there is no database at ${path}`);
  const connection = connectSqlite(path, { readOnly: true });
  try {
    assertCurrent(connection.db);
    assertColumns(connection.db);
  } catch (error) {
    connection.close();
    throw error;
  }
  const sums = createUsageWorkerPool(path);
  const lists = new SqliteLists(connection, anyWrite(connection), sums.readRows);
  return {
    ...readsOf(connection, clock, lists),
    ...ranksOf(connection, lists, sums),
    ...REFUSED_WRITES,
    now: async () => clock.wall(),
    usageTotals: sums.usageTotals,
    usageReport: sums.usageReport,
    walkLines: sums.walkLines,
    lineTotals: sums.lineTotals,
    moneyTotals: sums.moneyTotals,
    async close() {
      await sums.stop();
      connection.close();
    },
  };
}

/**
 * Uses one connection of this thread for everything, because no other connection could see a database in
 * memory.
 */
function openInMemory({ clock, onError = () => {} }: SqliteOptions): Store {
  const connection = current(connectSqlite(MEMORY));
  const lists = new SqliteLists(connection);
  const queue = new WriteQueue({ clock, onError, onApplied: listChanges(lists) });
  const projections = sqliteProjections({ connection, clock, onError });
  const onReply = (reply: WriterReply) => queue.receive(reply);
  queue.setWriter(sqliteWriter({ connection, clock, onReply, projections }));
  return {
    ...readsOf(connection, clock, lists),
    ...ranksOf(connection, lists, null),
    ...writesOf(queue),
    ...sumsHere(connection),
    ...walksHere(connection),
    now: async () => clock.wall(),
    async close() {
      await queue.finish();
      projections.stop();
      connection.close();
    },
  };
}

/** Reads on this thread and writes on a thread of its own. */
async function openServed(path: string, { clock, onError = () => {} }: SqliteOptions): Promise<Store> {
  const first = await untilFree(clock, OPEN_MS, () => current(connectSqlite(path, { busyMs: 0 })));
  const reading = connectSqlite(path, { readOnly: true, busyMs: 0, cacheKb: READ_CACHE_KB });
  const sums = createUsageWorkerPool(path);
  const lists = new SqliteLists(reading, undefined, sums.readRows);
  const queue = new WriteQueue({ clock, onError, onApplied: listChanges(lists) });
  const onReply = (reply: WriterReply) => queue.receive(reply);
  const onLost = (why: string) => {
    lists.changed(null);
    queue.lose(why);
  };
  const thread = await startWriterThread({ path, clock, onReply, onLost })
    .catch((error: unknown) => {
      reading.close();
      throw error;
    })
    .finally(() => first.close());
  queue.setWriter(thread);
  let closing: Promise<void> | null = null;
  async function close(): Promise<void> {
    await Promise.all([queue.finish(), sums.stop()]);
    reading.close();
    // The connection that closes last folds the write-ahead log into the file.
    await thread.close();
  }
  return {
    ...readsOf(reading, clock, lists),
    ...ranksOf(reading, lists, sums),
    ...writesOf(queue),
    usageTotals: sums.usageTotals,
    usageReport: sums.usageReport,
    walkLines: sums.walkLines,
    lineTotals: sums.lineTotals,
    moneyTotals: sums.moneyTotals,
    async now() {
      queue.assertUsable();
      return clock.wall();
    },
    close: () => (closing ??= close()),
  };
}

/** Migrates a database to the current schema; closes the connection when that fails. */
function current(connection: SqliteConnection): SqliteConnection {
  try {
    migrate(connection);
    assertColumns(connection.db);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * Sums on this thread, because no other thread could see a database in memory. It blocks the event loop
 * meanwhile.
 */
function sumsHere(connection: SqliteConnection): Pick<Store, "usageTotals" | "usageReport" | "moneyTotals"> {
  const [totals, report] = [sqliteTotals(connection), sqliteUsageReport(connection)];
  const money = sqliteMoney(connection);
  return {
    async usageTotals(query, signal) {
      signal?.throwIfAborted();
      return totals(query).map((values) => totalsRow(query.by, values));
    },
    async usageReport(query, signal) {
      signal?.throwIfAborted();
      const builder = new UsageReportBuilder();
      for (const part of report(query)) builder.add(part);
      builder.end();
      return builder.report;
    },
    moneyTotals: async () => money(),
  };
}

/** Walks over lines on this thread, for the same reason. */
function walksHere(connection: SqliteConnection): Pick<Store, "walkLines" | "lineTotals"> {
  const walks = sqliteLineWalks(connection);
  return {
    async walkLines(filter, walk, signal) {
      signal?.throwIfAborted();
      return pageOfWalk(
        Array.from(walks.walk(filter, walk)).flatMap(({ lines }) => lines),
        walk,
      );
    },
    async lineTotals(filter, signal) {
      signal?.throwIfAborted();
      let { count, amount } = NO_LINES;
      for (const step of walks.totals(filter)) {
        count += step.count;
        amount += amountOf(step);
      }
      return { count, amount };
    },
  };
}

/**
 * The real path that a `sqlite:` URL names, so that two paths of one file share one lock. Throws when the URL
 * names none.
 */
export function databasePath(url: string): string {
  assert(url.startsWith("sqlite:"), `${url} is not a sqlite: address`);
  const path = url.slice("sqlite:".length);
  assert(path !== "", "sqlite: needs the path of a file, as in sqlite:data/arborgate.db");
  if (path === MEMORY) return path;
  return existsSync(path) ? realpathSync(path) : resolve(path);
}

/**
 * Creates the file with mode 0600, whatever the umask; SQLite gives the files beside it the same mode. An
 * existing file stays as it is.
 */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "a", 0o600));
}
