// Which version the collections of a database have, and what is known of a database without changing it. A
// database of another version is refused: a program that does not know the stored format must neither read it
// nor write beside nodes that do.

import assert from "node:assert/strict";
import { StoredRow } from "../stored-rows.ts";
import {
  connectMongo,
  type Keyed,
  type MongoConnection,
  type MongoOptions,
  type ServerFacts,
} from "./connection.ts";
import { duplicatesOf, isDuplicate } from "./errors.ts";
import { addFigures } from "./figure-backfill.ts";
import { missingIndexes } from "./indexes.ts";
import { type BackfillDocument, type BackfillKey, wholeBackfill } from "./line-backfill.ts";

/**
 * Raised when the stored format can no longer be read as before, or when another program's writes would lack
 * something.
 *
 * version   what changed
 * 1         the first one
 * 2         ledger lines are projected with each save (`lines`); what was saved before is backfilled
 * 3         usage by API key, tag and hour is written with each save (`usageParts`); what was saved before has none
 *           saves add to the sums of provider keys (`keyCosts`), which begin with the migration
 *           the sums of credit of each account are projected (`money`); what was saved before is backfilled
 *           account documents have more indexed fields
 *           documents of accounts have the figures by which lists are ordered
 * 4         account documents have the next expiry of credit as an indexed field; what was saved before is backfilled
 */
const SCHEMA = 4;

interface MetaDocument extends Keyed {
  readonly version: number;
}

/**
 * Throws when the database has another version. A new database gets this program's version, and an older one
 * is brought to it, unless it is opened for reading only.
 */
export async function checkSchema(connection: MongoConnection, readOnly: boolean): Promise<void> {
  const { collection, write } = connection;
  if (!readOnly) {
    await write(async () => {
      try {
        await collection<MetaDocument>("meta").insertOne({ _id: "schema", version: SCHEMA });
      } catch (error) {
        if (!isDuplicate(error)) throw error;
      }
    });
  }
  const found = await schemaVersion(connection);
  assert(found > 0, "there is nothing of arborgate in this database");
  assert(
    found >= SCHEMA || !readOnly,
    `the database has version ${found}, this program reads ${SCHEMA}: start a node once to migrate it`,
  );
  if (found < SCHEMA) await migrate(connection, found);
  assert(found <= SCHEMA, `the database has version ${found}, this program needs ${SCHEMA}`);
}

/** The backfills that each version brought, due in a store of an earlier one. */
const BACKFILLS: readonly (readonly [version: number, key: BackfillKey])[] = [
  [2, "lines"],
  [3, "money"],
  // It adds the fields of version 3 too; `accounts` is only finished where a node of version 3 began it.
  [4, "creditExpiry"],
];

/**
 * Brings a database to the newest version, from whichever it has. It may run on several nodes, and again after a
 * crash.
 */
async function migrate(connection: MongoConnection, found: number): Promise<void> {
  const { collection, write } = connection;
  const due = BACKFILLS.filter(([version]) => version > found).map(([, key]) => wholeBackfill(key));
  await write(async () => {
    await duplicatesOf(() => collection<BackfillDocument>("meta").insertMany(due, { ordered: false }));
  });
  await addFigures(connection);
  const older = { _id: "schema", version: { $lt: SCHEMA } };
  await write(() => collection<MetaDocument>("meta").updateOne(older, { $set: { version: SCHEMA } }));
}

/** Returns 0 when the database holds nothing of this service. */
async function schemaVersion({ collection, read }: MongoConnection): Promise<number> {
  const found = await read(() => collection<MetaDocument>("meta").findOne({ _id: "schema" }));
  return found === null ? 0 : new StoredRow("meta", found).integer("version");
}

/** What `mongoFacts` returns. */
export interface MongoFacts extends ServerFacts {
  /** The version of the database; 0 when no node has been started on it yet. */
  readonly schema: number;
  /** The version that this program needs. An older database is migrated at the next start. */
  readonly known: number;
  /** An estimate. */
  readonly commits: number;
  /** The indexes that the next start creates, as `collection: fields`. */
  readonly missingIndexes: readonly string[];
}

/**
 * Reads the facts of a database without changing it. Rejects when it cannot be reached; its errors contain no
 * password.
 */
export async function mongoFacts(url: string, options: MongoOptions): Promise<MongoFacts> {
  const connection = await connectMongo(url, options);
  try {
    const { collection, read, facts } = connection;
    const [server, schema, commits, missing] = await Promise.all([
      facts(),
      schemaVersion(connection),
      read(() => collection("commits").estimatedDocumentCount()),
      missingIndexes(connection),
    ]);
    return { ...server, schema, known: SCHEMA, commits, missingIndexes: missing };
  } finally {
    await connection.close();
  }
}
