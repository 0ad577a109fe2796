// The SQLite tables and how an older database becomes a current one: numbered migrations, each in one transaction.
// A released migration never changes, or databases that ran it would differ from those that did not.

import type { Database } from "bun:sqlite";
import assert from "node:assert/strict";
import { fieldsOf } from "./fields.ts";
import type { Connection } from "./sqlite-connection.ts";
import { TABLES, type Table } from "./store.ts";

/** SQL statements of one step from version n to n + 1. */
type Migration = readonly string[];

// The ledger grows in rowid order and is found by UNIQUE(actor, seq): clustered by actor, each commit of a flush
// would dirty a page of its own. The small columns stand first, so that reading them touches no overflow page.
// `dirty` reads by `at` alone, which only appends; an index that leads with the shard costs a third more per commit.
const JOURNAL: Migration = [
  `CREATE TABLE commits (
     row INTEGER PRIMARY KEY, actor TEXT NOT NULL, seq INTEGER NOT NULL, shard INTEGER NOT NULL,
     epoch INTEGER NOT NULL, at INTEGER NOT NULL, linesTo INTEGER NOT NULL, lines INTEGER NOT NULL,
     v INTEGER NOT NULL, "by" TEXT NOT NULL, done TEXT NOT NULL, marks TEXT NOT NULL, events TEXT NOT NULL,
     UNIQUE (actor, seq)
   ) STRICT`,
  "CREATE INDEX commitsAt ON commits (at)",
  `CREATE TABLE marks (
     mark TEXT NOT NULL, actor TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (mark, actor, seq)
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE snapshots (
     actor TEXT NOT NULL PRIMARY KEY, shard INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL,
     epoch INTEGER NOT NULL, linesTo INTEGER NOT NULL, v INTEGER NOT NULL, pending INTEGER NOT NULL,
     state TEXT NOT NULL, done TEXT NOT NULL
   ) STRICT`,
  "CREATE INDEX snapshotsPending ON snapshots (shard) WHERE pending = 1",
];

const SMALL_ROWS: Migration = [
  `CREATE TABLE claims (
     key TEXT NOT NULL PRIMARY KEY, account INTEGER NOT NULL, "by" TEXT NOT NULL, at INTEGER NOT NULL,
     confirmed INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX claimsUnconfirmed ON claims (at, key) WHERE confirmed = 0",
  "CREATE TABLE counters (name TEXT NOT NULL PRIMARY KEY, next INTEGER NOT NULL) STRICT, WITHOUT ROWID",
  "CREATE TABLE registry (key TEXT NOT NULL PRIMARY KEY, rev INTEGER NOT NULL, value TEXT NOT NULL) STRICT",
];

/** The field lists that the lists of the service search by; each index ends in `key`, the tie-breaker of every order. */
const INDEXES: Record<Table, readonly (readonly string[])[]> = {
  accounts: [["id"], ["parent", "id"], ["dna"], ["email"], ["nameLower"], ["dueAt"]],
  usage: [["account", "day"], ["dna", "day"], ["day"]],
};

function documentTable(table: Table): Migration {
  const columns = fieldsOf(table).map(([field, type]) => `"${field}" ${type.toUpperCase()}`);
  return [
    `CREATE TABLE ${table} (
       key TEXT NOT NULL PRIMARY KEY, seq INTEGER NOT NULL, ${columns.join(", ")}, body TEXT NOT NULL
     ) STRICT`,
    ...INDEXES[table].map((fields) => {
      const listed = [...fields, "key"].map((field) => `"${field}"`).join(", ");
      const present = fields.includes("dueAt") ? ` WHERE "dueAt" IS NOT NULL` : "";
      return `CREATE INDEX ${[table, ...fields].join("_")} ON ${table} (${listed})${present}`;
    }),
  ];
}

const ANSWERS: Migration = [
  `CREATE TABLE answers (
     row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, account INTEGER NOT NULL, kind TEXT NOT NULL,
     at INTEGER NOT NULL, until INTEGER NOT NULL, body TEXT NOT NULL
   ) STRICT`,
  "CREATE INDEX answersOf ON answers (account, kind)",
  "CREATE INDEX answersUntil ON answers (until)",
];

const tableNames = Object.keys(TABLES) as Table[];

/** Version n of the schema is the first n of these. */
export const MIGRATIONS: readonly Migration[] = [
  [...JOURNAL, ...SMALL_ROWS, ...tableNames.flatMap(documentTable)],
  ANSWERS,
];

/** The version of an opened database; 0 for an empty one. Throws for a database that is not this service's. */
export function schemaVersion(db: Database): number {
  const tables = db.query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  if (tables.length === 0) return 0;
  assert(
    tables.some(({ name }) => name === "meta"),
    `${db.filename} is a SQLite database of something else; STORE_URL must name another file`,
  );
  const row = db.query<{ value: number }, []>("SELECT value FROM meta WHERE key = 'schema'").get();
  return row?.value ?? 0;
}

/** Brings a database to the newest version, one transaction a step; refuses one that a newer program wrote. */
export function migrate(
  { db, transaction }: Connection,
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

const META = "CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL) STRICT";

/** What a reader needs, which may not migrate: exactly the current version. */
export function assertCurrent(db: Database): void {
  const found = schemaVersion(db);
  assertNotNewer(db, found, MIGRATIONS.length);
  assert(
    found === MIGRATIONS.length,
    `${db.filename} has schema version ${found}, this program reads ${MIGRATIONS.length}: start the server once to migrate it`,
  );
}

/** A field added to TABLES without a migration would otherwise show as an SQL error far from its cause. */
export function assertColumns(db: Database): void {
  for (const table of tableNames) {
    const rows = db.query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)").all(table);
    const wanted = ["key", "seq", ...fieldsOf(table).map(([field]) => field), "body"];
    const missing = wanted.filter((name) => !rows.some((row) => row.name === name));
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
