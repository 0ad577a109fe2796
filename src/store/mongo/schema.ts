// Which version of the collections a database has, and what is known of it without changing anything. A database of
// another version is refused: a program that does not know what is stored must not read it, nor write beside those who do.

import assert from "node:assert/strict";
import {
  connectMongo,
  type Keyed,
  type MongoConnection,
  type MongoOptions,
  type ServerFacts,
} from "./connection.ts";
import { isDuplicate } from "./errors.ts";
import { missingIndexes } from "./indexes.ts";

/** Raised when what is stored can no longer be read as before. */
const SCHEMA = 1;

interface MetaDocument extends Keyed {
  readonly version: number;
}

/** Throws when the database is of another version. A new one becomes this program's, unless it is only read. */
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

/** 0: there is nothing of ours. */
async function schemaVersion({ collection, read }: MongoConnection): Promise<number> {
  const found = await read(() => collection<MetaDocument>("meta").findOne({ _id: "schema" }));
  return found?.version ?? 0;
}

export interface MongoFacts extends ServerFacts {
  /** 0: the first start makes it. */
  readonly schema: number;
  /** The one that this program needs. */
  readonly known: number;
  /** About so many. */
  readonly commits: number;
  /** Indexes that the next start makes, as `collection: fields`. */
  readonly missingIndexes: readonly string[];
}

/** What is known of a database, without changing it. Throws when it cannot be reached; its errors name no password. */
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
