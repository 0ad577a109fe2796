// Snapshots and materialized documents: the state that the ledger amounts to, so that it need not be replayed
// from its start. A document with an older or equal seq never overwrites, however late it arrives.
//
// crash of a save        state found                             recovery
// before the snapshot    documents newer than the old snapshot   a replay from that snapshot saves them again

import { Long } from "mongodb";
import { type AccountFigures, accountFigures } from "../account-ranks.ts";
import { indexedFieldsOf, indexedValues } from "../indexed-fields.ts";
import type { Snapshot, Store, StoredDocument } from "../store.ts";
import { parseSnapshot, StoredRow } from "../stored-rows.ts";
import type { DocumentBody, DocumentTable, Table } from "../tables.ts";
import { SUMS, type UsageRow, usageRows } from "../usage/usage-rows.ts";
import type { Keyed, MongoConnection } from "./connection.ts";
import { replaceOlder, type Versioned } from "./replace-older.ts";

type Documents = Pick<Store, "loadSnapshot" | "save">;

/** A snapshot as it is stored. */
export interface SnapshotDocument extends Keyed, Omit<Snapshot, "actor" | "state" | "done"> {
  readonly state: string;
  readonly done: string;
}

/** A document or record: its body as JSON, and beside it the indexed fields. */
export interface FoundDocument extends Keyed {
  readonly body: string;
}

/**
 * The sums of a usage document for one model. They are stored within it, so that no sum ever differs from its
 * document.
 */
export type ModelSums = Readonly<Record<(typeof SUMS)[number], number>> & { readonly model: string };

/** A usage document as it is stored. */
export interface UsageDocument extends FoundDocument {
  readonly account: number;
  readonly day: string;
  readonly models: readonly ModelSums[];
}

/** A body with its indexed fields. Throws when an indexed field cannot hold its value. */
export function foundDocument(table: Table, id: string, body: DocumentBody): FoundDocument {
  const values = indexedValues(table, body);
  const fields = indexedFieldsOf(table).map(([field], i) => [field, values[i]] as const);
  const indexed = Object.fromEntries(fields.filter(([, value]) => value !== null));
  return { _id: id, ...indexed, body: JSON.stringify(body) };
}

/** Reads and writes of snapshots and documents. */
export function mongoDocuments(connection: MongoConnection): Documents {
  const { collection, read } = connection;
  const snapshots = collection<SnapshotDocument>("snapshots");

  return {
    async loadSnapshot(actor) {
      const found = await read(() => snapshots.findOne({ _id: actor }));
      return found === null ? null : parseSnapshot(found);
    },
    async save(saves) {
      // All documents are made before any is stored, because a body that is not plain data throws here.
      const tables = Map.groupBy(
        saves.flatMap(({ documents }) => documents),
        ({ table }) => table,
      );
      const documents = [...tables]
        .sort(([a], [b]) => Number(SUMMING.has(a)) - Number(SUMMING.has(b)))
        .map(([table, some]) => [table, newest(some.map(storedDocument), idOf)] as const);
      const states = newest(saves.flatMap(({ snapshot }) => snapshot ?? []).map(snapshotDocument), idOf);
      for (const [table, some] of documents) await replaceOlder(connection, table, some);
      await replaceOlder(connection, "snapshots", states);
    },
  };
}

/**
 * Documents of these tables imply that the others exist, so they are stored after those of all actors in the
 * call.
 */
const SUMMING: ReadonlySet<DocumentTable> = new Set(["accounts"]);

const idOf = ({ _id }: Keyed): string => _id;

/** Keeps the newest of those with the same key, and the first of equally new ones. */
export function newest<T extends { readonly seq: number }>(
  given: readonly T[],
  keyOf: (one: T) => string,
): readonly T[] {
  const best = new Map<string, T>();
  for (const one of given) {
    const other = best.get(keyOf(one));
    if (other === undefined || other.seq < one.seq) best.set(keyOf(one), one);
  }
  return [...best.values()];
}

function storedDocument(document: StoredDocument): Versioned {
  const { table, id, seq, body } = document;
  const models = table === "usage" ? { models: usageRows(document).map(modelSums) } : {};
  const figures = table === "accounts" ? figuresIn(body) : {};
  return { ...foundDocument(table, id, body), seq, ...models, ...figures };
}

/** The figures by which lists are ordered. They are stored beside the indexed fields of an account's document. */
function figuresIn(body: DocumentBody): Partial<Omit<AccountFigures, "account">> {
  const { account: _, ...figures } = accountFigures(body) ?? {};
  return figures;
}

/** A cost is stored as a 64-bit integer, because its sum exceeds what a double holds exactly. */
const modelSums = ({ model, sums }: UsageRow) => ({
  model,
  ...Object.fromEntries(SUMS.map((sum, i) => [sum, sum === "cost" ? Long.fromNumber(sums[i]!) : sums[i]!])),
});

function snapshotDocument({ actor, state, done, ...rest }: Snapshot): SnapshotDocument {
  return { _id: actor, ...rest, state: JSON.stringify(state ?? null), done: JSON.stringify(done) };
}

/** The figures of a stored document of an account; null when it has none. */
export function parseFigures(stored: unknown): AccountFigures | null {
  const row = new StoredRow("accounts", stored);
  if (!row.has("balance") || !row.has("month")) return null;
  const [balance, monthCost] = [row.integer("balance"), row.integer("monthCost")];
  return { account: row.integer("id"), balance, month: row.text("month"), monthCost };
}

/** The rows of a stored usage document; a field that it lacks is 0 or "". */
export function parseUsageDocument(stored: unknown): UsageRow[] {
  const row = new StoredRow("usage", stored);
  if (!row.has("models")) return [];
  const models = row.list("models", (model): model is object => typeof model === "object" && model !== null);
  const day = row.has("day") ? row.text("day") : "";
  const dna = row.has("dna") ? row.text("dna") : "";
  const account = row.has("account") ? row.integer("account") : 0;
  return models.map((model) => {
    const figures = new StoredRow("usage", model);
    return {
      day,
      dna,
      account,
      model: figures.text("model"),
      sums: SUMS.map((name) => figures.integer(name)),
    };
  });
}
