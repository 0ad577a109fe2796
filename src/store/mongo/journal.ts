// Reads of the ledger: an actor's commits by seq, by ledger line and by dedup id, and the list of actors. It
// never writes. A commit's key is its actor and seq, so the index that every append needs also serves the
// reads by seq.

import type { Filter } from "mongodb";
import { compareText } from "../indexed-fields.ts";
import type { Store } from "../store.ts";
import { parseCommit, parseLines, StoredRow } from "../stored-rows.ts";
import { type CommitDocument, commitKey } from "./append.ts";
import type { MongoConnection } from "./connection.ts";
import type { SnapshotDocument } from "./documents.ts";
import { startsWith } from "./query-builder.ts";

type Journal = Pick<
  Store,
  | "readCommits"
  | "actorsToRecover"
  | "hasDedupId"
  | "commitsByDedupId"
  | "readLines"
  | "lastCommit"
  | "listActors"
>;

/** Seqs probed by one query in the search for a line. */
const PROBES = 32;
/** Names per query. */
const NAMES = 1_000;

/** The ledger's reads on a connection. */
export function mongoJournal(connection: MongoConnection): Journal {
  const { collection, read } = connection;
  const commits = collection<CommitDocument>("commits");
  const snapshots = collection<SnapshotDocument>("snapshots");
  async function newest(actor: string) {
    const projection = { seq: 1, linesTo: 1 };
    const found = await read(() => commits.findOne(afterSeq(actor, 0), { sort: { _id: -1 }, projection }));
    return found === null ? null : parseLines(found);
  }

  return {
    async readCommits(actor, seq, limit) {
      if (limit <= 0) return [];
      const found = await read(() =>
        commits.find(afterSeq(actor, seq)).sort({ _id: 1 }).limit(limit).toArray(),
      );
      return found.map(parseCommit);
    },
    async actorsToRecover(shards, since) {
      const pending = await read(() =>
        snapshots
          .find({ pending: true, shard: { $in: [...shards] } })
          .project({ _id: 1 })
          .map((one) => new StoredRow("snapshots", one).key())
          .toArray(),
      );
      const found = new Set(pending);
      const newestOf = await activeActors(connection, shards, since);
      const names = [...newestOf.keys()];
      for (let i = 0; i < names.length; i += NAMES) {
        const some = names.slice(i, i + NAMES);
        const saved = await read(() =>
          snapshots
            .find({ _id: { $in: some } })
            .project({ seq: 1 })
            .map((one) => new StoredRow("snapshots", one))
            .toArray(),
        );
        const covered = new Map(saved.map((row) => [row.key(), row.integer("seq")]));
        for (const name of some) if (newestOf.get(name)! > (covered.get(name) ?? 0)) found.add(name);
      }
      return [...found].sort(compareText);
    },
    async hasDedupId(actor, mark) {
      return (await read(() => commits.findOne({ marks: mark, actor }, { projection: { _id: 1 } }))) !== null;
    },
    async commitsByDedupId(mark, limit) {
      if (limit <= 0) return [];
      const found = await read(() =>
        commits.find({ marks: mark }).sort({ at: -1, actor: 1, seq: -1 }).limit(limit).toArray(),
      );
      return found.map(parseCommit);
    },
    async readLines(actor, from, to) {
      const end = await newest(actor);
      if (end === null || to < from || end.linesTo < from) return [];
      const below = await seqBelowLine(connection, actor, from, end.seq);
      // Each of the commits holds at least one line.
      const most = Math.min(to, end.linesTo) - from + 1;
      const found = await read(() =>
        commits
          .find({ ...afterSeq(actor, below), lines: { $gt: 0 }, linesTo: { $gte: from } })
          .sort({ _id: 1 })
          .limit(most)
          .toArray(),
      );
      return found.filter(({ lines, linesTo }) => linesTo - lines < to).map(parseCommit);
    },
    lastCommit: newest,
    async listActors(prefix, behind, limit) {
      if (limit <= 0) return [];
      // The first commit of each actor represents the actor.
      const found = await read(() =>
        commits
          .find({ $and: [{ seq: 1 }, startsWith("actor", prefix), { actor: { $gt: behind } }] })
          .sort({ actor: 1 })
          .limit(limit)
          .project({ actor: 1 })
          .map((one) => new StoredRow("commits", one).text("actor"))
          .toArray(),
      );
      return found.sort(compareText);
    },
  };
}

/** The filter of an actor's commits after a seq. */
const afterSeq = (actor: string, seq: number): Filter<CommitDocument> => ({
  _id: { $gt: commitKey(actor, seq), $lte: commitKey(actor, Number.MAX_SAFE_INTEGER) },
  actor,
});

/**
 * Returns a seq that lies below the first commit up to which the actor has `line` lines, and near it. It
 * probes many seqs per query, because each query is a round trip; `linesTo` never decreases with seq.
 */
async function seqBelowLine(
  { collection, read }: MongoConnection,
  actor: string,
  line: number,
  lastSeq: number,
): Promise<number> {
  let [below, high] = [0, lastSeq];
  while (high - below > PROBES) {
    const step = (high - below) / PROBES;
    const seqs = Array.from({ length: PROBES - 1 }, (_, i) => below + Math.floor(step * (i + 1)));
    const keys = seqs.map((seq) => commitKey(actor, seq));
    const found = await read(() =>
      collection<CommitDocument>("commits")
        .find({ _id: { $in: keys } })
        .project({ seq: 1, linesTo: 1 })
        .map(parseLines)
        .toArray(),
    );
    // An empty result means a gap; the rest is then read without a better bound.
    if (found.length === 0) break;
    below = Math.max(below, ...found.filter(({ linesTo }) => linesTo < line).map(({ seq }) => seq));
    high = Math.min(high, ...found.filter(({ linesTo }) => linesTo >= line).map(({ seq }) => seq));
  }
  return below;
}

/** The actors that have commits since then, with the seq of their newest commit. */
async function activeActors(
  { patient, patiently }: MongoConnection,
  shards: readonly number[],
  since: number,
): Promise<ReadonlyMap<string, number>> {
  const groups = await patiently(() =>
    patient("commits")
      .aggregate([
        { $match: { shard: { $in: [...shards] }, at: { $gte: since } } },
        { $group: { _id: "$actor", seq: { $max: "$seq" } } },
      ])
      .map((one) => new StoredRow("commits", one))
      .toArray(),
  );
  return new Map(groups.map((row) => [row.key(), row.integer("seq")]));
}
