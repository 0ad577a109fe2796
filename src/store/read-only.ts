// The writing methods of a store that was opened for reading. They refuse before anything is sent.

import type { Store } from "./store.ts";

/** The methods of a store that write, and what belongs to them. */
export type WritingMethods = Pick<
  Store,
  | "append"
  | "appendsAtOnce"
  | "appendDelayMs"
  | "appendsOutliveSender"
  | "save"
  | "followsSnapshots"
  | "putRecords"
  | "removeRecords"
  | "claim"
  | "confirm"
  | "release"
  | "reserveIds"
  | "cas"
  | "keepAnswer"
  | "dropAnswers"
>;

async function refuse(): Promise<never> {
  throw new Error("this store was opened for reading");
}

/** Every call rejects. */
export const REFUSED_WRITES: WritingMethods = {
  append: refuse,
  appendsAtOnce: 1,
  appendDelayMs: 0,
  appendsOutliveSender: false,
  save: refuse,
  followsSnapshots: false,
  putRecords: refuse,
  removeRecords: refuse,
  claim: refuse,
  confirm: refuse,
  release: refuse,
  reserveIds: refuse,
  cas: refuse,
  keepAnswer: refuse,
  dropAnswers: refuse,
};
