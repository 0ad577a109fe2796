// Which schema version a SQLite database has, and the migration of an older one: the missing steps of
// `MIGRATIONS`, each in one transaction.

import type { Database } from "bun:sqlite";
import assert from "node:assert/strict";
import { indexedFieldsOf } from "../indexed-fields.ts";
import { StoredRow } from "../stored-rows.ts";
import { RECORD_TABLES, TABLE_NAMES, type Table } from "../tables.ts";
import type { SqliteConnection } from "./connection.ts";
import { MIGRATIONS, type Migration } from "./migrations.ts";

/** The names that SQLite lists, such as those of tables or of columns. */
const namesIn = (rows: readonly unknown[]): string[] =>
  rows.map((row) => new StoredRow("the schema", row).text("name"));

/**
 * The schema version of a database; 0 for an empty one. Throws for a database that is not this service's.
 */
export function schemaVersion(db: Database): number {
  const tables = namesIn(db.query("SELECT name FROM sqlite_master WHERE type = 'table'").all());
  if (tables.length === 0) return 0;
  assert(
    tables.includes("meta"),
    `${db.filename} is a SQLite database of something else; STORE_URL must name another file`,
  );
  const row = db.query("SELECT key, value FROM meta WHERE key = 'schema'").get();
  return row === null ? 0 : new StoredRow("meta", row).integer("value");
}

/**
 * Brings a database to the newest version, one transaction per step. Throws for a database that a newer
 * program wrote.
 */
export function migrate(
  { db, transaction }: SqliteConnection,
  migrations: readonly Migration[] = MIGRATIONS,
): void {
  const found = schemaVersion(db);
  assertNotNewer(db, found, migrations.length);
  for (let version = found; version < migrations.length; version++) {
    transaction(() => {
      if (version === 0) db.run(META);
      for (const sql of migrations[version]!) db.run(sql);
      db.run("INSERT OR REPLACE INTO meta (key, value) VALUES ('schema', ?)", [version + 1]);
    });
  }
}

const isRecordTable = (table: Table): boolean => RECORD_TABLES.some((one) => one === table);

const META = "CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL) STRICT";

/**
 * Throws unless the database has exactly the current version. A reader needs this, because it may not
 * migrate.
 */
export function assertCurrent(db: Database): void {
  const found = schemaVersion(db);
  assertNotNewer(db, found, MIGRATIONS.length);
  assert(
    found === MIGRATIONS.length,
    `${db.filename} has schema version ${found}, this program reads ${MIGRATIONS.length}: start the server once to migrate it`,
  );
}

/**
 * Throws when a table lacks a column of TABLES. Without this check, a field added without a migration would
 * show as an SQL error far from its cause.
 */
export function assertColumns(db: Database): void {
  for (const table of TABLE_NAMES) {
    const columns = namesIn(db.query("SELECT name FROM pragma_table_info(?)").all(table));
    const own = isRecordTable(table) ? ["key", "body"] : ["key", "seq", "body"];
    const wanted = [...own, ...indexedFieldsOf(table).map(([field]) => field)];
    const missing = wanted.filter((name) => !columns.includes(name));
    assert(
      missing.length === 0,
      `${table} lacks the column ${missing[0]}: TABLES changed without a migration`,
    );
  }
}

function assertNotNewer(db: Database, found: number, known: number): void {
  assert(
    found <= known,
    `${db.filename} has schema version ${found}, but this program knows only ${known}: use the newer program`,
  );
}
