// One server per database: an exclusive transaction on `PATH.lock`, a tiny SQLite file of its own. The kernel
// releases it when the process dies, however it dies, so holding it proves that no earlier writer lives. The
// database itself must not be locked like this, because readers run beside a server.

import { Database, SQLiteError } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";

/** Thrown when another process serves this database. */
export class StoreLockedError extends Error {
  override readonly name = "StoreLockedError";
  readonly path: string;
  constructor(path: string) {
    super(`another server uses ${path} (it holds ${path}.lock): stop it first`);
    this.path = path;
  }
}

interface DatabaseLock {
  release(): void;
}

/**
 * Takes the lock, or throws `StoreLockedError` at once. Keep a reference to the result: the lock ends when it is
 * garbage collected.
 */
export function lockDatabase(path: string): DatabaseLock {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = new Database(`${path}.lock`);
  try {
    file.run("PRAGMA busy_timeout = 0");
    // In WAL mode the transaction would exclude writers only.
    file.run("PRAGMA journal_mode = DELETE");
    file.run("BEGIN EXCLUSIVE");
  } catch (error) {
    file.close();
    if (error instanceof SQLiteError && error.code?.startsWith("SQLITE_BUSY"))
      throw new StoreLockedError(path);
    throw error;
  }
  return { release: () => file.close() };
}
