// Appends commits: each is one document whose key is its place in the ledger, so that the key itself refuses
// a second writer of a place, and a commit is stored as a whole or not at all.
//
// 1. All commits of a call go in one unordered insert: the outcome of one does not depend on the others.
// 2. A duplicate key means that a commit is stored at this place. Only its stored nonce, read from a
//    majority, tells whose: ours (an earlier attempt whose answer was lost) is committed, another's is lost.
// 3. After a lost connection, a timeout or a missing majority a commit may be stored or not. The same commits
//    are sent again until the deadline.
// 4. Unknown are only the commits that are open at the deadline, and those that the server refuses as
//    invalid, which are not sent again.

import assert from "node:assert/strict";
import type { Appended, Commit, Store } from "../store.ts";
import { StoredRow } from "../stored-rows.ts";
import type { Keyed, MongoConnection } from "./connection.ts";
import { bulkFailures, isPassing, UnsettledError } from "./errors.ts";

/**
 * A commit as it is stored. Bodies are JSON, which keeps what BSON would change: names with dots and dollars,
 * lone surrogates.
 */
export interface CommitDocument extends Keyed, Omit<Commit, "done" | "marks" | "events"> {
  readonly done: string;
  /**
   * Absent when the commit has none, so that the index, which covers only commits with dedup ids, stays
   * small.
   */
  readonly marks?: readonly string[];
  readonly events: string;
}

/** The projection that `parseMarkedPlace` reads: a commit without its replies and events. */
export const MARKED_PLACE = { actor: 1, seq: 1, at: 1, marks: 1 } as const;

/** The key of a commit. Keys of one actor sort by seq. */
export const commitKey = (actor: string, seq: number): string => `${actor}/${String(seq).padStart(16, "0")}`;

/**
 * A server accepts documents of up to 16 MiB. An actor never comes near, but if one did, its commit must not
 * fail the others.
 */
const BYTES_MAX = 15 * 2 ** 20;

/**
 * `Store.append` on a connection. Every reason for an "unknown" goes to `onError`. `onStored` is called with each commit that is
 * stored and with the length of its events as text.
 */
export function mongoAppend(
  { collection, write, onError }: MongoConnection,
  onStored: (commit: Commit, eventChars: number) => void = () => {},
): Store["append"] {
  const commits = collection<CommitDocument>("commits");

  /**
   * Inserts the commits and returns the nonces that are stored at their keys. A key is missing when its
   * outcome is unknown.
   */
  async function storedWriters(documents: readonly CommitDocument[]): Promise<ReadonlyMap<string, string>> {
    const stored = new Map<string, string>();
    let open = documents.filter(fits);
    const attempt = async () => {
      const { duplicates, other } = await bulkFailures(() =>
        commits.insertMany([...open], { ordered: false }),
      );
      for (const [i, { _id, by }] of open.entries()) {
        if (!duplicates.has(i) && !other.has(i)) stored.set(_id, by);
      }
      for (const error of other.values()) if (!isPassing(error)) onError(error);
      const keys = open.filter((_, i) => duplicates.has(i)).map(({ _id }) => _id);
      if (keys.length > 0) {
        for await (const one of commits.find({ _id: { $in: keys } }).project({ by: 1 })) {
          const row = new StoredRow("commits", one);
          stored.set(row.key(), row.text("by"));
        }
      }
      open = open.filter(({ _id }, i) => !stored.has(_id) && (!other.has(i) || isPassing(other.get(i))));
      if (open.length > 0) throw new UnsettledError("no majority has the stored commit");
    };
    if (open.length === 0) return stored;
    try {
      await write(attempt);
    } catch (error) {
      onError(error);
    }
    return stored;
  }

  function fits({ _id, done, events }: CommitDocument): boolean {
    if (Buffer.byteLength(done) + Buffer.byteLength(events) < BYTES_MAX) return true;
    onError(new Error(`commit ${_id} is larger than a document may be`));
    return false;
  }

  return async (given) => {
    if (given.length === 0) return [];
    const documents = given.map(documentOf);
    // When one call has several commits for a place, only the first is inserted.
    const first = new Map(documents.toReversed().map((document) => [document._id, document]));
    const stored = await storedWriters(documents.filter((document) => first.get(document._id) === document));
    return documents.map(({ _id, by, events }, i) => {
      const appended = outcome(stored.get(_id), by);
      if (appended === "committed") onStored(given[i]!, events.length);
      return appended;
    });
  };
}

function outcome(stored: string | undefined, by: string): Appended {
  if (stored === undefined) return "unknown";
  return stored === by ? "committed" : "lost";
}

/** Makes the document at once, so that a body that is not plain data fails for its caller alone. */
function documentOf(c: Commit): CommitDocument {
  const [actor, by] = [c.actor.toWellFormed(), c.by.toWellFormed()];
  const whole = [c.seq, c.shard, c.epoch, c.at, c.v, c.linesTo, c.lines];
  assert(whole.every(Number.isSafeInteger), `commit ${actor}/${c.seq} holds what is no whole number`);
  return {
    _id: commitKey(actor, c.seq),
    actor,
    seq: c.seq,
    shard: c.shard,
    epoch: c.epoch,
    by,
    at: c.at,
    v: c.v,
    linesTo: c.linesTo,
    lines: c.lines,
    ...(c.marks.length === 0 ? {} : { marks: c.marks.map((mark) => mark.toWellFormed()) }),
    done: JSON.stringify(c.done),
    events: JSON.stringify(c.events),
  };
}
