// Gives the account documents of an older store the fields by which `/x-attention` finds them, as the account
// would write them: what the body has, the expiry of its first entry of credit, and the day of the last charge from the
// usage documents. One node does it in the background (see Backfill); a document that is saved meanwhile has them already.

import { indexedFieldsOf, indexedValues } from "../indexed-fields.ts";
import { parseBody, StoredRow } from "../stored-rows.ts";
import type { DocumentBody } from "../tables.ts";
import type { Keyed, MongoConnection } from "./connection.ts";
import type { BackfillNext } from "./line-backfill.ts";

const BATCH = 100;

/** The expiry of the first entry of credit, in wall-clock milliseconds; null without one. Entries are in this order. */
const firstExpiry = ({ entries }: DocumentBody): number | null =>
  (entries as readonly { readonly expiresAt: number }[] | undefined)?.[0]?.expiresAt ?? null;

/** What the backfill does: the next documents after a key. */
export function accountFields({ collection, read, write }: MongoConnection): BackfillNext {
  const accounts = collection<Keyed>("accounts");

  async function lastDay(account: number, createdAt: number): Promise<string> {
    const newest = await read(() =>
      collection<Keyed>("usage").findOne({ account }, { sort: { day: -1 }, projection: { day: 1 } }),
    );
    return newest === null
      ? new Date(createdAt).toISOString().slice(0, 10)
      : new StoredRow("usage", newest).text("day");
  }

  return async (after) => {
    const found = await read(() =>
      accounts
        .find({ _id: { $gt: after } })
        .sort({ _id: 1 })
        .limit(BATCH)
        .project({ seq: 1, body: 1 })
        .toArray(),
    );
    for (const stored of found) {
      const row = new StoredRow("accounts", stored);
      const body = parseBody("accounts", stored);
      if (body.activeDay !== undefined && body.creditExpiresAt !== undefined) continue;
      const activeDay = body.activeDay ?? (await lastDay(Number(body.id), Number(body.createdAt ?? 0)));
      const whole = { ...body, activeDay, creditExpiresAt: firstExpiry(body) };
      const values = indexedValues("accounts", whole);
      const fields = indexedFieldsOf("accounts").flatMap(([field], i) =>
        values[i] === null ? [] : [[field, values[i]] as const],
      );
      const older = { _id: row.key(), seq: row.integer("seq") };
      const set = { ...Object.fromEntries(fields), body: JSON.stringify(whole) };
      await write(() => accounts.updateOne(older, { $set: set }));
    }
    return found.length < BATCH ? null : new StoredRow("accounts", found.at(-1)).key();
  };
}
