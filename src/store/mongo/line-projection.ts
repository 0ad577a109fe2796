// Writes the projection of ledger lines, and adds to the sums of provider keys (key-costs.ts): with each save,
// before its snapshots, the lines of the commits that these snapshots cover and the stored ones do not. The node
// that saves an actor is the one that owns it, and it trails the actor's commits by two seconds. Lines are made a batch of commits
// at a time, from those that this node still has (recent-commits.ts).
//
//   commits stored -> lines of the commits up to the new snapshot stored -> the parts of usage that their
//   charges are of (usage-parts.ts) -> snapshot stored
//
// crash                          state found                          recovery
// before all lines are stored    some lines, commits that no          a replay from the old snapshot saves again;
//                                snapshot covers                      a line that is there already stays
//
// What the snapshots of an older version cover is the matter of line-backfill.ts.

import type { Collection } from "mongodb";
import { type LineRow, type LinesOfCommit, lineRows } from "../line-rows.ts";
import type { Snapshot } from "../store.ts";
import { parseLines, parseLinesOfCommit, StoredRow } from "../stored-rows.ts";
import { type CommitDocument, commitKey } from "./append.ts";
import type { Keyed, MongoConnection } from "./connection.ts";
import { duplicatesOf } from "./errors.ts";
import { MongoKeyCosts } from "./key-costs.ts";
import { type CommitRange, commitsOfRanges, LINES_OF_COMMIT, type RecentCommits } from "./recent-commits.ts";
import { MongoUsageParts } from "./usage-parts.ts";

/** A projected line. A field that has no value is absent. */
export interface LineDocument extends Keyed, Pick<LineRow, "seq" | "type" | "amount"> {
  readonly model?: string;
  readonly apiKey?: number;
  readonly tags?: readonly string[];
}

/** The key of a line. Keys of one actor sort as its lines do. */
export const lineKey = (actor: string, at: number, number: number): string =>
  `${actor}/${paddedWhole(at)}/${paddedWhole(number)}`;

/** A whole number as text that sorts as the number does. */
export const paddedWhole = (whole: number): string => String(whole).padStart(16, "0");

/** Commits that one query reads: a commit has a few lines, and hundreds when its actor is very busy. */
const COMMITS_MAX = 100;
/** Lines that one query inserts. */
const LINES_MAX = 500;
/** Actors whose projected place is remembered, which spares a read of their snapshots. */
const PLACES_MAX = 50_000;

type Place = Pick<Snapshot, "seq" | "linesTo">;

const START: Place = { seq: 0, linesTo: 0 };

/** Cuts ranges into parts of COMMITS_MAX commits, so that a query needs neither an order nor a limit. */
function* batches(ranges: readonly CommitRange[]): Generator<readonly CommitRange[]> {
  let batch: CommitRange[] = [];
  let room = COMMITS_MAX;
  for (const { actor, after, to } of ranges) {
    for (let from = after; from < to; ) {
      const end = Math.min(to, from + room);
      batch.push({ actor, after: from, to: end });
      room -= end - from;
      from = end;
      if (room > 0) continue;
      yield batch;
      [batch, room] = [[], COMMITS_MAX];
    }
  }
  if (batch.length > 0) yield batch;
}

/** The projection of a database, as far as this node writes it. */
export class MongoLineProjection {
  readonly #connection: MongoConnection;
  readonly #recent: RecentCommits;
  readonly #commits: Collection<CommitDocument>;
  readonly #lines: Collection<LineDocument>;
  readonly #parts: MongoUsageParts;
  readonly #keyCosts: MongoKeyCosts;
  /** Places up to which this node projected. Another node may have gone further since. */
  readonly #places = new Map<string, Place>();

  constructor(connection: MongoConnection, recent: RecentCommits) {
    this.#connection = connection;
    this.#recent = recent;
    this.#commits = connection.collection("commits");
    this.#lines = connection.collection("lines");
    this.#parts = new MongoUsageParts(connection);
    this.#keyCosts = new MongoKeyCosts(connection);
  }

  /** Projects all lines that these snapshots cover; an actor has one. Call it before they are stored. */
  async project(snapshots: readonly Snapshot[]): Promise<void> {
    const lined = snapshots.filter(({ linesTo }) => linesTo > 0);
    await this.#readPlaces(lined.map(({ actor }) => actor).filter((actor) => !this.#places.has(actor)));
    const ranges = lined.flatMap(({ actor, seq, linesTo }) => {
      const from = this.#places.get(actor) ?? START;
      return from.linesTo < linesTo ? [{ actor, after: from.seq, to: seq }] : [];
    });
    for (const some of batches(ranges)) {
      const commits = (await commitsOfRanges(this.#connection, this.#recent, some)).filter(
        ({ lines }) => lines > 0,
      );
      await this.#insert(commits);
      await this.#parts.add(commits);
      const byActor = Map.groupBy(commits, ({ actor }) => actor);
      await this.#keyCosts.count(
        some.map((range) => ({ ...range, commits: byActor.get(range.actor) ?? [] })),
      );
    }
    for (const snapshot of lined) this.#remember(snapshot.actor, snapshot);
  }

  /**
   * Projects the next commits after a key, in the order of their keys. Returns the key of the last one; null
   * when there are no more.
   */
  async projectNext(after: string): Promise<string | null> {
    const commits = await this.#connection.read(() =>
      this.#commits
        .find({ _id: { $gt: after }, lines: { $gt: 0 } })
        .sort({ _id: 1 })
        .limit(COMMITS_MAX)
        .project(LINES_OF_COMMIT)
        .map(parseLinesOfCommit)
        .toArray(),
    );
    await this.#insert(commits);
    const last = commits.at(-1);
    return last === undefined || commits.length < COMMITS_MAX ? null : commitKey(last.actor, last.seq);
  }

  async #insert(commits: readonly LinesOfCommit[]): Promise<void> {
    const documents = commits.flatMap((one) => lineRows(one).map(lineDocument));
    for (let i = 0; i < documents.length; i += LINES_MAX) {
      const some = documents.slice(i, i + LINES_MAX);
      // A line that is there already was made from the same commit.
      await this.#connection.write(() =>
        duplicatesOf(() => this.#lines.insertMany(some, { ordered: false })),
      );
    }
  }

  /** Reads up to which places earlier saves projected these actors. */
  async #readPlaces(actors: readonly string[]): Promise<void> {
    if (actors.length === 0) return;
    const { collection, read } = this.#connection;
    const stored = await read(() =>
      collection("snapshots")
        .find({ _id: { $in: [...actors] } })
        .project({ seq: 1, linesTo: 1 })
        .toArray(),
    );
    for (const one of stored) this.#remember(new StoredRow("snapshots", one).key(), parseLines(one));
  }

  /** Remembers a place, and forgets those of the actors that were saved longest ago. */
  #remember(actor: string, { seq, linesTo }: Place): void {
    this.#places.delete(actor);
    this.#places.set(actor, { seq, linesTo });
    for (const oldest of this.#places.keys()) {
      if (this.#places.size <= PLACES_MAX) break;
      this.#places.delete(oldest);
    }
  }
}

function lineDocument({ actor, at, number, seq, type, model, apiKey, tags, amount }: LineRow): LineDocument {
  return {
    _id: lineKey(actor, at, number),
    ...{ seq, type, amount },
    ...(model === null ? {} : { model: model.toWellFormed() }),
    ...(apiKey === null ? {} : { apiKey }),
    ...(tags.length === 0 ? {} : { tags: tags.map((tag) => tag.toWellFormed()) }),
  };
}
