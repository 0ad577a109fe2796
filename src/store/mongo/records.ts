// Records that no actor owns, stored and removed all or none. One is one write. Several are first written down together
// as one document, a batch; then they are done, and the batch is forgotten:
//
//   batch stored  -> from here on all of it happens, whoever does it; before, nothing has happened
//   records done  -> each in place of the one with its id: doing it twice changes nothing
//   batch dropped -> only now is it answered, so that nobody does it again over something newer
//
// A batch whose writer is gone is done by the next that looks: at the opening, and every now and then. It is taken for
// gone when it is older than its writer ever tries; who takes it makes it young again, so that one alone does it.

import { ObjectId } from "mongodb";
import type { Store } from "../store.ts";
import type { RecordTable } from "../tables.ts";
import type { Keyed, MongoConnection } from "./connection.ts";
import { type FoundDocument, foundDocument } from "./documents.ts";
import { duplicatesOf, isDuplicate, isPassing, Unsettled } from "./errors.ts";

export interface MongoRecords extends Pick<Store, "putRecords" | "removeRecords"> {
  /** Does what writers that are gone left behind, now and every now and then. */
  start(): Promise<void>;
  stop(): void;
}

/** What becomes of the records of one table. */
interface Change {
  readonly table: RecordTable;
  readonly put: readonly FoundDocument[];
  readonly remove: readonly string[];
}

interface BatchDocument extends Keyed {
  /** The server's clock, wall ms: when its writer, or who took it over, began. */
  readonly at: number;
  readonly changes: readonly Change[];
}

/** In deadlines: its writer stores it, changes three tables and drops it, and one that took longer stops. */
const GIVE_UP = 5;
const GONE = 6;
const LOOK = 3;

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
        if (refused.size > 0) throw new Unsettled("a record was just made by somebody else");
      }
      if (remove.length > 0) await records.deleteMany({ _id: { $in: [...remove] } });
    });
  }

  /** `since`, mono ms: not after the batch became its own. */
  async function finish({ _id, changes }: BatchDocument, since: number): Promise<void> {
    for (const one of changes) {
      if (clock.mono() - since > GIVE_UP * deadlineMs) throw new Error("a batch was left to somebody else");
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
        // Nobody else has this id: an earlier attempt is there, perhaps not yet with a majority.
        if (!isDuplicate(error)) throw error;
        if ((await batches.findOne({ _id: batch._id })) === null) throw new Unsettled("no majority has it");
      }
    });
    await finish(batch, since);
  }

  async function finishAbandoned(): Promise<void> {
    for (;;) {
      const since = clock.mono();
      const at = await now();
      const gone = { at: { $lt: at - GONE * deadlineMs } };
      const batch = await write(() => batches.findOneAndUpdate(gone, { $set: { at } }, { sort: { at: 1 } }));
      if (batch === null) return;
      await finish(batch, since);
    }
  }

  function look(): void {
    cancel = clock.after(LOOK * deadlineMs, () => {
      finishAbandoned()
        .catch((error) => isPassing(error) || onError(error))
        .finally(() => cancel !== null && look());
    });
  }

  return {
    async putRecords(given) {
      const tables = Map.groupBy(given, ({ table }) => table);
      const changes = [...tables].map(([table, records]) => {
        const put = records.map(({ id, body }) => foundDocument(table, id, body));
        // Of those with one id, the last.
        return { table, put: [...new Map(put.map((one) => [one._id, one])).values()], remove: [] };
      });
      await store(changes);
    },
    removeRecords: (table, ids) => store([{ table, put: [], remove: [...new Set(ids)] }]),
    async start() {
      await finishAbandoned();
      look();
    },
    stop() {
      cancel?.();
      cancel = null;
    },
  };
}
