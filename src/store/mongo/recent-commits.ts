// The commits that this node has appended and no save has projected yet. What is derived of commits (lines, usage, credit) is made
// with the save that follows within two seconds: to read them back from the server cost the node several times what the append did.
// Their events are kept as they were given, which nobody changes once they are in a commit.
//
// bound                    outcome
// COMMITS_MAX, CHARS_MAX   the commits of the actor whose list was begun longest ago are forgotten, as are those of actors that
//                          have moved to another node; they are read from the server

import type { LinesOfCommit } from "../line-rows.ts";
import { parseLinesOfCommit } from "../stored-rows.ts";
import { type CommitDocument, commitKey } from "./append.ts";
import type { MongoConnection } from "./connection.ts";

const COMMITS_MAX = 65_536;
/** The total length of the events that are kept, as they are stored: as text. */
const CHARS_MAX = 64 * 2 ** 20;

/** Commits of one actor: those after one seq, up to another. */
export interface CommitRange {
  readonly actor: string;
  readonly after: number;
  readonly to: number;
}

/** What the lines of a commit are made of, and the length of its events as text. */
interface KeptCommit extends LinesOfCommit {
  readonly eventChars: number;
}

/** Adjacent commits of an actor, ascending. */
interface KeptCommits {
  /** The seq before the first of them. */
  after: number;
  readonly commits: KeptCommit[];
}

/** The commits of one connection. */
export class RecentCommits {
  /** The list that was begun longest ago is the first. */
  readonly #kept = new Map<string, KeptCommits>();
  #size = 0;
  #chars = 0;

  /** The number of commits. */
  get size(): number {
    return this.#size;
  }

  /** Keeps a commit that is stored, whose events are so long as text. Those of an actor come in order. */
  add({ actor, seq, linesTo, lines, events }: LinesOfCommit, eventChars: number): void {
    let kept = this.#kept.get(actor);
    if (kept !== undefined && kept.after + kept.commits.length + 1 !== seq) {
      this.#forget(actor, kept);
      kept = undefined;
    }
    if (kept === undefined) {
      kept = { after: seq - 1, commits: [] };
      this.#kept.set(actor, kept);
    }
    kept.commits.push({ actor, seq, linesTo, lines, events, eventChars });
    this.#size++;
    this.#chars += eventChars;
    for (const [oldest, list] of this.#kept) {
      if (this.#size <= COMMITS_MAX && this.#chars <= CHARS_MAX) break;
      this.#forget(oldest, list);
    }
  }

  /** The commits of a range, ascending; null when some of them are not kept. */
  within({ actor, after, to }: CommitRange): readonly LinesOfCommit[] | null {
    const kept = this.#kept.get(actor);
    if (kept === undefined || after < kept.after || to > kept.after + kept.commits.length) return null;
    return kept.commits.slice(after - kept.after, to - kept.after);
  }

  /** Forgets the commits of an actor up to a seq, because all that is derived of them is stored. */
  dropTo(actor: string, seq: number): void {
    const kept = this.#kept.get(actor);
    if (kept === undefined || seq <= kept.after) return;
    this.#forget(actor, kept);
    const rest = kept.commits.slice(seq - kept.after);
    for (const commit of rest) this.add(commit, commit.eventChars);
  }

  #forget(actor: string, { commits }: KeptCommits): void {
    this.#kept.delete(actor);
    this.#size -= commits.length;
    for (const { eventChars } of commits) this.#chars -= eventChars;
  }
}

/** The fields of a commit that its lines are made of. */
export const LINES_OF_COMMIT = { actor: 1, seq: 1, linesTo: 1, lines: 1, events: 1 } as const;

/**
 * Reads the commits of these ranges, from memory where they are kept and else with one query. Those of one range are ascending. No
 * commit is to be in two of the ranges, and all together are not to have more commits than one query may read.
 */
export async function commitsOfRanges(
  { collection, read }: MongoConnection,
  recent: RecentCommits,
  ranges: readonly CommitRange[],
): Promise<readonly LinesOfCommit[]> {
  const kept = ranges.map((range) => recent.within(range));
  const others = ranges.filter((_, i) => kept[i] === null);
  const here = kept.flatMap((commits) => commits ?? []);
  if (others.length === 0) return here;
  const keys = others.map(({ actor, after, to }) => ({
    _id: { $gt: commitKey(actor, after), $lte: commitKey(actor, to) },
  }));
  const stored = await read(() =>
    collection<CommitDocument>("commits")
      .find({ $or: keys })
      .sort({ _id: 1 })
      .project(LINES_OF_COMMIT)
      .map(parseLinesOfCommit)
      .toArray(),
  );
  return [...here, ...stored];
}
