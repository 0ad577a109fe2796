// The embedded store on SQLite: opens a database, brings its schema up to date and joins the parts beside this file.
// Synchronous inside, so no two of its statements ever interleave. Must not be opened for writing twice: see
// sqlite-lock.ts; any number of readers may stand beside the one writer.

import assert from "node:assert/strict";
import { closeSync, existsSync, mkdirSync, openSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Clock } from "../runtime/clock.ts";
import { sqliteAnswers } from "./sqlite-answers.ts";
import { groupCommit } from "./sqlite-append.ts";
import { type Connection, connect } from "./sqlite-connection.ts";
import { sqliteDocuments } from "./sqlite-documents.ts";
import { sqliteJournal } from "./sqlite-journal.ts";
import { sqliteLists } from "./sqlite-lists.ts";
import { sqliteRecords } from "./sqlite-records.ts";
import { sqliteRows } from "./sqlite-rows.ts";
import { assertColumns, assertCurrent, migrate } from "./sqlite-schema.ts";
import { sqliteTotals } from "./sqlite-totals.ts";
import { sqliteUsed } from "./sqlite-used.ts";
import type { Store } from "./store.ts";
import { totalsApart } from "./totals-apart.ts";
import { totalsRow } from "./usage-totals.ts";
import { gathering } from "./used.ts";

export interface SqliteOptions {
  readonly clock: Clock;
  /** Beside a running server: creates and changes nothing, and every call that would write throws. */
  readonly readOnly?: boolean;
  /** Hears why an append was answered "unknown". */
  readonly onError?: (error: unknown) => void;
}

export const MEMORY = ":memory:";

/** Opens `sqlite:PATH` or `sqlite::memory:`; creates the file and its directories unless it is opened to read. */
export async function openSqlite(url: string, options: SqliteOptions): Promise<Store> {
  const { clock, readOnly = false, onError = () => {} } = options;
  const path = databasePath(url);
  assert(!readOnly || (path !== MEMORY && existsSync(path)), `there is no database at ${path}`);
  if (!readOnly && path !== MEMORY) makeFile(path);
  const connection = connect(path, { readOnly });
  try {
    if (readOnly) assertCurrent(connection.db);
    else migrate(connection);
    assertColumns(connection.db);
  } catch (error) {
    connection.close();
    throw error;
  }

  const appender = groupCommit(connection, onError);
  const apart = path === MEMORY ? null : totalsApart(path);
  const store: Store = {
    append: appender.append,
    ...sqliteJournal(connection),
    ...sqliteDocuments(connection),
    ...sqliteLists(connection),
    ...sqliteRecords(connection),
    ...sqliteRows(connection),
    ...sqliteAnswers(connection),
    now: async () => clock.wall(),
    ...(apart === null ? sumsHere(connection) : { totals: apart.totals, used: apart.used }),
    async close() {
      appender.finish();
      await apart?.stop();
      connection.close();
    },
  };
  return readOnly ? { ...store, append: refuse } : store;
}

/** Where nobody else waits for the event loop: no other thread could see a database in memory. */
function sumsHere(connection: Connection): Pick<Store, "totals" | "used"> {
  const [totals, used] = [sqliteTotals(connection), sqliteUsed(connection)];
  return {
    async totals(query, signal) {
      signal?.throwIfAborted();
      return totals(query).map((values) => totalsRow(query.by, values));
    },
    async used(query, signal) {
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
