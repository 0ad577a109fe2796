// A consistent cut of the ledger (Chandy and Lamport) that works on any server, also on one that cannot read
// as of a moment. Commits never change, so a cut is the number of commits of each actor that are in it. It
// includes every commit that is older than RECENT_MS, since no such commit can be added any more; of the
// recent commits it includes those of each actor that one scan saw.
//
// A scan takes time, so it may see a commit whose cause, an earlier commit of another actor, was stored after
// the scan had passed its place. Cause and effect carry the same dedup id. As long as a commit within the cut
// shares a dedup id with another actor's commit beyond it, that commit is included too. An included commit
// may have causes of its own, so scans are repeated until one includes nothing.

import { type CommitPlace, type MarkedPlace, parseMarkedPlace } from "../stored-rows.ts";
import { type CommitDocument, MARKED_PLACE } from "./append.ts";
import type { MongoConnection } from "./connection.ts";

/** The commits that an audit reads. */
export interface ConsistentCut {
  readonly includes: (commit: Pick<CommitDocument, "actor" | "seq" | "at">) => boolean;
  /** Number of commits in the cut. */
  readonly commits: number;
}

/** No commit is stored this long (ms) after its business time, by the clock of any node. */
export const RECENT_MS = 5 * 60_000;
/**
 * Scans at most. A dedup id that is shared with new commits after so many scans is a client's own id of many
 * requests, and not a cause.
 */
const SCANS_MAX = 20;

/** Takes a cut of the ledger as it is now. It reads for minutes on a large database. */
export async function takeConsistentCut({
  now,
  patient,
  patiently,
}: MongoConnection): Promise<ConsistentCut> {
  const commits = patient<CommitDocument>("commits");
  const since = (await now()) - RECENT_MS;
  // The filter names all shards, because the index that serves `actorsToRecover` begins with the shard.
  const ofAllShards = { shard: { $gte: 0 } };
  const scan = () =>
    patiently(() =>
      commits
        .find({ ...ofAllShards, at: { $gte: since } })
        .project(MARKED_PLACE)
        .map(parseMarkedPlace)
        .toArray(),
    );

  const until = new Map<string, number>();
  for (const { actor, seq } of await scan()) until.set(actor, Math.max(seq, until.get(actor) ?? 0));
  let recent = await scan();
  for (let scans = 1; includeCauses(until, recent) && scans < SCANS_MAX; scans++) recent = await scan();

  const settled = await patiently(() => commits.countDocuments({ ...ofAllShards, at: { $lt: since } }));
  const isWithin = ({ actor, seq }: CommitPlace) => seq <= (until.get(actor) ?? 0);
  return {
    includes: ({ actor, seq, at }) => at < since || isWithin({ actor, seq }),
    commits: settled + recent.filter(isWithin).length,
  };
}

/**
 * Raises `until`, the last seq of each actor within a cut, until no commit within shares a dedup id with
 * another actor's commit beyond. Returns whether it raised any.
 */
export function includeCauses(until: Map<string, number>, recent: readonly MarkedPlace[]): boolean {
  const isWithin = ({ actor, seq }: MarkedPlace) => seq <= (until.get(actor) ?? 0);
  /** By dedup id, the actor that carries it within the cut; null when several actors do. */
  const holders = new Map<string, string | null>();
  let fresh = recent.filter(isWithin);
  let beyond = recent.filter((commit) => !isWithin(commit));
  let raised = false;
  while (fresh.length > 0 && beyond.length > 0) {
    for (const { actor, marks } of fresh) {
      for (const mark of marks)
        holders.set(mark, holders.has(mark) && holders.get(mark) !== actor ? null : actor);
    }
    for (const { actor, seq, marks } of beyond) {
      if (seq <= (until.get(actor) ?? 0)) continue;
      if (!marks.some((mark) => holders.has(mark) && holders.get(mark) !== actor)) continue;
      until.set(actor, seq);
      raised = true;
    }
    fresh = beyond.filter(isWithin);
    beyond = beyond.filter((commit) => !isWithin(commit));
  }
  return raised;
}
