// Opens the store that STORE_URL names. No other part of the program may know which stores exist.

import { realClock } from "../base/clock.ts";
import type { AuditView } from "./audit.ts";
import { openSqliteAudit } from "./sqlite/audit.ts";
import { putSqliteRegistryRow } from "./sqlite/claims.ts";
import { lockDatabase } from "./sqlite/lock.ts";
import { databasePath, MEMORY, openSqlite, type SqliteOptions } from "./sqlite/sqlite-store.ts";
import type { Store } from "./store.ts";

/** How a store is opened. */
export interface OpenOptions extends SqliteOptions {
  /**
   * Whether to become the only server of this database, or to throw `StoreLockedError`. The default is true,
   * unless the database is opened for reading only.
   */
  readonly lock?: boolean;
}

/**
 * Opens the store of a STORE_URL. Its errors may be shown to the operator at start: they contain no password.
 * Throws `StoreLockedError` when another server uses a SQLite database.
 */
export async function openStore(url: string, options: OpenOptions): Promise<Store> {
  const scheme = url.slice(0, url.indexOf(":") + 1);
  const open = SCHEMES.get(scheme);
  if (!open) throw new Error("STORE_URL must begin with sqlite: or mongodb:");
  return open(url, options);
}

const SCHEMES = new Map([
  ["sqlite:", openLocked],
  ["mongodb:", openCluster],
  ["mongodb+srv:", openCluster],
]);

/** The driver is imported lazily, because a server on SQLite does not need it. */
async function openCluster(url: string, options: OpenOptions): Promise<Store> {
  const { openMongo } = await import("./mongo/mongo-store.ts");
  return openMongo(url, options);
}

async function openLocked(url: string, options: OpenOptions): Promise<Store> {
  const { lock = !options.readOnly } = options;
  const path = databasePath(url);
  if (!lock || path === MEMORY) return openSqlite(url, options);
  const held = lockDatabase(path);
  try {
    const store = await openSqlite(url, options);
    const close = async () => {
      await store.close();
      held.release();
    };
    return { ...store, close };
  } catch (error) {
    held.release();
    throw error;
  }
}

/**
 * Opens an audit view of the store that a STORE_URL names. It runs beside running servers and changes
 * nothing.
 */
export async function openAudit(url: string): Promise<AuditView> {
  if (!isMongo(url)) return openSqliteAudit(url);
  const { openMongoAudit } = await import("./mongo/audit.ts");
  return openMongoAudit(url, { clock: realClock() });
}

/**
 * Sets one row of the registry, in one short transaction, beside running servers. The store must exist and have the current
 * schema. Rejects when it cannot be written within some seconds.
 */
export async function putRegistryRow(url: string, key: string, value: string): Promise<void> {
  if (!isMongo(url)) return putSqliteRegistryRow(databasePath(url), key, value, realClock());
  const { putMongoRegistryRow } = await import("./mongo/claims.ts");
  await putMongoRegistryRow(url, key, value, { clock: realClock() });
}

/** Whether a STORE_URL names a store that several nodes share. */
const isMongo = (url: string): boolean => /^mongodb(\+srv)?:/.test(url);
