// Appends commits: each is one document whose key is its place in the ledger, so that a second writer of a place is
// refused by the key itself, and a commit is stored whole or not at all.
//
// 1. All commits of a call go in one unordered insert: the fate of one is not its neighbours'.
// 2. A refused key says that somebody's commit stands there. Whose, only the stored nonce tells, read from a majority:
//    ours (an earlier attempt whose answer was lost) is committed, another's is lost.
// 3. Cut off, timed out, or without a majority: stored or not. The same commits are sent again until the deadline.
// 4. Only what is open at the deadline is unknown, and what the server calls wrong, which is not sent again.

import assert from "node:assert/strict";
import type { Appended, Commit, Store } from "../store.ts";
import type { Keyed, MongoConnection } from "./connection.ts";
import { isPassing, refusedOf, Unsettled } from "./errors.ts";

/** A commit as it is stored. Bodies are JSON, which keeps what BSON would not: names with dots and dollars, half emoji. */
export interface CommitDocument extends Keyed, Omit<Commit, "done" | "marks" | "events"> {
  readonly done: string;
  /** Absent: none. An index of those that have any stays small. */
  readonly marks?: readonly string[];
  readonly events: string;
}

/** The key of a commit: in the order of seq within an actor. */
export const commitKey = (actor: string, seq: number): string => `${actor}/${String(seq).padStart(16, "0")}`;

/** A server takes 16 MiB; an actor never comes near, but one that did must not stop its neighbours. */
const MOST_BYTES = 15 * 2 ** 20;

export function mongoAppend({ collection, write, onError }: MongoConnection): Store["append"] {
  const commits = collection<CommitDocument>("commits");

  /** Whose commits stand at these places, by key; a place is missing when nobody knows. */
  async function standingAt(documents: readonly CommitDocument[]): Promise<ReadonlyMap<string, string>> {
    const standing = new Map<string, string>();
    let open = documents.filter(fits);
    const attempt = async () => {
      const { taken, other } = await refusedOf(() => commits.insertMany([...open], { ordered: false }));
      for (const [i, { _id, by }] of open.entries()) {
        if (!taken.has(i) && !other.has(i)) standing.set(_id, by);
      }
      for (const error of other.values()) if (!isPassing(error)) onError(error);
      const keys = open.filter((_, i) => taken.has(i)).map(({ _id }) => _id);
      if (keys.length > 0) {
        const found = commits.find({ _id: { $in: keys } }).project<CommitDocument>({ by: 1 });
        for await (const { _id, by } of found) standing.set(_id, by);
      }
      open = open.filter(({ _id }, i) => !standing.has(_id) && (!other.has(i) || isPassing(other.get(i))));
      if (open.length > 0) throw new Unsettled("no majority has what stands there");
    };
    if (open.length === 0) return standing;
    try {
      await write(attempt);
    } catch (error) {
      onError(error);
    }
    return standing;
  }

  function fits({ _id, done, events }: CommitDocument): boolean {
    if (Buffer.byteLength(done) + Buffer.byteLength(events) < MOST_BYTES) return true;
    onError(new Error(`commit ${_id} is larger than a document may be`));
    return false;
  }

  return async (given) => {
    if (given.length === 0) return [];
    const documents = given.map(documentOf);
    // Of several writers of a place in one call, the first.
    const first = new Map(documents.toReversed().map((document) => [document._id, document]));
    const standing = await standingAt(documents.filter((document) => first.get(document._id) === document));
    return documents.map(({ _id, by }) => outcome(standing.get(_id), by));
  };
}

function outcome(standing: string | undefined, by: string): Appended {
  if (standing === undefined) return "unknown";
  return standing === by ? "committed" : "lost";
}

/** Made at once: what the caller changes later, and a body that is not plain data, concern nobody else. */
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

export const commitOf = ({ _id, marks = [], done, events, ...commit }: CommitDocument): Commit => ({
  ...commit,
  done: JSON.parse(done),
  marks,
  events: JSON.parse(events),
});
