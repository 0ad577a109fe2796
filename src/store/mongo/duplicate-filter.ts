// Finds the dedup ids that may occur more than once, by one scan of the ledger in a fixed amount of memory.
// Each dedup id sets the first bit of its slot, and the second bit if the first is set already. A dedup id
// that passes the filter may still occur only once, so the store is queried for it; one that does not pass
// certainly occurs once. It must never hold a list of dedup ids.

import { parseMarkedPlace, StoredRow } from "../stored-rows.ts";
import { type CommitDocument, MARKED_PLACE } from "./append.ts";
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
  const [seen, repeated] = [new BitSet(), new BitSet()];
  for (let after = ""; ; ) {
    const page = await read(() =>
      commits
        .find({ _id: { $gt: after } })
        .sort({ _id: 1 })
        .limit(PAGE)
        .project(MARKED_PLACE)
        .toArray(),
    );
    for (const { marks } of page.map(parseMarkedPlace)) {
      for (const mark of new Set(marks)) {
        const bit = bitOf(mark);
        (seen.has(bit) ? repeated : seen).add(bit);
      }
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return (mark) => repeated.has(bitOf(mark));
    after = new StoredRow("commits", last).key();
  }
}

const bitOf = (mark: string): number => Bun.hash.xxHash32(mark) >>> (32 - BITS);

class BitSet {
  readonly #bytes = new Uint8Array(2 ** (BITS - 3));

  has(bit: number): boolean {
    return (this.#bytes[bit >>> 3]! & (1 << (bit & 7))) !== 0;
  }

  add(bit: number): void {
    this.#bytes[bit >>> 3]! |= 1 << (bit & 7);
  }
}
