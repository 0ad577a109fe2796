// Adds the figures by which lists are ordered to documents of accounts that an earlier version stored, in the migration. A document
// that is saved meanwhile has them already, and stays.

import type { AnyBulkWriteOperation } from "mongodb";
import { accountFigures } from "../account-ranks.ts";
import { parseBody, StoredRow } from "../stored-rows.ts";
import type { Keyed, MongoConnection } from "./connection.ts";
import { type FoundDocument, parseUsageDocument, type UsageDocument } from "./documents.ts";

/** Documents that are read and written together. */
const BATCH = 500;

/** Adds the missing figures of all accounts. It may run on several nodes, and again after a crash. */
export async function addFigures(connection: MongoConnection): Promise<void> {
  const { collection, read, write, now } = connection;
  const accounts = collection<FoundDocument>("accounts");
  const month = new Date(await now()).toISOString().slice(0, 7);
  for (let after = ""; ; ) {
    const filter = { _id: { $gt: after }, month: { $exists: false } };
    const found = await read(() => accounts.find(filter).sort({ _id: 1 }).limit(BATCH).toArray());
    const last = found.at(-1);
    if (last === undefined) return;
    after = new StoredRow("accounts", last).key();
    const costs = await costsIn(connection, found, month);
    const changes = found.flatMap((one): AnyBulkWriteOperation<Keyed>[] => {
      const figures = accountFigures(parseBody("accounts", one));
      if (figures === null) return [];
      const { account, balance } = figures;
      const monthCost = costs.get(account) ?? 0;
      const update = { $set: { balance, month: monthCost > 0 ? month : "", monthCost } };
      return [{ updateOne: { filter: { _id: one._id, month: { $exists: false } }, update } }];
    });
    if (changes.length > 0) {
      await write(() => collection("accounts").bulkWrite(changes, { ordered: false }));
    }
  }
}

/** What accounts have cost in a month, in nano-dollars, as their usage documents state it. */
async function costsIn(
  { collection, read }: MongoConnection,
  documents: readonly FoundDocument[],
  month: string,
): Promise<ReadonlyMap<number, number>> {
  const ids = documents.flatMap((one) => accountFigures(parseBody("accounts", one))?.account ?? []);
  const days = { account: { $in: ids }, day: { $gte: `${month}-01`, $lte: `${month}-31` } };
  const found = await read(() => collection<UsageDocument>("usage").find(days).toArray());
  const costs = new Map<number, number>();
  for (const { account, sums } of found.flatMap(parseUsageDocument)) {
    costs.set(account, (costs.get(account) ?? 0) + sums.at(-1)!);
  }
  return costs;
}
