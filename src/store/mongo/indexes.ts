// The indexes of the collections. They are created at every start; one that exists costs nothing. Only `_id`
// must be unique in any collection, and it needs no index here. No index is ever removed.

import type { IndexDescription } from "mongodb";
import type { MongoConnection } from "./connection.ts";

type Keys = Readonly<Record<string, 1 | -1>>;

const index = (key: Keys): IndexDescription => ({ key });
/** An index of the documents that have all of these fields. */
const having = (key: Keys, ...fields: readonly string[]): IndexDescription => ({
  key,
  partialFilterExpression: Object.fromEntries(fields.map((field) => [field, { $exists: true }])),
});

/** `_id` comes last where lists order ties by it. */
const INDEXES: Readonly<Record<string, readonly IndexDescription[]>> = {
  commits: [
    index({ shard: 1, at: 1 }),
    // A dedup id that many commits carry, such as a client's own id of its requests, is listed without
    // reading them all.
    having({ marks: 1, at: -1, actor: 1, seq: -1 }, "marks"),
    // The first commit of each actor, which gives the list of actors.
    { key: { actor: 1 }, partialFilterExpression: { seq: 1 } },
  ],
  snapshots: [{ key: { shard: 1 }, partialFilterExpression: { pending: true } }],
  accounts: [
    index({ id: 1, _id: 1 }),
    index({ parent: 1, id: 1, _id: 1 }),
    index({ dna: 1, _id: 1 }),
    index({ email: 1, _id: 1 }),
    index({ nameLower: 1, _id: 1 }),
    index({ parent: 1, nameLower: 1, id: 1 }),
    index({ parent: 1, balance: 1, id: 1 }),
    index({ parent: 1, month: 1, monthCost: 1, id: 1 }),
    having({ dueAt: 1, _id: 1 }, "dueAt"),
    // Accounts that need somebody, in the order of each list.
    { key: { status: 1, id: 1, _id: 1 }, partialFilterExpression: { status: 0 } },
    { key: { suspended: 1, id: 1, _id: 1 }, partialFilterExpression: { suspended: 1 } },
    having({ nearMonth: 1, id: 1, _id: 1 }, "nearMonth"),
    having({ nearDay: 1, id: 1, _id: 1 }, "nearDay"),
    having({ creditExpiresAt: 1, _id: 1, dna: 1, closed: 1 }, "creditExpiresAt"),
    index({ balance: 1, _id: 1, dna: 1, closed: 1 }),
    index({ activeDay: 1, _id: 1, dna: 1, closed: 1 }),
  ],
  usage: [index({ account: 1, day: 1 }), index({ day: 1, dna: 1 }), index({ dna: 1, day: 1 })],
  outbox: [index({ id: 1, _id: 1 }), having({ dueAt: 1, _id: 1 }, "dueAt")],
  configs: [index({ owner: 1, version: 1, _id: 1 })],
  logs: [
    index({ id: 1, _id: 1 }),
    index({ at: 1, _id: 1 }),
    index({ operator: 1, at: 1, _id: 1 }),
    index({ target: 1, at: 1, _id: 1 }),
    index({ targetDna: 1, at: 1, _id: 1 }),
  ],
  news: [
    index({ id: 1, _id: 1 }),
    index({ kind: 1, dna: 1, id: 1, _id: 1 }),
    index({ target: 1, id: 1, _id: 1 }),
    index({ publisher: 1, id: 1, _id: 1 }),
    index({ until: 1, _id: 1 }),
  ],
  objects: [index({ id: 1, _id: 1 }), index({ until: 1, _id: 1 })],
  levelEvents: [index({ owner: 1, at: 1, _id: 1 })],
  keyCosts: [index({ key: 1, day: 1, cost: 1 }), index({ day: 1 }), index({ actor: 1 })],
  batches: [index({ at: 1 })],
  claims: [{ key: { at: 1, _id: 1 }, partialFilterExpression: { confirmed: false } }],
  answers: [index({ account: 1, kind: 1, kept: -1 }), index({ until: 1 })],
};

/** Creates the missing indexes and waits for them, which takes long for a large collection. */
export async function makeIndexes({ patient, patiently }: MongoConnection): Promise<void> {
  for (const [name, indexes] of Object.entries(INDEXES)) {
    await patiently(() => patient(name).createIndexes([...indexes]));
  }
}

/** Returns the missing indexes, as `collection: fields`. */
export async function missingIndexes({ collection, read }: MongoConnection): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const [name, indexes] of Object.entries(INDEXES)) {
    const found = await read(() => collection(name).indexes());
    const existing = new Set(found.map(({ key }) => JSON.stringify(key)));
    for (const { key } of indexes) {
      if (!existing.has(JSON.stringify(key))) missing.push(`${name}: ${Object.keys(key).join(", ")}`);
    }
  }
  return missing;
}
