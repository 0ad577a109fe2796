// The embedded store on SQLite: opens a database, brings its schema up to date and joins the parts beside this file.
// It reads on the server's thread and writes in another, since a write may have to wait: for the disk, for a lock. Must not be
// opened for writing twice: see lock.ts; any number of readers may stand beside the one writer.

import assert from "node:assert/strict";
import { closeSync, existsSync, mkdirSync, openSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Store } from "../store.ts";
import { gathering } from "../usage/usage-report.ts";
import { totalsRow } from "../usage/usage-rows.ts";
import { sqliteAnswers } from "./answers.ts";
import { sqliteRows } from "./claims.ts";
import { connectSqlite, type SqliteConnection } from "./connection.ts";
import { sqliteDocuments } from "./documents.ts";
import { anyWrite, sqliteLists } from "./find.ts";
import { sqliteJournal } from "./journal.ts";
import { untilFree, whileLocked } from "./lock-retry.ts";
import { countingListed, type Written, writesOf } from "./queued-writes.ts";
import { assertColumns, assertCurrent, migrate } from "./schema.ts";
import { sqliteUsed } from "./usage-report.ts";
import { sqliteTotals } from "./usage-totals.ts";
import { createUsageWorkerPool } from "./usage-worker-pool.ts";
import type { WriterReply } from "./write-messages.ts";
import { WriteQueue } from "./write-queue.ts";
import { sqliteWriter } from "./writer.ts";
import { writesApart } from "./writer-thread.ts";

export interface SqliteOptions {
  readonly clock: Clock;
  /** Beside a running server: creates and changes nothing, and every call that would write throws. */
  readonly readOnly?: boolean;
  /** Hears why an append was answered "unknown". */
  readonly onError?: (error: unknown) => void;
}

export const MEMORY = ":memory:";

/** How long an opening waits for a lock that another program holds. */
const OPEN_MS = 10_000;
/** The same of a read: only such a program's repairs ever stand in its way. */
const READ_MS = 1_000;
/** Pages that are read are the system's to keep: each commit of the writer empties a reader's own memory. */
const READ_CACHE_KB = 8_000;

/** Opens `sqlite:PATH` or `sqlite::memory:`; creates the file and its directories unless it is opened to read. */
export async function openSqlite(url: string, options: SqliteOptions): Promise<Store> {
  const path = databasePath(url);
  if (options.readOnly) return openReader(path, options);
  if (path === MEMORY) return openInMemory(options);
  makeFile(path);
  return openServed(path, options);
}

/** What is read, on a connection of this thread. */
function readsOf(connection: SqliteConnection, clock: Clock, version: () => unknown) {
  return {
    ...whileLocked(clock, READ_MS, {
      ...sqliteJournal(connection),
      ...sqliteDocuments(connection),
      ...sqliteRows(connection),
      ...sqliteAnswers(connection),
    }),
    ...sqliteLists(connection, version),
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
  const apart = createUsageWorkerPool(path);
  return {
    ...readsOf(connection, clock, anyWrite(connection)),
    ...REFUSED,
    now: async () => clock.wall(),
    usageTotals: apart.totals,
    usageReport: apart.used,
    async close() {
      await apart.stop();
      connection.close();
    },
  };
}

/** All on one connection of this thread: no other could see a database in memory. */
function openInMemory({ clock, onError = () => {} }: SqliteOptions): Store {
  const connection = current(connectSqlite(MEMORY));
  const listed = { writes: 0 };
  const queue = new WriteQueue({ clock, onError, landed: countingListed(listed) });
  queue.serve(sqliteWriter({ connection, clock, tell: (told) => queue.told(told) }));
  return {
    ...readsOf(connection, clock, () => listed.writes),
    ...writesOf(queue),
    ...sumsHere(connection),
    now: async () => clock.wall(),
    async close() {
      await queue.finish();
      connection.close();
    },
  };
}

/** Read on this thread, written in one of its own. */
async function openServed(path: string, { clock, onError = () => {} }: SqliteOptions): Promise<Store> {
  const first = await untilFree(clock, OPEN_MS, () => current(connectSqlite(path, { busyMs: 0 })));
  const listed = { writes: 0 };
  const queue = new WriteQueue({ clock, onError, landed: countingListed(listed) });
  const told = (one: WriterReply) => queue.told(one);
  const lost = (why: string) => {
    listed.writes++;
    queue.lose(why);
  };
  const thread = await writesApart({ path, clock, told, lost }).finally(() => first.close());
  queue.serve(thread);
  const reading = connectSqlite(path, { readOnly: true, busyMs: 0, cacheKb: READ_CACHE_KB });
  const apart = createUsageWorkerPool(path);
  let closing: Promise<void> | null = null;
  async function close(): Promise<void> {
    await Promise.all([queue.finish(), apart.stop()]);
    reading.close();
    // The last to let go of the file folds the log into it.
    await thread.close();
  }
  return {
    ...readsOf(reading, clock, () => listed.writes),
    ...writesOf(queue),
    usageTotals: apart.totals,
    usageReport: apart.used,
    async now() {
      queue.mustLive();
      return clock.wall();
    },
    close: () => (closing ??= close()),
  };
}

/** Brings a database to the current schema; closes it where that fails. */
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

/** Where nobody else waits for the event loop: no other thread could see a database in memory. */
function sumsHere(connection: SqliteConnection): Pick<Store, "usageTotals" | "usageReport"> {
  const [totals, used] = [sqliteTotals(connection), sqliteUsed(connection)];
  return {
    async usageTotals(query, signal) {
      signal?.throwIfAborted();
      return totals(query).map((values) => totalsRow(query.by, values));
    },
    async usageReport(query, signal) {
      signal?.throwIfAborted();
      const gathered = gathering();
      for (const part of used(query)) gathered.take(part);
      return gathered.used;
    },
  };
}

/** The real path that a `sqlite:` URL names, so that two ways to one file share one lock. */
export function databasePath(url: string): string {
  assert(url.startsWith("sqlite:"), `${url} is not a sqlite: address`);
  const path = url.slice("sqlite:".length);
  assert(path !== "", "sqlite: needs the path of a file, as in sqlite:data/arborgate.db");
  if (path === MEMORY) return path;
  return existsSync(path) ? realpathSync(path) : resolve(path);
}

/** For its user alone, whatever the umask; SQLite gives the files beside it the same mode. An existing one stays. */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "a", 0o600));
}

async function refuse(): Promise<never> {
  throw new Error("this store was opened for reading");
}

const REFUSED: Written = {
  append: refuse,
  save: refuse,
  putRecords: refuse,
  removeRecords: refuse,
  claim: refuse,
  confirm: refuse,
  release: refuse,
  reserveIds: refuse,
  cas: refuse,
  keepAnswer: refuse,
  dropAnswers: refuse,
};
