// One connection to a SQLite database: its settings, prepared statements and transactions. It owns the life
// of every statement, because one that is not finalized would keep the write-ahead log from being folded into
// the file when the connection closes.

import { Database, SQLiteError, type SQLQueryBindings, type Statement } from "bun:sqlite";

type Bindings = SQLQueryBindings[];

/** An open connection. */
export interface SqliteConnection {
  readonly db: Database;
  /** Prepares a statement that lives as long as the connection. Its rows are parsed by the caller. */
  prepare<Params extends Bindings = Bindings>(sql: string): Statement<unknown, Params>;
  /** Prepares a statement whose text is built at run time; the most recently used ones are cached. */
  recent(sql: string): Statement<unknown, Bindings>;
  /**
   * Stores all that `work` writes, or nothing when `work` throws. It takes the write lock first, so a lock of
   * another program fails it before `work` runs.
   */
  transaction<T>(work: () => T): T;
  /**
   * The same without a sync: a crash of the machine may undo the transaction as a whole, a crash of the
   * process cannot.
   */
  unsynced<T>(work: () => T): T;
  close(): void;
}

/**
 * Milliseconds that a statement of a command line tool blocks for another program's lock. A server's
 * connections do not wait, because that would block the event loop.
 */
const BUSY_MS = 1_000;

const CACHE_KB = 8_000;

/** Settings of a connection. `busyMs` is how long a statement blocks for a lock. */
export interface ConnectOptions {
  /** Neither creates nor changes the database. */
  readonly readOnly?: boolean;
  /** Does not create the database. */
  readonly existing?: boolean;
  readonly busyMs?: number;
  readonly cacheKb?: number;
}

const SYNCED = "PRAGMA synchronous = FULL";

/** Lists have a few dozen shapes; filters that are written by hand may have more. */
const RECENT_MAX = 200;

/** Opens the database and creates the file unless it is opened for reading only. */
export function connectSqlite(path: string, options: ConnectOptions = {}): SqliteConnection {
  const { readOnly = false, existing = false } = options;
  const how = existing ? { readwrite: true } : { create: true };
  const db = readOnly ? new Database(path, { readonly: true }) : new Database(path, how);
  const statements: { finalize(): void }[] = [];
  const recent = new Map<string, Statement<unknown, Bindings>>();

  function prepare<Params extends Bindings = Bindings>(sql: string): Statement<unknown, Params> {
    const statement = db.prepare<unknown, Params>(sql);
    statements.push(statement);
    return statement as Statement<unknown, Params>;
  }

  function close(): void {
    for (const statement of [...statements, ...recent.values()]) statement.finalize();
    db.close();
  }

  try {
    configure(db, options);
  } catch (error) {
    close();
    throw error;
  }
  const begin = prepare("BEGIN IMMEDIATE");
  const commit = prepare("COMMIT");

  function transaction<T>(work: () => T): T {
    begin.run();
    try {
      const result = work();
      commit.run();
      return result;
    } catch (error) {
      // Some errors, such as a full disk, have already rolled it back.
      if (db.inTransaction) db.run("ROLLBACK");
      throw error;
    }
  }

  return {
    db,
    prepare,
    recent(sql) {
      const statement: Statement<unknown, Bindings> = recent.get(sql) ?? db.prepare(sql);
      // Deleting and setting it again keeps the map in order of last use, the oldest first.
      recent.delete(sql);
      recent.set(sql, statement);
      for (const [oldest, unused] of recent) {
        if (recent.size <= RECENT_MAX) break;
        recent.delete(oldest);
        unused.finalize();
      }
      return statement;
    },
    transaction,
    unsynced(work) {
      db.run("PRAGMA synchronous = NORMAL");
      try {
        return transaction(work);
      } finally {
        // Later commits wait for the disk again, and their sync covers what was written meanwhile.
        db.run(SYNCED);
      }
    },
    close,
  };
}

/**
 * Whether the error means that another program holds a lock. Then nothing of the statement or transaction is
 * stored.
 */
export const isBusy = (error: unknown): boolean =>
  error instanceof SQLiteError && error.code?.startsWith("SQLITE_BUSY") === true;

function configure(
  db: Database,
  { readOnly = false, busyMs = BUSY_MS, cacheKb = CACHE_KB }: ConnectOptions,
): void {
  db.run(`PRAGMA busy_timeout = ${busyMs}`);
  // A batch of the index of commits touches pages throughout it; with the default of 2 MB these would be read
  // again.
  db.run(`PRAGMA cache_size = -${cacheKb}`);
  if (readOnly) return;
  db.run("PRAGMA journal_mode = WAL");
  db.run(SYNCED);
  // A long reader makes the write-ahead log grow; this truncates it afterwards.
  db.run("PRAGMA journal_size_limit = 67108864");
}
