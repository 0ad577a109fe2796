// Finds the dedup ids that may occur more than once, by one scan of the ledger in a fixed amount of memory.
// Each dedup id sets the first bit of its slot, and the second bit if the first is set already. A dedup id
// that passes the filter may still occur only once, so the store is queried for it; one that does not pass
// certainly occurs once. It must never hold a list of dedup ids.

import type { CommitDocument } from "./append.ts";
import type { MongoConnection } from "./connection.ts";

/** Returns whether a dedup id may occur more than once. */
export type DuplicateFilter = (mark: string) => boolean;

/**
 * Two bit arrays of 16 MiB. Of ten million dedup ids about one in thirteen passes although it occurs once.
 */
const BITS = 27;
/** Commits per read. */
const PAGE = 10_000;

/** Builds the filter from all commits that are stored by now. */
export async function buildDuplicateFilter({
  collection,
  read,
}: Pick<MongoConnection, "collection" | "read">): Promise<DuplicateFilter> {
  const commits = collection<CommitDocument>("commits");
  const [met, again] = [bits(), bits()];
  for (let after = ""; ; ) {
    const page = await read(() =>
      commits
        .find({ _id: { $gt: after } })
        .sort({ _id: 1 })
        .limit(PAGE)
        .project<Pick<CommitDocument, "_id" | "marks">>({ marks: 1 })
        .toArray(),
    );
    for (const { marks = [] } of page) {
      for (const mark of new Set(marks)) {
        const bit = bitOf(mark);
        (met.has(bit) ? again : met).add(bit);
      }
    }
    if (page.length < PAGE) return (mark) => again.has(bitOf(mark));
    after = page.at(-1)!._id;
  }
}

const bitOf = (mark: string): number => Bun.hash.xxHash32(mark) >>> (32 - BITS);

function bits() {
  const bytes = new Uint8Array(2 ** (BITS - 3));
  return {
    has: (bit: number) => (bytes[bit >>> 3]! & (1 << (bit & 7))) !== 0,
    add(bit: number) {
      bytes[bit >>> 3]! |= 1 << (bit & 7);
    },
  };
}
