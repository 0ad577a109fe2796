// A document that two nodes create at the same moment: a server may refuse the newer one's key, and it must still win. No
// server can be made to do that on demand, so a stand-in for a collection plays it.

import { expect, test } from "bun:test";
import { type BulkWriteResult, MongoBulkWriteError } from "mongodb";
import type { MongoConnection } from "../../../src/store/mongo/connection.ts";
import { mongoDocuments } from "../../../src/store/mongo/documents.ts";
import { save } from "../../suites/store-samples.ts";

interface Replacing {
  readonly replaceOne: { readonly filter: { readonly _id: string }; readonly upsert: boolean };
}

/** A collection that refuses these keys when they would be created. */
function refusing(keys: readonly string[]) {
  const bulks: (readonly (readonly [key: string, upsert: boolean])[])[] = [];
  const bulkWrite = async (operations: readonly Replacing[]) => {
    bulks.push(operations.map(({ replaceOne: { filter, upsert } }) => [filter._id, upsert] as const));
    const writeErrors = operations.flatMap(({ replaceOne: { filter, upsert } }, index) =>
      upsert && keys.includes(filter._id) ? [{ index, code: 11_000, errmsg: "duplicate key" }] : [],
    );
    if (writeErrors.length === 0) return;
    const result = { getWriteConcernError: () => undefined } as unknown as BulkWriteResult;
    throw Object.assign(new MongoBulkWriteError({ message: "duplicate key", code: 11_000 }, result), {
      writeErrors,
    });
  };
  const connection = {
    collection: () => ({ bulkWrite }),
    read: (work: () => unknown) => work(),
    write: (work: () => unknown) => work(),
  } as unknown as MongoConnection;
  return { bulks, store: mongoDocuments(connection) };
}

test("a refused key is tried once more, in place of an older document, and created no more", async () => {
  const { bulks, store } = refusing(["account/2"]);
  await store.save([save("account/1", 1), save("account/2", 5), save("account/3", 1)]);
  expect(bulks).toEqual([
    [
      ["account/1", true],
      ["account/2", true],
      ["account/3", true],
    ],
    [["account/2", false]],
  ]);
});
