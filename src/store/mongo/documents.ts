// Snapshots and materialised documents: what the ledger amounts to, so that nobody has to replay it from its start. An
// older or equal seq never overwrites, however late it comes. A snapshot is stored after its documents: cut off in
// between, they are replayed from the snapshot before.

import { Long } from "mongodb";
import { indexedFieldsOf, indexedValues } from "../indexed-fields.ts";
import type { Snapshot, Store, StoredDocument } from "../store.ts";
import type { DocumentBody, DocumentTable, Table } from "../tables.ts";
import { SUMS, type UsageRow, usageRows } from "../usage/usage-rows.ts";
import type { Keyed, MongoConnection } from "./connection.ts";
import { duplicatesOf } from "./errors.ts";

type Documents = Pick<Store, "loadSnapshot" | "save">;

export interface SnapshotDocument extends Keyed, Omit<Snapshot, "actor" | "state" | "done"> {
  readonly state: string;
  readonly done: string;
}

/** A document or record: its body as JSON, and beside it the fields by which it is found. */
export interface FoundDocument extends Keyed {
  readonly body: string;
}

/** What a usage document adds up to by model: within it, so that no sum ever differs from its document. */
export type ModelSums = Readonly<Record<(typeof SUMS)[number], number>> & { readonly model: string };

export interface UsageDocument extends FoundDocument {
  readonly account: number;
  readonly day: string;
  readonly models: readonly ModelSums[];
}

interface Versioned extends Keyed {
  readonly seq: number;
}

/** A body as it is found; throws when an indexed field cannot hold its value. */
export function foundDocument(table: Table, id: string, body: DocumentBody): FoundDocument {
  const values = indexedValues(table, body);
  const fields = indexedFieldsOf(table).map(([field], i) => [field, values[i]] as const);
  const indexed = Object.fromEntries(fields.filter(([, value]) => value !== null));
  return { _id: id, ...indexed, body: JSON.stringify(body) };
}

export function mongoDocuments({ collection, read, write }: MongoConnection): Documents {
  const snapshots = collection<SnapshotDocument>("snapshots");

  /** Puts these in place of older ones. */
  async function replace(name: string, documents: readonly Versioned[]): Promise<void> {
    const table = collection<Versioned>(name);
    const replacing = (some: readonly Versioned[], upsert: boolean) => () =>
      table.bulkWrite(
        some.map(({ _id, ...replacement }) => ({
          replaceOne: { filter: { _id, seq: { $lt: replacement.seq } }, replacement, upsert },
        })),
        { ordered: false },
      );
    await write(async () => {
      // Refused is what is no newer, and what somebody else created at the same time: of that one, the older gives way.
      const refused = await duplicatesOf(replacing(documents, true));
      const rest = documents.filter((_, i) => refused.has(i));
      if (rest.length > 0) await replacing(rest, false)();
    });
  }

  return {
    async loadSnapshot(actor) {
      const found = await read(() => snapshots.findOne({ _id: actor }));
      if (found === null) return null;
      const { _id, state, done, ...snapshot } = found;
      return { ...snapshot, actor: _id, state: JSON.parse(state), done: JSON.parse(done) };
    },
    async save(saves) {
      // Everything is made before anything is stored: a body that is not plain data throws here.
      const tables = Map.groupBy(
        saves.flatMap(({ documents }) => documents),
        ({ table }) => table,
      );
      const documents = [...tables]
        .sort(([a], [b]) => Number(SUMMING.has(a)) - Number(SUMMING.has(b)))
        .map(([table, some]) => [table, newest(some.map(storedDocument))] as const);
      const states = newest(saves.map(({ snapshot }) => snapshotDocument(snapshot)));
      for (const [table, some] of documents) await replace(table, some);
      if (states.length > 0) await replace("snapshots", states);
    },
  };
}

/** What says that others are there: stored after these, whichever actors they are of. */
const SUMMING: ReadonlySet<DocumentTable> = new Set(["accounts"]);

/** Of those with one key, the newest; of equal ones the first. */
function newest<T extends Versioned>(documents: readonly T[]): readonly T[] {
  const best = new Map<string, T>();
  for (const document of documents) {
    const other = best.get(document._id);
    if (other === undefined || other.seq < document.seq) best.set(document._id, document);
  }
  return [...best.values()];
}

function storedDocument(document: StoredDocument): Versioned {
  const { table, id, seq, body } = document;
  const models = table === "usage" ? { models: usageRows(document).map(modelSums) } : {};
  return { ...foundDocument(table, id, body), seq, ...models };
}

/** A cost as a 64-bit integer: its sum passes what a double holds. */
const modelSums = ({ model, sums }: UsageRow) => ({
  model,
  ...Object.fromEntries(SUMS.map((sum, i) => [sum, sum === "cost" ? Long.fromNumber(sums[i]!) : sums[i]!])),
});

function snapshotDocument({ actor, state, done, ...rest }: Snapshot): SnapshotDocument {
  return { _id: actor, ...rest, state: JSON.stringify(state ?? null), done: JSON.stringify(done) };
}
