// The writes of the store's contract, as what is handed to the queue: a body becomes text at once, so that what the caller
// changes later, and a body that is not plain data, concern nobody else.

import assert from "node:assert/strict";
import type { Store } from "../store.ts";
import { savedRows } from "./documents.ts";
import { recordRow } from "./records.ts";
import type { Op, Writes } from "./write-messages.ts";
import type { WriteQueue } from "./write-queue.ts";

export type Written = Pick<Store, "append" | Op>;

export function writesOf(queue: WriteQueue): Written {
  return {
    append: (commits) => queue.append(commits),
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

/** Counts the saves that may have changed which accounts a condition is met by. */
export const countingListed =
  (listed: { writes: number }) =>
  <O extends Op>(op: O, result: unknown): void => {
    if (op === "save" && (result as ReturnType<Writes["save"]>)) listed.writes++;
  };
