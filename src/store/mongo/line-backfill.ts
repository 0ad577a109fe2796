// Projects what a store had before it had a projection, of ledger lines or of sums of credit: all commits, or all
// accounts, in the order of their keys, in the background of one node, beside the saves, which project what comes
// later. It is due while `meta` has its row, which the migration makes.
//
// crash                     state found                           recovery
// of the node that does it  its place in `meta`, of a while ago   another node goes on from there; a line that
//                                                                 is there already stays

import type { Collection } from "mongodb";
import { StoredRow } from "../stored-rows.ts";
import type { Keyed, MongoConnection } from "./connection.ts";
import { isPassing } from "./errors.ts";

/** How far the backfill is; the row is removed when it has ended. */
export interface BackfillDocument extends Keyed {
  /** The key of the last commit, or account, that is projected. */
  readonly after: string;
  /** When a node last worked on it: the server's clock, wall-clock milliseconds. */
  readonly at: number;
}

/**
 * The key of a backfill in `meta`: of ledger lines, of sums of credit, or of fields of accounts. Version 4 adds a field of
 * accounts under a key of its own, because a node of version 3 may be far in the one of `accounts` already.
 */
export type BackfillKey = "lines" | "money" | "accounts" | "creditExpiry";

/** A backfill of a store that is not migrated yet: it is due from the beginning, for any node. */
export const wholeBackfill = (key: BackfillKey): BackfillDocument => ({ _id: key, after: "", at: 0 });

/** A backfill that is due; null when there is none. */
export async function findBackfill(
  { collection, read }: MongoConnection,
  key: BackfillKey = "lines",
): Promise<BackfillDocument | null> {
  const found = await read(() => collection<BackfillDocument>("meta").findOne({ _id: key }));
  if (found === null) return null;
  const row = new StoredRow("meta", found);
  return { _id: key, after: row.text("after"), at: row.number("at") };
}

/** Milliseconds between two batches, and between two looks whether another node has left it undone. */
const [BATCH_MS, LOOK_MS] = [100, 30_000];

/** What a backfill does: projects the next part after a key, and returns its last key; null when it is done. */
export type BackfillNext = (after: string) => Promise<string | null>;

/** A backfill of a database, as far as this node does it. */
export class Backfill {
  readonly #connection: MongoConnection;
  readonly #key: BackfillKey;
  readonly #projectNext: BackfillNext;
  readonly #meta: Collection<BackfillDocument>;
  #isStopped = false;
  /** Ends the pause that it makes; null while it makes none. */
  #endPause: (() => void) | null = null;
  #done: Promise<void> = Promise.resolve();

  constructor(connection: MongoConnection, key: BackfillKey, projectNext: BackfillNext) {
    this.#connection = connection;
    this.#key = key;
    this.#projectNext = projectNext;
    this.#meta = connection.collection("meta");
  }

  /** Starts it in the background if it is due. Its errors go to `onError`, unless they pass. */
  async start(): Promise<void> {
    if ((await findBackfill(this.#connection, this.#key)) !== null) this.#done = this.#work();
  }

  /** Ends it after the batch that it is at, and leaves the rest to any node. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#endPause?.();
    await this.#done;
  }

  async #work(): Promise<void> {
    const { onError } = this.#connection;
    for (;;) {
      const isDue = await this.#backfill().catch((error) => {
        if (!isPassing(error)) onError(error);
        return true;
      });
      if (!isDue || this.#isStopped) return;
      await this.#pause(LOOK_MS);
    }
  }

  async #pause(ms: number): Promise<void> {
    if (this.#isStopped) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#connection.clock.after(ms, resolve);
    this.#endPause = resolve;
    await promise;
    this.#endPause = null;
    cancel();
  }

  /** Goes on with it unless another node is at it. Returns whether it may still be due afterwards. */
  async #backfill(): Promise<boolean> {
    const { write, now } = this.#connection;
    const _id = this.#key;
    if (this.#isStopped || (await findBackfill(this.#connection, _id)) === null) return false;
    const at = await now();
    const left = { _id, at: { $lt: at - LOOK_MS } };
    const claimed = await write(() => this.#meta.findOneAndUpdate(left, { $set: { at } }));
    if (claimed === null) return true;
    for (let after: string | null = new StoredRow("meta", claimed).text("after"); ; ) {
      after = await this.#projectNext(after);
      if (after === null) {
        await write(() => this.#meta.deleteOne({ _id }));
        return false;
      }
      const progress = { after, at: this.#isStopped ? 0 : await now() };
      await write(() => this.#meta.updateOne({ _id }, { $set: progress }));
      if (this.#isStopped) return true;
      await this.#pause(BATCH_MS);
    }
  }
}
