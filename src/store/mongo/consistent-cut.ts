// A picture of the ledger that holds on any server, also on one that cannot read as of a moment: commits never change, so
// that a picture is the number of commits of each actor that are in it. Whole up to some minutes ago, since nothing is
// written there any more; of what is recent, so much of each actor as was there at a look.
//
// A look takes its time, so that a commit may be seen whose cause, another actor's earlier one, was not yet there where
// the look began. Actors answer for each other by marks, which both sides carry: as long as a commit within the picture
// shares one with another actor's beyond it, that one is taken in too. What is taken in may have causes of its own, so
// it is looked again, until a look finds nothing.

import type { CommitDocument } from "./append.ts";
import type { MongoConnection } from "./connection.ts";

export interface ConsistentCut {
  holds(commit: Pick<CommitDocument, "actor" | "seq" | "at">): boolean;
  /** How many are in it. */
  readonly commits: number;
}

export type RecentCommit = Pick<CommitDocument, "actor" | "seq" | "marks">;

/** No commit is stored so long after its time, by whatever clock. */
const RECENT_MS = 5 * 60_000;
/** What shares its marks with so much that comes in meanwhile is a client's own id of many requests, and no cause. */
const LOOKS_MOST = 20;

export async function takeConsistentCut({
  now,
  patient,
  patiently,
}: MongoConnection): Promise<ConsistentCut> {
  const commits = patient<CommitDocument>("commits");
  const since = (await now()) - RECENT_MS;
  // Led by the shard, of which each has one: the index that finds what is dirty serves this too.
  const ofAllShards = { shard: { $gte: 0 } };
  const look = () =>
    patiently(() =>
      commits
        .find({ ...ofAllShards, at: { $gte: since } })
        .project<RecentCommit>({ actor: 1, seq: 1, marks: 1, _id: 0 })
        .toArray(),
    );

  const until = new Map<string, number>();
  for (const { actor, seq } of await look()) until.set(actor, Math.max(seq, until.get(actor) ?? 0));
  let recent = await look();
  for (let looks = 1; includeCauses(until, recent) && looks < LOOKS_MOST; looks++) recent = await look();

  const settled = await patiently(() => commits.countDocuments({ ...ofAllShards, at: { $lt: since } }));
  const isWithin = ({ actor, seq }: RecentCommit) => seq <= (until.get(actor) ?? 0);
  return {
    holds: ({ actor, seq, at }) => at < since || isWithin({ actor, seq }),
    commits: settled + recent.filter(isWithin).length,
  };
}

/**
 * Raises `until`, the last seq of each actor within a picture, until no commit within shares a mark with one of another
 * actor beyond; answers whether it had to.
 */
export function includeCauses(until: Map<string, number>, recent: readonly RecentCommit[]): boolean {
  const isWithin = ({ actor, seq }: RecentCommit) => seq <= (until.get(actor) ?? 0);
  /** By mark: who holds it within; null: several. */
  const holders = new Map<string, string | null>();
  let fresh = recent.filter(isWithin);
  let beyond = recent.filter((commit) => !isWithin(commit));
  let raised = false;
  while (fresh.length > 0 && beyond.length > 0) {
    for (const { actor, marks = [] } of fresh) {
      for (const mark of marks)
        holders.set(mark, holders.has(mark) && holders.get(mark) !== actor ? null : actor);
    }
    for (const { actor, seq, marks = [] } of beyond) {
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
