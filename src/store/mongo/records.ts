// Records that no actor owns. A call stores or removes all of its records or none. A single record is one
// write. Several are first stored together as one document, a batch; then the batch is applied and removed:
//
//   batch stored   -> from here on all of it happens, on whatever node; before, nothing has happened
//   batch applied  -> each record replaces the one with its id, so applying it twice changes nothing
//   batch removed  -> only now is the call answered, so that no node applies it again over something newer
//
// crash of the writer          state found                       recovery
// before the batch is stored   nothing                           none is needed; nothing has happened
// before it is removed         a batch, older than ABANDONED_AFTER allows   another node takes it over and applies it
//
// Every node looks for such batches when it opens the store, and from time to time. The age is longer than a
// writer ever tries, and a node that takes a batch over resets its time, so that only one node applies it.

import { ObjectId } from "mongodb";
import type { Store } from "../store.ts";
import { StoredRow } from "../stored-rows.ts";
import { RECORD_TABLES, type RecordTable } from "../tables.ts";
import type { Keyed, MongoConnection } from "./connection.ts";
import { type FoundDocument, foundDocument } from "./documents.ts";
import { duplicatesOf, isDuplicate, isPassing, UnsettledError } from "./errors.ts";

/** Writes of records, and the recovery of batches. */
export interface MongoRecords extends Pick<Store, "putRecords" | "removeRecords"> {
  /** Applies the batches of dead writers, now and from time to time. */
  start(): Promise<void>;
  stop(): void;
}

/** The changes to the records of one table. */
interface Change {
  readonly table: RecordTable;
  readonly put: readonly FoundDocument[];
  readonly remove: readonly string[];
}

interface BatchDocument extends Keyed {
  /** When its writer, or the node that took it over, began: the server's clock, wall-clock milliseconds. */
  readonly at: number;
  readonly changes: readonly Change[];
}

/**
 * In multiples of the deadline. The writer of a batch stores it, changes three tables and removes it; it
 * stops after WRITER_DEADLINES_MAX. A batch is abandoned after ABANDONED_AFTER. Nodes look every RECOVERY_EVERY.
 */
const WRITER_DEADLINES_MAX = 5;
const ABANDONED_AFTER = 6;
const RECOVERY_EVERY = 3;

/** Creates the writes of records. Errors of the recovery go to `onError`, unless they pass. */
export function mongoRecords(connection: MongoConnection): MongoRecords {
  const { clock, deadlineMs, onError, collection, write, now } = connection;
  const batches = collection<BatchDocument>("batches");
  let cancel: (() => void) | null = null;

  async function change({ table, put, remove }: Change): Promise<void> {
    const records = collection<FoundDocument>(table);
    await write(async () => {
      if (put.length > 0) {
        const replacements = put.map(({ _id, ...replacement }) => ({
          replaceOne: { filter: { _id }, replacement, upsert: true },
        }));
        const refused = await duplicatesOf(() => records.bulkWrite(replacements, { ordered: false }));
        if (refused.size > 0) throw new UnsettledError("another node has just created one of the records");
      }
      if (remove.length > 0) await records.deleteMany({ _id: { $in: [...remove] } });
    });
  }

  /**
   * Applies and removes a batch. `since` is monotonic milliseconds, at or before the time stored in the
   * batch.
   */
  async function finish({ _id, changes }: BatchDocument, since: number): Promise<void> {
    for (const one of changes) {
      if (clock.mono() - since > WRITER_DEADLINES_MAX * deadlineMs)
        throw new Error("a batch of records took too long; another node will complete it");
      await change(one);
    }
    await write(() => batches.deleteOne({ _id }));
  }

  async function store(changes: readonly Change[]): Promise<void> {
    const [only] = changes;
    const size = changes.reduce((sum, { put, remove }) => sum + put.length + remove.length, 0);
    if (only === undefined || size === 0) return;
    if (size === 1) return change(only);
    const since = clock.mono();
    const batch = { _id: new ObjectId().toHexString(), at: await now(), changes };
    await write(async () => {
      try {
        await batches.insertOne(batch);
      } catch (error) {
        // No other node uses this id, so an earlier attempt stored it, perhaps not yet with a majority.
        if (!isDuplicate(error)) throw error;
        if ((await batches.findOne({ _id: batch._id })) === null)
          throw new UnsettledError("no majority has the batch");
      }
    });
    await finish(batch, since);
  }

  async function finishAbandoned(): Promise<void> {
    for (;;) {
      const since = clock.mono();
      const at = await now();
      const gone = { at: { $lt: at - ABANDONED_AFTER * deadlineMs } };
      const batch = await write(() => batches.findOneAndUpdate(gone, { $set: { at } }, { sort: { at: 1 } }));
      if (batch === null) return;
      await finish(parseBatch(batch), since);
    }
  }

  function scheduleRecovery(): void {
    cancel = clock.after(RECOVERY_EVERY * deadlineMs, () => {
      finishAbandoned()
        .catch((error) => isPassing(error) || onError(error))
        .finally(() => cancel !== null && scheduleRecovery());
    });
  }

  return {
    async putRecords(given) {
      const tables = Map.groupBy(given, ({ table }) => table);
      const changes = [...tables].map(([table, records]) => {
        const put = records.map(({ id, body }) => foundDocument(table, id, body));
        // The last of several records with the same id counts.
        return { table, put: [...new Map(put.map((one) => [one._id, one])).values()], remove: [] };
      });
      await store(changes);
    },
    removeRecords: (table, ids) => store([{ table, put: [], remove: [...new Set(ids)] }]),
    async start() {
      await finishAbandoned();
      scheduleRecovery();
    },
    stop() {
      cancel?.();
      cancel = null;
    },
  };
}

/** A stored batch. Its documents are written again as they are, so their fields are not looked at. */
function parseBatch(stored: unknown): BatchDocument {
  const row = new StoredRow("batches", stored);
  return { _id: row.key(), at: row.number("at"), changes: row.list("changes", isChange) };
}

const isChange = (value: unknown): value is Change =>
  typeof value === "object" &&
  value !== null &&
  "table" in value &&
  RECORD_TABLES.some((table) => table === value.table) &&
  "put" in value &&
  Array.isArray(value.put) &&
  "remove" in value &&
  Array.isArray(value.remove);
