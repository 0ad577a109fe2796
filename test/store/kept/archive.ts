// A store as one small file: packed by the script that makes a fixture, unpacked by the test that reads it. SQLite as its
// database, gzipped; MongoDB as lines of extended JSON, a document each, with the name of its collection.

import { Database } from "bun:sqlite";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { BSON, type Document, MongoClient } from "mongodb";

export type Kind = "sqlite" | "mongodb";

const { EJSON } = BSON;
const databaseIn = (directory: string): string => join(directory, "kept.db");

/** Where a store of this kind lies: in the directory, or in this database of a server. */
export const storeUrl = (kind: Kind, directory: string, mongoUrl: string | null): string =>
  kind === "sqlite" ? `sqlite:${databaseIn(directory)}` : mongoUrl!;

export async function unpack(
  kind: Kind,
  box: string,
  directory: string,
  mongoUrl: string | null,
): Promise<void> {
  const bytes = gunzipSync(readFileSync(box));
  if (kind === "sqlite") return writeFileSync(databaseIn(directory), bytes);
  const collections = new Map<string, Document[]>();
  for (const line of bytes.toString("utf8").trimEnd().split("\n")) {
    const { collection, document } = EJSON.parse(line, { relaxed: false }) as Document;
    collections.set(collection, [...(collections.get(collection) ?? []), document]);
  }
  await using client = new MongoClient(mongoUrl!);
  for (const [name, documents] of collections) await client.db().collection(name).insertMany(documents);
}

/** Nothing may write to the store meanwhile. */
export async function pack(
  kind: Kind,
  box: string,
  directory: string,
  mongoUrl: string | null,
): Promise<void> {
  const bytes = kind === "sqlite" ? databaseBytes(directory) : Buffer.from(await documentLines(mongoUrl!));
  writeFileSync(box, gzipSync(bytes, { level: 9 }));
}

/** The log is part of what a killed process leaves: it is brought into the database, which becomes one file. */
function databaseBytes(directory: string): Buffer {
  const copy = join(directory, "packed.db");
  rmSync(copy, { force: true });
  const database = new Database(databaseIn(directory));
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.run("VACUUM INTO ?", [copy]);
  database.close();
  const bytes = readFileSync(copy);
  rmSync(copy);
  return bytes;
}

async function documentLines(url: string): Promise<string> {
  await using client = new MongoClient(url);
  const names = (await client.db().collections()).map(({ collectionName }) => collectionName).sort();
  const lines: string[] = [];
  for (const collection of names) {
    const documents = await client.db().collection(collection).find().sort({ _id: 1 }).toArray();
    for (const document of documents)
      lines.push(EJSON.stringify({ collection, document }, { relaxed: false }));
  }
  return `${lines.join("\n")}\n`;
}

/** How many actors have commits that their snapshot does not cover. */
export async function trailing(kind: Kind, directory: string, mongoUrl: string | null): Promise<number> {
  const last = new Map<string, number>();
  const covered = new Map<string, number>();
  for (const { actor, seq } of await rowsOf(kind, "commits", directory, mongoUrl)) {
    last.set(actor, Math.max(seq, last.get(actor) ?? 0));
  }
  for (const { actor, seq } of await rowsOf(kind, "snapshots", directory, mongoUrl)) covered.set(actor, seq);
  return [...last].filter(([actor, seq]) => (covered.get(actor) ?? 0) < seq).length;
}

interface Place {
  readonly actor: string;
  readonly seq: number;
}

async function rowsOf(
  kind: Kind,
  name: "commits" | "snapshots",
  directory: string,
  mongoUrl: string | null,
): Promise<Place[]> {
  if (kind === "sqlite") {
    const database = new Database(databaseIn(directory));
    const rows = database.query<Place, []>(`SELECT actor, seq FROM ${name}`).all();
    database.close();
    return rows;
  }
  await using client = new MongoClient(mongoUrl!);
  const documents = await client.db().collection<{ _id: string; seq: number }>(name).find().toArray();
  // A commit's id is its actor and its place, a snapshot's its actor.
  return documents.map(({ _id, seq }) => ({
    actor: name === "commits" ? _id.slice(0, _id.lastIndexOf("/")) : _id,
    seq,
  }));
}
