// Replaces documents by newer ones: one that is not older than the given one stays, however late the given one comes, and one
// that does not exist is made. It reads nothing.

import type { Keyed, MongoConnection } from "./connection.ts";
import { duplicatesOf } from "./errors.ts";

/** A document that is as of a seq of its actor. */
export interface Versioned extends Keyed {
  readonly seq: number;
}

/** Stores these documents of a table where none or an older one is stored. A key may occur once. */
export async function replaceOlder(
  { collection, write }: MongoConnection,
  name: string,
  documents: readonly Versioned[],
): Promise<void> {
  if (documents.length === 0) return;
  const table = collection<Versioned>(name);
  const replacing = (some: readonly Versioned[], upsert: boolean) => () =>
    table.bulkWrite(
      some.map(({ _id, ...replacement }) => ({
        replaceOne: { filter: { _id, seq: { $lt: replacement.seq } }, replacement, upsert },
      })),
      { ordered: false },
    );
  await write(async () => {
    // A duplicate key means that the stored document is not older, or that another node created it at the
    // same time; in the second case the newer document still replaces the older one.
    const refused = await duplicatesOf(replacing(documents, true));
    const rest = documents.filter((_, i) => refused.has(i));
    if (rest.length > 0) await replacing(rest, false)();
  });
}
