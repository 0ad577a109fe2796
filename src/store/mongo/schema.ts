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
import { isDuplicate } from "./errors.ts";
import { missingIndexes } from "./indexes.ts";

/** Raised when the stored format can no longer be read as before. */
const SCHEMA = 1;

interface MetaDocument extends Keyed {
  readonly version: number;
}

/**
 * Throws when the database has another version. A new database gets this program's version, unless it is
 * opened for reading only.
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
  const version = await schemaVersion(connection);
  assert(version > 0, "there is nothing of arborgate in this database");
  assert(version === SCHEMA, `the database has version ${version}, this program needs ${SCHEMA}`);
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
  /** The version that this program needs. */
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
