// Reads of the ledger: an actor's commits by seq, by ledger line and by dedup id, and the list of actors. It
// never writes. A commit's key is its actor and seq, so the index that every append needs also serves the
// reads by seq.

import type { Filter } from "mongodb";
import { compareText } from "../indexed-fields.ts";
import type { Store } from "../store.ts";
import { type CommitDocument, commitKey, commitOf } from "./append.ts";
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

type Lines = Pick<CommitDocument, "seq" | "linesTo">;

/** Seqs probed by one query in the search for a line. */
const PROBES = 32;
/** Names per query. */
const NAMES = 1_000;

/** The ledger's reads on a connection. */
export function mongoJournal({ collection, patient, patiently, read }: MongoConnection): Journal {
  const commits = collection<CommitDocument>("commits");
  const snapshots = collection<SnapshotDocument>("snapshots");
  const after = (actor: string, seq: number): Filter<CommitDocument> => ({
    _id: { $gt: commitKey(actor, seq), $lte: commitKey(actor, Number.MAX_SAFE_INTEGER) },
    actor,
  });
  const newest = (actor: string) =>
    read(() =>
      commits.findOne(after(actor, 0), { sort: { _id: -1 }, projection: { seq: 1, linesTo: 1, _id: 0 } }),
    );

  /**
   * Returns a seq that lies below the first commit up to which the actor has `line` lines, and near it. It
   * probes many seqs per query, because each query is a round trip; `linesTo` never decreases with seq.
   */
  async function belowLine(actor: string, line: number, end: Lines): Promise<number> {
    let [below, high] = [0, end.seq];
    while (high - below > PROBES) {
      const step = (high - below) / PROBES;
      const seqs = Array.from({ length: PROBES - 1 }, (_, i) => below + Math.floor(step * (i + 1)));
      const places = seqs.map((seq) => commitKey(actor, seq));
      const found = await read(() =>
        commits
          .find({ _id: { $in: places } })
          .project<Lines>({ seq: 1, linesTo: 1 })
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
  async function active(shards: readonly number[], since: number): Promise<ReadonlyMap<string, number>> {
    const groups = await patiently(() =>
      patient<CommitDocument>("commits")
        .aggregate<{ _id: string; seq: number }>([
          { $match: { shard: { $in: [...shards] }, at: { $gte: since } } },
          { $group: { _id: "$actor", seq: { $max: "$seq" } } },
        ])
        .toArray(),
    );
    return new Map(groups.map(({ _id, seq }) => [_id, seq]));
  }

  return {
    async readCommits(actor, seq, limit) {
      if (limit <= 0) return [];
      const found = await read(() => commits.find(after(actor, seq)).sort({ _id: 1 }).limit(limit).toArray());
      return found.map(commitOf);
    },
    async actorsToRecover(shards, since) {
      const pending = await read(() =>
        snapshots
          .find({ pending: true, shard: { $in: [...shards] } })
          .project<{ _id: string }>({ _id: 1 })
          .toArray(),
      );
      const found = new Set(pending.map(({ _id }) => _id));
      const newestOf = await active(shards, since);
      const names = [...newestOf.keys()];
      for (let i = 0; i < names.length; i += NAMES) {
        const some = names.slice(i, i + NAMES);
        const saved = await read(() =>
          snapshots
            .find({ _id: { $in: some } })
            .project<Pick<SnapshotDocument, "_id" | "seq">>({ seq: 1 })
            .toArray(),
        );
        const covered = new Map(saved.map(({ _id, seq }) => [_id, seq]));
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
      return found.map(commitOf);
    },
    async readLines(actor, from, to) {
      const end = await newest(actor);
      if (end === null || to < from || end.linesTo < from) return [];
      const below = await belowLine(actor, from, end);
      // Each of the commits holds at least one line.
      const most = Math.min(to, end.linesTo) - from + 1;
      const found = await read(() =>
        commits
          .find({ ...after(actor, below), lines: { $gt: 0 }, linesTo: { $gte: from } })
          .sort({ _id: 1 })
          .limit(most)
          .toArray(),
      );
      return found.filter(({ lines, linesTo }) => linesTo - lines < to).map(commitOf);
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
          .project<Pick<CommitDocument, "actor">>({ actor: 1, _id: 0 })
          .toArray(),
      );
      return found.map(({ actor }) => actor).sort(compareText);
    },
  };
}
