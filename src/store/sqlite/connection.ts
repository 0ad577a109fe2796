// One connection to a SQLite database: its settings, its prepared statements and its transactions.
// Owns the life of every statement: one left alive would keep the log from being folded into the file at the close.

import { Database, SQLiteError, type SQLQueryBindings, type Statement } from "bun:sqlite";

type Bindings = SQLQueryBindings[];

export interface SqliteConnection {
  readonly db: Database;
  /** A statement that lives as long as the connection. */
  prepare<Row, Params extends Bindings = Bindings>(sql: string): Statement<Row, Params>;
  /** A statement whose text is built from outside: kept among the most recent ones. */
  recent<Row>(sql: string): Statement<Row, Bindings>;
  /** All that `work` writes, or, when it throws, nothing. Takes the write lock first, so it never fails half-way for it. */
  transaction<T>(work: () => T): T;
  /** The same without waiting for the disk: a crash of the machine may undo it as a whole, one of the process cannot. */
  unsynced<T>(work: () => T): T;
  close(): void;
}

/**
 * How long a statement of a command waits, blocking, for another program's lock. A server's connections do not wait: its
 * loop would stand.
 */
const BUSY_MS = 1_000;

const CACHE_KB = 32_000;

export interface ConnectOptions {
  /** Neither creates nor changes the database. */
  readonly readOnly?: boolean;
  readonly busyMs?: number;
  readonly cacheKb?: number;
}

const SYNCED = "PRAGMA synchronous = FULL";

/** Lists have a few dozen shapes; filters put together by hand may have more. */
const MOST_RECENT = 200;

/** Opens the database. */
export function connectSqlite(path: string, options: ConnectOptions = {}): SqliteConnection {
  const { readOnly = false } = options;
  const db = readOnly ? new Database(path, { readonly: true }) : new Database(path, { create: true });
  const statements: { finalize(): void }[] = [];
  const recent = new Map<string, Statement>();

  function prepare<Row, Params extends Bindings = Bindings>(sql: string): Statement<Row, Params> {
    const statement = db.prepare<Row, Params>(sql);
    statements.push(statement);
    return statement as Statement<Row, Params>;
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
      // Some errors, such as a full disk, have already undone it.
      if (db.inTransaction) db.run("ROLLBACK");
      throw error;
    }
  }

  return {
    db,
    prepare,
    recent<Row>(sql: string) {
      const statement = recent.get(sql) ?? db.prepare(sql);
      // Taken out and put back: the first of the map is the one unused for the longest time.
      recent.delete(sql);
      recent.set(sql, statement);
      for (const [oldest, unused] of recent) {
        if (recent.size <= MOST_RECENT) break;
        recent.delete(oldest);
        unused.finalize();
      }
      return statement as Statement<Row, Bindings>;
    },
    transaction,
    unsynced(work) {
      db.run("PRAGMA synchronous = NORMAL");
      try {
        return transaction(work);
      } finally {
        // What is committed from here on waits for the disk again, and takes along what was written meanwhile.
        db.run(SYNCED);
      }
    },
    close,
  };
}

/** Does this error say that another program holds a lock? Then nothing of the statement or transaction is stored. */
export const isBusy = (error: unknown): boolean =>
  error instanceof SQLiteError && error.code?.startsWith("SQLITE_BUSY") === true;

function configure(
  db: Database,
  { readOnly = false, busyMs = BUSY_MS, cacheKb = CACHE_KB }: ConnectOptions,
): void {
  db.run(`PRAGMA busy_timeout = ${busyMs}`);
  // Commits of many actors touch pages all over UNIQUE(actor, seq); the default of 2 MB would read them again.
  db.run(`PRAGMA cache_size = -${cacheKb}`);
  if (readOnly) return;
  db.run("PRAGMA journal_mode = WAL");
  db.run(SYNCED);
  // A long reader lets the log grow; it shall not stay so large for ever.
  db.run("PRAGMA journal_size_limit = 67108864");
}
