// Copies of a SQLite database: `backup` makes one beside a running server, `restore` puts one in the
// database's place while no server runs. A copy is either complete or absent: it is written under another
// name, synced and renamed. Nothing is ever overwritten.
//
// crash of restore                      state found                        recovery
// before the old files are moved aside  FILE.restoring                     restore again; it is written anew
// while they are moved aside            no database, a part of the old one restore again; it moves the rest aside too
// before the copy takes their place     the old files aside, no database   restore again

import assert from "node:assert/strict";
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { StoredRow } from "../stored-rows.ts";
import { CommitIndex } from "./commit-index.ts";
import { connectSqlite, type SqliteConnection } from "./connection.ts";
import { lockDatabase } from "./lock.ts";
import { MIGRATIONS } from "./migrations.ts";
import { assertCurrent, schemaVersion } from "./schema.ts";

/** What is known of a database without changing it. */
export interface DatabaseFacts {
  readonly schema: number;
  /** The schema version that this program writes. An older database is migrated at the next start. */
  readonly known: number;
  readonly commits: number;
}

/**
 * Reads the facts of a database. Throws for a file that is not a database of this service, or one of a newer
 * program.
 */
export function databaseFacts(path: string): DatabaseFacts {
  const connection = connectSqlite(path, { readOnly: true });
  try {
    const schema = schemaVersion(connection.db);
    const known = MIGRATIONS.length;
    if (schema > known) assertCurrent(connection.db);
    if (schema === 0) return { schema, known, commits: 0 };
    connection.db.run("BEGIN");
    return { schema, known, commits: commitCount(connection, schema) };
  } finally {
    connection.close();
  }
}

/** The schema version from which on several commits are in one row. */
const LEDGER_SCHEMA = 14;

/** The number of commits. Call it in a transaction, since the index may be written meanwhile. */
function commitCount(connection: SqliteConnection, schema: number): number {
  const table = schema < LEDGER_SCHEMA ? "commits" : "commitIndex";
  const indexed = new StoredRow(
    table,
    connection.prepare(`SELECT count(*) AS n FROM ${table}`).get(),
  ).integer("n");
  return schema < LEDGER_SCHEMA ? indexed : indexed + new CommitIndex(connection).unindexed().commits;
}

/**
 * Copies the database as of this moment to a new file with mode 0600. Throws when the file exists, or the
 * database does not.
 */
export function backupDatabase(path: string, file: string): void {
  assert(existsSync(path), `there is no database at ${path}`);
  copyWhole(path, file, `${file}.partial`);
}

/** The result of `restoreDatabase`. */
export interface Restored {
  /** The paths to which the files of the previous database were moved; none when there was no database. */
  readonly aside: readonly string[];
}

/**
 * Puts a backup in the database's place. `stamp` is part of the name under which the previous database is
 * kept. Throws `StoreLockedError` while a server runs, and when the backup is damaged or has a newer schema.
 */
export function restoreDatabase(path: string, file: string, stamp: string): Restored {
  assert(existsSync(file), `there is no file ${file}`);
  assert(resolve(file) !== resolve(path), `${file} is the database itself`);
  const lock = lockDatabase(path);
  try {
    assertSound(file);
    const fresh = `${path}.restoring`;
    rmSync(fresh, { force: true });
    vacuumInto(file, fresh);
    foldLog(path);
    const aside = moveAside(path, `${path}.before-${stamp}`);
    // After a crash of the machine the copy must not lie beside the former log, which would be applied to it.
    syncDirectory(path);
    renameSync(fresh, path);
    syncDirectory(path);
    return { aside };
  } finally {
    lock.release();
  }
}

/**
 * Throws unless the file is a database of this service, with a schema that this program knows, and readable
 * to its last page.
 */
function assertSound(file: string): void {
  const connection = connectSqlite(file, { readOnly: true });
  try {
    const schema = schemaVersion(connection.db);
    assert(schema > 0, `${file} holds no database of this service`);
    if (schema > MIGRATIONS.length) assertCurrent(connection.db);
    const row = connection.prepare("PRAGMA integrity_check(1)").get();
    const result = new StoredRow("integrity_check", row).text("integrity_check");
    assert(result === "ok", `${file} is damaged: ${result}`);
  } finally {
    connection.close();
  }
}

/** Writes the write-ahead log into the database, so that a crash between two renames cannot separate them. */
function foldLog(path: string): void {
  if (!existsSync(path)) return;
  try {
    const connection = connectSqlite(path, { existing: true });
    try {
      connection.db.run("PRAGMA wal_checkpoint(TRUNCATE)");
    } finally {
      connection.close();
    }
  } catch {
    // A damaged database is what a restore replaces. It is moved aside as it is.
  }
}

/**
 * Moves what exists of a database, and returns where it lies. The write-ahead log is moved also without the
 * database: SQLite would apply it to the one that comes in its place.
 */
function moveAside(path: string, aside: string): readonly string[] {
  const parts = ["", "-wal", "-shm"].filter((part) => existsSync(path + part));
  const targets = parts.map((part) => aside + part);
  for (const target of targets) assert(!existsSync(target), `${target} exists already`);
  for (const part of parts) renameSync(path + part, aside + part);
  return targets;
}

function copyWhole(from: string, to: string, partial: string): void {
  assert(!existsSync(to), `${to} exists already; a backup overwrites nothing`);
  rmSync(partial, { force: true });
  try {
    vacuumInto(from, partial);
    renameSync(partial, to);
    syncDirectory(to);
  } finally {
    rmSync(partial, { force: true });
  }
}

/** Makes one consistent copy that includes the write-ahead log, whatever is written meanwhile. */
function vacuumInto(from: string, to: string): void {
  // SQLite accepts an empty file and keeps its mode.
  closeSync(openSync(to, "wx", 0o600));
  const connection = connectSqlite(from, { readOnly: true });
  try {
    connection.db.run("VACUUM INTO ?", [to]);
  } finally {
    connection.close();
  }
  syncToDisk(to);
}

/** Syncs the directory of a file: what was created or renamed in it. */
export const syncDirectory = (file: string): void => syncToDisk(dirname(resolve(file)));

/** Syncs a file or a directory. */
export function syncToDisk(path: string): void {
  const descriptor = openSync(path, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}
