// The small rows beside the ledger: claims of names and keys, counters, compare-and-set rows. Each call
// changes one document atomically. What may be applied twice is sent again until it is answered; a
// compare-and-set is sent once. Registry rows are read linearizably, so that a primary that was deposed
// without knowing it cannot answer.

import assert from "node:assert/strict";
import type { Claim, Store } from "../store.ts";
import { parseClaim, parseRegistryRow, StoredRow } from "../stored-rows.ts";
import { connectMongo, type Keyed, type MongoConnection, type MongoOptions } from "./connection.ts";
import { isDuplicate, UnsettledError } from "./errors.ts";

type SmallRows = Pick<
  Store,
  "claim" | "findClaim" | "confirm" | "release" | "unconfirmed" | "reserveIds" | "read" | "cas"
>;

/** A claim as it is stored; its key is the `_id`. */
export interface ClaimDocument extends Keyed, Omit<Claim, "key"> {}

interface CounterDocument extends Keyed {
  /** The last number that was reserved. */
  readonly last: number;
}

interface RegistryDocument extends Keyed {
  readonly rev: number;
  readonly value: string;
}

/** Sets one row of the registry of a database on a connection of its own. */
export async function putMongoRegistryRow(
  url: string,
  key: string,
  value: string,
  options: MongoOptions,
): Promise<void> {
  const connection = await connectMongo(url, options);
  try {
    const registry = connection.collection<RegistryDocument>("registry");
    await connection.write(() =>
      registry.updateOne({ _id: key }, { $inc: { rev: 1 }, $set: { value } }, { upsert: true }),
    );
  } finally {
    await connection.close();
  }
}

/** Reads and writes of claims, counters and the registry. */
export function mongoRows({ collection, read, write, prompt }: MongoConnection): SmallRows {
  const claims = collection<ClaimDocument>("claims");
  const counters = collection<CounterDocument>("counters");
  const registry = prompt.collection<RegistryDocument>("registry");

  async function insertClaim(claim: ClaimDocument): Promise<boolean> {
    try {
      await claims.insertOne(claim);
      return true;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
    const stored = await claims.findOne({ _id: claim._id });
    if (stored === null) throw new UnsettledError("no majority has the stored claim");
    return parseClaim(stored).by === claim.by;
  }

  async function create(key: string, value: string): Promise<boolean> {
    try {
      await registry.insertOne({ _id: key, rev: 1, value });
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  async function update(key: string, rev: number, value: string): Promise<boolean> {
    const { matchedCount } = await registry.updateOne({ _id: key, rev }, { $set: { rev: rev + 1, value } });
    return matchedCount > 0;
  }

  async function reserve(counter: string, size: number): Promise<number> {
    try {
      const before = await counters.findOneAndUpdate(
        { _id: counter },
        { $inc: { last: size } },
        { upsert: true, returnDocument: "before" },
      );
      return (before === null ? 0 : new StoredRow("counters", before).integer("last")) + 1;
    } catch (error) {
      // Another node created the counter at the same time.
      throw isDuplicate(error) ? new UnsettledError("another node has just created the counter") : error;
    }
  }

  return {
    claim: async (key, account, by, at) =>
      write(() => insertClaim({ _id: key, account, by, at, confirmed: false })),
    async findClaim(key) {
      const found = await read(() => claims.findOne({ _id: key }));
      return found === null ? null : parseClaim(found);
    },
    async confirm(key, by) {
      await write(() => claims.updateOne({ _id: key, by }, { $set: { confirmed: true } }));
    },
    async release(key, by) {
      await write(() => claims.deleteOne({ _id: key, by }));
    },
    async unconfirmed(before, limit) {
      if (limit <= 0) return [];
      const found = await read(() =>
        claims
          .find({ confirmed: false, at: { $lt: before } })
          .sort({ at: 1, _id: 1 })
          .limit(limit)
          .toArray(),
      );
      return found.map(parseClaim);
    },
    async reserveIds(counter, size) {
      assert(Number.isSafeInteger(size) && size > 0, `a block of ${size} numbers`);
      // An attempt whose answer was lost leaves a gap.
      return write(() => reserve(counter, size));
    },
    async read(key) {
      const found = await prompt.read(() => registry.findOne({ _id: key }, prompt.linear));
      return found === null ? null : parseRegistryRow(found);
    },
    async cas(key, rev, value) {
      const changed = await prompt.once(() => (rev === 0 ? create(key, value) : update(key, rev, value)));
      return changed ? rev + 1 : null;
    },
  };
}
