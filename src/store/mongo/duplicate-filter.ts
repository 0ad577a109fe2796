// Which marks may stand more than once, told by one reading of the ledger into a fixed piece of memory: each mark sets a
// bit that it shares with whatever others fall on it, and a second one if that is set already. Who is let through may
// stand once all the same, and is asked of the store; who is held back certainly does. Must never hold a list of marks.

import type { CommitDocument } from "./append.ts";
import type { MongoConnection } from "./connection.ts";

export type DuplicateFilter = (mark: string) => boolean;

/** Two times 16 MiB: of ten million marks about one in thirteen is let through for nothing. */
const BITS = 27;
/** Commits read at once. */
const PAGE = 10_000;

/** Reads all commits that there are by now. */
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
