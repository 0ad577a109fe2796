// A SQLite database as a database on MongoDB: the same rows, wrong ones too, so that whatever is injected in the one is
// injected in the other. What has no place there of its own (marks without their commit, sums without their document) is
// left out.

import { Database } from "bun:sqlite";
import { copyFileSync } from "node:fs";
import { type Document, MongoClient } from "mongodb";
import { realClock } from "../../src/base/clock.ts";
import { commitKey } from "../../src/store/mongo/append.ts";
import { lineKey } from "../../src/store/mongo/line-projection.ts";
import { openMongo } from "../../src/store/mongo/mongo-store.ts";
import { partsKey } from "../../src/store/mongo/usage-parts.ts";
import { parseLinesOfCommit } from "../../src/store/stored-rows.ts";
import {
  type ChargeRow,
  chargesOf,
  dayPeriod,
  hourPeriod,
  isApart,
} from "../../src/store/usage/charge-rows.ts";
import { SUMS } from "../../src/store/usage/usage-rows.ts";
import { unpackLedger } from "../store/ledger-by-hand.ts";

type Row = Record<string, string | number | null>;

/** Fills a database on MongoDB with what the one at a path holds. */
export async function mirror(path: string, url: string): Promise<void> {
  // The database has this program's version and indexes.
  await (await openMongo(url, { clock: realClock() })).close();
  const copy = `${path}.mirrored`;
  copyFileSync(path, copy);
  const db = new Database(copy);
  unpackLedger(db);
  const rows = (table: string): Row[] => db.query<Row, []>(`SELECT * FROM ${table}`).all();
  const sums = Map.groupBy(rows("usageSums"), ({ account, day }) => `${account}/${day}`);
  const figures = new Map(rows("accountFigures").map((row) => [row.account, row]));
  const collections: Record<string, Document[]> = {
    commits: rows("commits").map(({ row: _, marks, ...commit }) => ({
      ...commit,
      _id: commitKey(String(commit.actor), Number(commit.seq)),
      marks: JSON.parse(String(marks)),
    })),
    snapshots: rows("snapshots").map(({ actor, pending, ...snapshot }) => ({
      ...snapshot,
      _id: actor,
      pending: pending === 1,
    })),
    accounts: rows("accounts").map((row) => {
      const { account: _, ...of } = figures.get(row.id) ?? {};
      return { ...keyed(row), ...of };
    }),
    usage: rows("usage").map((row) => {
      const models = sums.get(`${row.account}/${row.day}`) ?? [];
      return {
        ...keyed(row),
        dna: models[0]?.dna ?? row.dna,
        models: models.map((sum) => ({
          model: sum.model,
          ...Object.fromEntries(SUMS.map((name) => [name, sum[name]])),
        })),
      };
    }),
    lines: rows("lines").map(({ actor, at, number, tags, ...line }) => ({
      ...Object.fromEntries(Object.entries(line).filter(([, value]) => value !== null)),
      ...(tags === null ? {} : { tags: String(tags).slice(1, -1).split(",") }),
      _id: lineKey(String(actor), Number(at), Number(number)),
    })),
    usageParts: partsDocuments(rows("usageParts"), rows("commits")),
    levelEvents: rows("levelEvents").map(keyed),
    money: rows("money").map(({ actor, ...sums }) => ({ ...sums, _id: String(actor) })),
    claims: rows("claims").map(({ key, confirmed, ...claim }) => ({
      ...claim,
      _id: key,
      confirmed: confirmed === 1,
    })),
  };
  db.close();
  await using client = new MongoClient(url);
  for (const [name, documents] of Object.entries(collections)) {
    if (documents.length > 0) await client.db().collection<Document>(name).insertMany(documents);
  }
}

const keyed = ({ key, ...row }: Row): Document => ({
  ...Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)),
  _id: key,
});

/** Parts as documents, each with the last of the ledger's lines that is in it. */
function partsDocuments(parts: readonly Row[], commits: readonly Row[]): Document[] {
  const last = new Map<string, ChargeRow>();
  for (const commit of commits) {
    const charges = chargesOf(parseLinesOfCommit(commit)).filter((charge) => charge !== null);
    for (const charge of charges) {
      last.set(partsKey(hourPeriod(charge.at), charge.actor), charge);
      if (isApart(charge)) last.set(partsKey(dayPeriod(charge.at), charge.actor), charge);
    }
  }
  const byKey = Map.groupBy(parts, ({ period, actor }) => partsKey(String(period), String(actor)));
  return [...byKey].map(([key, some]) => ({
    _id: key,
    number: last.get(key)?.number ?? 1,
    seq: last.get(key)?.seq ?? 1,
    body: JSON.stringify(
      some.map((row) => [row.kind, row.name, row.value, row.label, ...SUMS.map((name) => row[name])]),
    ),
  }));
}
