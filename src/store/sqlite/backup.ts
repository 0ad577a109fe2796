// Copies of a SQLite database: made beside a running server, and put in its place while none runs.
// A copy is whole or not there: it is written under another name, synced, and renamed. Nothing is ever overwritten.
//
// restore: crash                    left behind                              recovery
// before the old one moves aside    FILE.restoring                           restore again; it is written anew
// before the copy takes its place   the old one aside, none in its place     restore again

import assert from "node:assert/strict";
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { connectSqlite } from "./connection.ts";
import { lockDatabase } from "./lock.ts";
import { MIGRATIONS } from "./migrations.ts";
import { assertCurrent, schemaVersion } from "./schema.ts";

/** What is known of a database without changing it. Throws for a file that is not this service's. */
export interface DatabaseFacts {
  readonly schema: number;
  /** The schema that this program writes; an older one is migrated at the next start. */
  readonly known: number;
  readonly commits: number;
}

export function databaseFacts(path: string): DatabaseFacts {
  const connection = connectSqlite(path, { readOnly: true });
  try {
    const schema = schemaVersion(connection.db);
    const known = MIGRATIONS.length;
    if (schema > known) assertCurrent(connection.db);
    const rows =
      schema === 0 ? null : connection.prepare<{ n: number }>("SELECT count(*) AS n FROM commits").get();
    return { schema, known, commits: rows?.n ?? 0 };
  } finally {
    connection.close();
  }
}

/** Copies the database as it is at this moment to a new file, for its user alone. */
export function backupDatabase(path: string, file: string): void {
  assert(existsSync(path), `there is no database at ${path}`);
  copyWhole(path, file, `${file}.partial`);
}

export interface Restored {
  /** Where the database that was there lies now; null: there was none. */
  readonly aside: string | null;
}

/** Puts a backup in the database's place. Throws `StoreLocked` while a server runs. `stamp` names what is kept aside. */
export function restoreDatabase(path: string, file: string, stamp: string): Restored {
  assert(existsSync(file), `there is no file ${file}`);
  assert(resolve(file) !== resolve(path), `${file} is the database itself`);
  const lock = lockDatabase(path);
  try {
    assertSound(file);
    const fresh = `${path}.restoring`;
    rmSync(fresh, { force: true });
    vacuumInto(file, fresh);
    const aside = existsSync(path) ? `${path}.before-${stamp}` : null;
    if (aside !== null) moveAside(path, aside);
    renameSync(fresh, path);
    syncDirectory(path);
    return { aside };
  } finally {
    lock.release();
  }
}

/** Ours, of a schema that this program knows, and readable to its last page. */
function assertSound(file: string): void {
  const connection = connectSqlite(file, { readOnly: true });
  try {
    const schema = schemaVersion(connection.db);
    assert(schema > 0, `${file} holds no database of this service`);
    if (schema > MIGRATIONS.length) assertCurrent(connection.db);
    const result = connection.prepare<{ integrity_check: string }>("PRAGMA integrity_check(1)").get();
    assert(
      result?.integrity_check === "ok",
      `${file} is damaged: ${result?.integrity_check ?? "it cannot be checked"}`,
    );
  } finally {
    connection.close();
  }
}

/** With its log, which belongs to it: beside another database it would be lost, or worse, read. */
function moveAside(path: string, aside: string): void {
  assert(!existsSync(aside), `${aside} exists already`);
  for (const part of ["", "-wal", "-shm"]) {
    if (existsSync(path + part)) renameSync(path + part, aside + part);
  }
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

/** One consistent copy, the log folded in, whatever is written meanwhile. */
function vacuumInto(from: string, to: string): void {
  // SQLite takes an empty file as it is, with its mode.
  closeSync(openSync(to, "wx", 0o600));
  const connection = connectSqlite(from, { readOnly: true });
  try {
    connection.db.run("VACUUM INTO ?", [to]);
  } finally {
    connection.close();
  }
  sync(to);
}

const syncDirectory = (file: string): void => sync(dirname(resolve(file)));

function sync(path: string): void {
  const descriptor = openSync(path, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}
