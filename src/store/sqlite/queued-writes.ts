// The writes of the store's contract, as they are handed to the queue. A body becomes text at once, so that
// later changes by the caller have no effect, and a body that is not plain data fails for its caller alone.

import assert from "node:assert/strict";
import type { WritingMethods } from "../read-only.ts";
import type { ListChange } from "./counted-lists.ts";
import { savedRows } from "./documents.ts";
import { recordRow } from "./records.ts";
import type { Op, Writes } from "./write-messages.ts";
import type { WriteQueue } from "./write-queue.ts";

/** The writing methods of a store, over a queue. */
export function writesOf(queue: WriteQueue): WritingMethods {
  return {
    append: (commits) => queue.append(commits),
    // One transaction at a time: what is handed over later has everything that was decided until then.
    appendsAtOnce: 1,
    // A message to the thread that writes, a transaction and a sync of the disk cost more than the rows of a commit.
    appendDelayMs: 1,
    // A thread of the process stores them, and the next process opens the database after it has ended (`lockDatabase`).
    appendsOutliveSender: false,
    followsSnapshots: false,
    async save(saves) {
      const rows = savedRows(saves);
      if (rows.length > 0) await queue.write("save", rows);
    },
    async putRecords(records) {
      if (records.length > 0) await queue.write("putRecords", records.map(recordRow));
    },
    async removeRecords(table, ids) {
      if (ids.length > 0) await queue.write("removeRecords", table, [...ids]);
    },
    claim: (key, account, by, at) => queue.write("claim", key, account, by, at),
    confirm: (key, by) => queue.write("confirm", key, by),
    release: (key, by) => queue.write("release", key, by),
    async reserveIds(counter, size) {
      assert(Number.isSafeInteger(size) && size > 0, `a block of ${size} numbers`);
      return queue.write("reserveIds", counter, size);
    },
    cas: (key, rev, value) => queue.write("cas", key, rev, value),
    keepAnswer: (answer, most) => queue.write("keepAnswer", { ...answer }, most),
    dropAnswers: (until, limit) => queue.write("dropAnswers", until, limit),
  };
}

/** Returns a listener that tells lists which of their rows a write may have changed. */
export const listChanges =
  (lists: { changed(change: ListChange): void }) =>
  <O extends Op>(op: O, result: unknown): void => {
    if (LISTED.has(op)) lists.changed(result as ReturnType<Writes["save" | "putRecords" | "removeRecords"]>);
  };

const LISTED: ReadonlySet<Op> = new Set(["save", "putRecords", "removeRecords"]);
